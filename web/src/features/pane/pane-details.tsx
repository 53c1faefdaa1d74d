/** Everything about a pane that has no place elsewhere. */
import type { ReactNode } from "react";
import type { PaneInfo } from "../../api/generated";
import { bytes, moment } from "../../lib/format";
import { Sheet } from "../../ui";
import styles from "./pane-head.module.css";

export function PaneDetails({ pane, onClose }: { pane: PaneInfo; onClose: () => void }) {
  return (
    <Sheet open onClose={onClose} title={pane.id}>
      <dl className={styles.details}>
        {factsOf(pane).map(([name, value]) => (
          <div key={name} className={styles.detail}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

function factsOf(pane: PaneInfo): [string, ReactNode][] {
  const facts: [string, ReactNode][] = [
    ["Title", pane.title],
    ["Command", <code key="command">{pane.argv.join(" ")}</code>],
    ["Folder", <code key="folder">{pane.cwd}</code>],
    ["Process", pane.pid ?? "none"],
    ["Status", statusOf(pane)],
    ["Started", moment(pane.createdAt)],
  ];
  if (pane.endedAt) facts.push(["Ended", moment(pane.endedAt)]);
  facts.push(["Output", `${pane.lines.toLocaleString()} lines, ${bytes(pane.bytes)}`]);
  if (pane.dropped > 0) facts.push(["No longer kept", bytes(pane.dropped)]);
  facts.push(["Size", `${pane.size.cols}×${pane.size.rows}`]);
  if (pane.sizeHeldBy) facts.push(["Size held by", pane.sizeHeldBy]);
  if (pane.tags.length > 0) facts.push(["Tags", pane.tags.join(", ")]);
  if (pane.view?.session) facts.push(["Session", pane.view.session]);
  if (pane.parent) facts.push(["Started from", pane.parent]);
  if (pane.restart) facts.push(["Restarts", `${pane.restart.count} (${pane.restart.policy})`]);
  if (pane.damage) facts.push(["Damage", pane.damage]);
  facts.push(["Record", pane.guarantee === "exact" ? "exact" : "best effort"]);
  return facts;
}

function statusOf({ status, exitCode, exitSignal, timedOut }: PaneInfo): string {
  const parts: string[] = [status];
  if (typeof exitCode === "number") parts.push(`exit code ${exitCode}`);
  if (exitSignal) parts.push(exitSignal);
  if (timedOut) parts.push("timed out");
  return parts.join(", ");
}
