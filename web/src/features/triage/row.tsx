/** One pane of the list. */
import { memo, type ReactNode } from "react";
import { age } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { panePath } from "../../lib/route";
import type { TriageRow } from "../../state/needs";
import { cx, StateIcon } from "../../ui";
import { questionOf, type RowItem } from "./items";
import styles from "./triage.module.css";

export interface RowProps {
  item: RowItem;
  isSelected: boolean;
  /** Whether Tab leads to this row. */
  isTabStop: boolean;
  renderAnswers: (row: TriageRow) => ReactNode;
}

export const Row = memo(function Row({ item, isSelected, isTabStop, renderAnswers }: RowProps) {
  const { row, question, isGone } = item;
  const { pane, state, mark } = row;
  return (
    <div
      className={cx(styles.row, isSelected && styles.selected, isGone && styles.gone)}
      data-need={row.need}
    >
      <a
        className={styles.link}
        href={`#${panePath(pane.id)}`}
        data-row={pane.id}
        tabIndex={isTabStop ? 0 : -1}
        aria-current={isSelected || undefined}
        title={pane.id}
      >
        <span className={styles.line}>
          <StateIcon shape={state.kind} unread={mark !== null} />
          <span className={cx(styles.name, mark && styles.unread)}>{pane.id}</span>
          {mark && <span className={styles.dot} />}
          {mark && <span className="sr-only">unread</span>}
          <Facts row={row} isGone={isGone} />
        </span>
        <SecondLine row={row} />
        {question > 0 && (
          <span className={cx(styles.question, question === 1 && styles.oneLine)}>
            {questionOf(row)}
          </span>
        )}
      </a>
      {question > 0 && !isGone && <div className={styles.answers}>{renderAnswers(row)}</div>}
    </div>
  );
});

function Facts({ row, isGone }: { row: TriageRow; isGone: boolean }) {
  const { state, pane } = row;
  const context = pane.agent?.contextPercent;
  if (isGone) return <span className={styles.facts}>removed</span>;
  return (
    <span className={styles.facts}>
      {typeof context === "number" && <span title="Context used">{context}%</span>}
      <span className={styles.word} data-state={state.kind}>
        {state.word}
      </span>
      <Age since={row.since} />
    </span>
  );
}

function Age({ since }: { since: string }) {
  return <span className={styles.age}>{age(since, useNow())}</span>;
}

/** What it printed last; otherwise what it runs. */
function SecondLine({ row }: { row: TriageRow }) {
  const { pane, state } = row;
  if (row.need === "needs-you") return null;
  const last = pane.lastLine?.trim();
  if (last && state.kind !== "starting") {
    return <span className={cx(styles.second, styles.output)}>{last}</span>;
  }
  const command = pane.argv.map((word) => word.split("/").at(-1)).join(" ");
  const title = pane.title && pane.title !== pane.id ? pane.title : command;
  return <span className={styles.second}>{title}</span>;
}
