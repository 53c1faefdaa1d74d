/** A text with its matches highlighted. */
import type { Segment } from "../lib/matches";
import styles from "./small.module.css";

export function Marked({ segments }: { segments: readonly Segment[] }) {
  let at = 0;
  return segments.map((segment) => {
    const key = at;
    at += segment.text.length;
    if (!segment.isHit) return <span key={key}>{segment.text}</span>;
    return (
      <mark key={key} className={styles.match}>
        {segment.text}
      </mark>
    );
  });
}
