/** The answers of a question, as buttons in a row of the list. */
import { navigate, panePath } from "../../lib/route";
import type { TriageRow } from "../../state/needs";
import { useApp } from "../../state/store";
import { Button } from "../../ui";
import { useAnswers } from "./answer-store";
import styles from "./approve.module.css";
import { Choices } from "./choices";
import { questionsOf } from "./question";

const MOST = 3;

/** The first options of what a row asks; nothing for rows that ask nothing. */
export function AnswerButtons({ row }: { row: TriageRow }) {
  const approvals = useApp((state) => state.approvals);
  const questions = questionsOf(row.pane, approvals);
  const [question] = questions;
  const step = useAnswers((state) => (question && state.steps.get(question.key)) ?? null);
  const note = useAnswers((state) => state.notes.get(row.pane.id) ?? null);
  if (!question) return null;
  const { id } = row.pane;
  const open = (
    <Button size="small" tone="quiet" onClick={() => navigate(panePath(id))}>
      Open
    </Button>
  );
  const problem = step?.at === "failed" ? step.error : step?.at === "no-effect" && "No effect";
  const choices = question.choices.slice(0, MOST);
  const isCut = question.choices.length > MOST || questions.length > 1;
  return (
    <div className={styles.row}>
      {(problem || note?.tone === "changed") && (
        <p className={styles.rowNote} role="status">
          {problem || `${note?.text} This is the present one.`}
        </p>
      )}
      <div className={styles.rowChoices}>
        {choices.length > 0 && (
          <Choices key={question.key} question={question} look="row" choices={choices} />
        )}
        {(isCut || problem || choices.length === 0) && open}
      </div>
    </div>
  );
}
