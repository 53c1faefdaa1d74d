/** The whole text of a question in its own scroller; changes of files are tinted. */
import { useMemo } from "react";
import styles from "./approve.module.css";
import { linesOf } from "./question";

export function QuestionText({ text, label }: { text: string; label: string }) {
  const lines = useMemo(() => linesOf(text), [text]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroller has to be reached by keyboard
    <section className={styles.text} aria-label={label} tabIndex={0}>
      {lines.map((line, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text, which never changes
        <div key={index} className={styles.textLine} data-change={line.change ?? undefined}>
          {line.text || "\u00a0"}
        </div>
      ))}
    </section>
  );
}
