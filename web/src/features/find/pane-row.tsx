/** The head of a pane's hits: state, name, title, and how many. */
import { Link } from "wouter";
import { count, folder } from "../../lib/format";
import { panePath } from "../../lib/route";
import { displayState } from "../../state/display";
import { usePane } from "../../state/store";
import { StateIcon } from "../../ui";
import styles from "./find.module.css";
import type { HitGroup } from "./results";

export function PaneRow({ group }: { group: HitGroup }) {
  const pane = usePane(group.paneId);
  const state = pane && displayState(pane);
  return (
    <h2 className={styles.pane}>
      {state && <StateIcon shape={state.kind} />}
      <Link href={panePath(group.paneId)} className={styles.paneName}>
        {group.paneId}
      </Link>
      {state && <span className={styles.paneState}>{state.word}</span>}
      {pane && (
        <span className={styles.paneTitle}>
          {pane.title === pane.id ? folder(pane.cwd) : pane.title}
        </span>
      )}
      <span className={styles.paneCount}>{count(group.hits.length, "hit")}</span>
    </h2>
  );
}
