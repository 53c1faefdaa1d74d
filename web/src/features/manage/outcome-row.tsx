/** One pane of a batch: what runs in it, or how it ended and what is left. */
import type { PaneInfo } from "../../api/generated";
import { age, folder } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { displayState } from "../../state/display";
import { StateBadge } from "../../ui";
import type { Outcome, Verb } from "./batch";
import styles from "./manage.module.css";

export interface OutcomeRowProps {
  pane: PaneInfo;
  verb: Verb;
  outcome: Outcome | null;
}

export function OutcomeRow({ pane, verb, outcome }: OutcomeRowProps) {
  const state = displayState(pane);
  const survivors = outcome?.at === "done" ? outcome.survivors : [];
  return (
    <li className={styles.outcome}>
      <div className={styles.outcomeHead}>
        <strong className={styles.name}>{pane.id}</strong>
        {outcome ? (
          <Result outcome={outcome} />
        ) : (
          <StateBadge shape={state.kind} word={state.word} />
        )}
      </div>
      <Process pane={pane} />
      {!outcome && verb !== "remove" && <Warning pane={pane} />}
      {survivors.length > 0 && (
        <ul className={styles.survivors} aria-label="Processes that still run">
          {survivors.map(({ pid, command }) => (
            <li key={pid}>
              <code>{command}</code> {pid}
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function Process({ pane }: { pane: PaneInfo }) {
  const now = useNow();
  const isAlive = pane.status === "running";
  return (
    <p className={styles.process}>
      <code>{pane.argv.join(" ")}</code>
      <span>
        {isAlive && pane.pid ? `process ${pane.pid} in ` : "in "}
        {folder(pane.cwd)}, started {age(pane.createdAt, now)} ago
      </span>
    </p>
  );
}

/** What would be lost. */
function Warning({ pane }: { pane: PaneInfo }) {
  const queued = pane.agent?.queued ?? 0;
  const facts = [
    pane.agent?.state === "busy" && "It is working.",
    queued > 0 && `${queued} ${queued === 1 ? "prompt waits" : "prompts wait"} in its queue.`,
    pane.persist && "It is excluded from automatic clean-up.",
  ].filter(Boolean);
  return facts.length > 0 ? <p className={styles.warning}>{facts.join(" ")}</p> : null;
}

function Result({ outcome }: { outcome: Outcome }) {
  if (outcome.at === "waiting") return <span className={styles.meta}>waiting</span>;
  if (outcome.at === "running") return <span className={styles.meta}>…</span>;
  const isBad = outcome.at === "failed" || outcome.survivors.length > 0;
  return <span className={isBad ? styles.bad : styles.good}>{outcome.text}</span>;
}
