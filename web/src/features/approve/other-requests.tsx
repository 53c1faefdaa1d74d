/** Requests of tokens and extensions: no row of the list stands for them. */
import { useState } from "react";
import { useApp } from "../../state/store";
import { Button, Dialog, StateIcon } from "../../ui";
import { useAnswers } from "./answer-store";
import styles from "./approve.module.css";
import { NoteLine } from "./note-line";
import { withoutPane } from "./question";
import { QuestionSheet } from "./question-sheet";

export function OtherRequests() {
  const approvals = useApp((state) => state.approvals);
  const panes = useApp((state) => state.panes);
  const note = useAnswers((state) => state.notes.get("") ?? null);
  const [isOpen, setOpen] = useState(false);
  const questions = withoutPane(approvals, panes);
  const [question] = questions;
  if (!question && !(isOpen && note)) return null;
  const count = questions.length === 1 ? "1 request" : `${questions.length} requests`;
  return (
    <div className={styles.others}>
      <StateIcon shape="needs" />
      <span className={styles.othersText}>
        {question ? `${count} without a pane: ${question.text}` : note?.text}
      </span>
      {question && (
        <Button size="small" onClick={() => setOpen(true)}>
          Show
        </Button>
      )}
      <Dialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title="Request without a pane"
        width={640}
      >
        {note && <NoteLine note={note} hasNext={question !== undefined} />}
        {question && (
          <QuestionSheet
            key={question.key}
            question={question}
            pane={null}
            more={questions.length - 1}
          />
        )}
      </Dialog>
    </div>
  );
}
