/** The last answer of an agent, below its screen. Read again when a turn has ended. */

import { usePane } from "../../state/store";
import { useAnswer } from "../../state/use-answer";
import { CopyButton, prose } from "../../ui";
import styles from "./grid.module.css";

export function LastAnswer({ id }: { id: string }) {
  const pane = usePane(id);
  if (!pane?.agent) return <p className={styles.noAnswer}>No agent runs here.</p>;
  // A turn that ends changes the state and its time.
  return <Answer key={`${pane.instance} ${pane.agent.state} ${pane.agent.since}`} id={id} />;
}

function Answer({ id }: { id: string }) {
  const { answer, error, isLoading } = useAnswer("agent:last", { paneId: id });
  if (answer) {
    return (
      <section className={styles.answer} aria-label={`Last answer of ${id}`}>
        <div className={styles.answerHead}>
          <span>Last answer{answer.truncated ? ", cut" : ""}</span>
          <span className={styles.source}>from its {answer.source}</span>
          <CopyButton text={answer.text} tone="quiet">
            Copy
          </CopyButton>
        </div>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
        <pre className={styles.answerText} tabIndex={0}>
          {answer.text}
        </pre>
      </section>
    );
  }
  return <p className={styles.noAnswer}>{isLoading ? "" : prose(error ?? "No answer yet.")}</p>;
}
