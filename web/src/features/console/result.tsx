/** The answer or the refusal of the last run. */
import { useMemo } from "react";
import { bytes } from "../../lib/format";
import { Chip, CopyButton, JsonView } from "../../ui";
import styles from "./console.module.css";
import type { Run } from "./runs";

export function Result({ run }: { run: Run | null }) {
  const text = useMemo(
    () => (run?.state === "answered" ? JSON.stringify(run.answer, null, 2) : ""),
    [run],
  );
  if (!run || run.state === "running") return null;
  if (run.state === "refused") {
    const { code, message, details } = run.error;
    return (
      <section className={styles.result} aria-label="Refusal" aria-live="polite">
        <div className={styles.resultHead}>
          <span className={styles.refused}>Refused</span>
          <Chip>{code}</Chip>
          <span className={styles.took}>{run.tookMs} ms</span>
        </div>
        <p className={styles.sentence}>{message}</p>
        {details !== undefined && <JsonView value={details} />}
      </section>
    );
  }
  return (
    <section className={styles.result} aria-label="Answer" aria-live="polite">
      <div className={styles.resultHead}>
        <span className={styles.answered}>Answer</span>
        <span className={styles.took}>
          {run.tookMs} ms · {bytes(text.length)}
        </span>
        <span className={styles.spring} />
        <CopyButton text={text} tone="quiet">
          JSON
        </CopyButton>
      </div>
      <JsonView value={run.answer} />
    </section>
  );
}
