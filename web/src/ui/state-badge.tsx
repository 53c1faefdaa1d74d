/** A state as shape, word and colour. */
import { cx } from "./class-names";
import styles from "./state.module.css";
import { StateIcon, type StateShape } from "./state-icon";

export interface StateBadgeProps {
  shape: StateShape;
  word: string;
  unread?: boolean;
  /** `tint` has a background; `plain` is for rows. */
  look?: "tint" | "plain";
}

export function StateBadge({ shape, word, unread, look = "tint" }: StateBadgeProps) {
  return (
    <span className={cx(styles.badge, styles[look])} data-state={shape}>
      <StateIcon shape={shape} unread={unread ?? false} />
      <span>{word}</span>
    </span>
  );
}
