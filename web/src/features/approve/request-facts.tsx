/** Who asks for what, and how long it can be answered: the facts of a held request. */
import type { ApprovalInfo } from "../../api/generated";
import { moment, span } from "../../lib/format";
import styles from "./approve.module.css";

export function RequestFacts({ approval, now }: { approval: ApprovalInfo; now: number }) {
  const { caller, action, rule, covers, expiresAt, waiting, details } = approval;
  const left = expiresAt ? Date.parse(expiresAt) - now : null;
  return (
    <dl className={styles.facts}>
      <Fact name="Asked by">{caller}</Fact>
      {action && <Fact name="Action">{action}</Fact>}
      {rule && <Fact name="Rule">{rule}</Fact>}
      {entriesOf(details).map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
      {covers && <Fact name="Always covers">{covers}</Fact>}
      {left !== null && expiresAt && (
        <Fact name="Expires" title={moment(expiresAt)}>
          {left > 0 ? `in ${span(left)}, then it is denied` : "now"}
        </Fact>
      )}
      {!waiting && (
        <Fact name="Caller">no longer waits; it gets the answer when it asks again</Fact>
      )}
    </dl>
  );
}

function Fact({ name, title, children }: { name: string; title?: string; children: string }) {
  return (
    <div className={styles.fact} title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The parameters of the request; what is not a text is shown as JSON. */
export function entriesOf(details: unknown): [string, string][] {
  if (details === null || details === undefined) return [];
  if (typeof details !== "object" || Array.isArray(details)) return [["Details", textOf(details)]];
  const { params, ...rest } = details as Record<string, unknown>;
  const named = typeof params === "object" && params !== null ? { ...params, ...rest } : details;
  return Object.entries(named).map(([name, value]) => [name, textOf(value)]);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
