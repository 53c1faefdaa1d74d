/** One line with its number. */
import { memo, useMemo } from "react";
import type { OutputLine, PaneSearchHit } from "../../api/generated";
import { type LinePattern, literalMatches } from "../../lib/line-pattern";
import { segments } from "../../lib/matches";
import { cx, Marked } from "../../ui";
import styles from "./history.module.css";

export interface LineRowProps {
  n: number;
  line: OutputLine | null;
  isDropped: boolean;
  isTarget: boolean;
  hit: PaneSearchHit | null;
  /** Marks the text where the search was cut and has no answer for this line. */
  pattern: LinePattern | null;
}

export const LineRow = memo(function LineRow(props: LineRowProps) {
  const { n, line, isDropped, isTarget, hit, pattern } = props;
  const text = line?.text ?? "";
  const parts = useMemo(() => {
    const matches = hit?.matches ?? (pattern && literalMatches(text, pattern));
    return matches && matches.length > 0 ? segments(text, matches) : null;
  }, [text, hit, pattern]);
  return (
    <div
      className={cx(styles.line, isTarget && styles.target)}
      data-n={n.toLocaleString("en-US")}
      aria-current={isTarget ? "location" : undefined}
    >
      <span className={styles.text}>
        {isDropped && !line ? <i className={styles.note}>no longer kept</i> : null}
        {line?.truncatedStart && <i className={styles.note}>… </i>}
        {parts ? <Marked segments={parts} /> : text}
        {line?.cut && <i className={styles.note}> … cut at 2,000 characters</i>}
      </span>
    </div>
  );
});
