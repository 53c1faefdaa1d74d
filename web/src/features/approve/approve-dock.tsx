/** The question of an agent, docked over the lower end of its terminal. It moves nothing. */
import { useEffect, useRef, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useApp } from "../../state/store";
import { useAnswers } from "./answer-store";
import styles from "./approve.module.css";
import { CollapsedQuestion } from "./collapsed-question";
import { NoteLine } from "./note-line";
import { questionsOf } from "./question";
import { QuestionSheet } from "./question-sheet";

export function ApproveDock({ pane }: { pane: PaneInfo }) {
  const approvals = useApp((state) => state.approvals);
  const note = useAnswers((state) => state.notes.get(pane.id) ?? null);
  const [hidden, setHidden] = useState<string | null>(null);
  const questions = questionsOf(pane, approvals);
  const [question] = questions;
  const dock = useRef<HTMLDivElement>(null);
  useFocusAfter(dock, question?.key ?? null);
  if (!question && !note) return null;
  return (
    <div className={styles.dock} ref={dock} tabIndex={-1}>
      <div className={styles.sheet}>
        {note && <NoteLine note={note} hasNext={question !== undefined} />}
        {question && hidden === question.key && (
          <CollapsedQuestion question={question} onShow={() => setHidden(null)} />
        )}
        {question && hidden !== question.key && (
          <QuestionSheet
            key={question.key}
            question={question}
            pane={pane}
            more={questions.length - 1}
            onHide={() => setHidden(question.key)}
          />
        )}
      </div>
    </div>
  );
}

/** Keeps the focus in the dock when the button that had it went away with its question. */
function useFocusAfter(dock: React.RefObject<HTMLDivElement | null>, key: string | null): void {
  const hadFocus = useRef(false);
  useEffect(() => {
    const noted = () => {
      hadFocus.current = dock.current?.contains(document.activeElement) ?? false;
    };
    document.addEventListener("focusin", noted);
    return () => document.removeEventListener("focusin", noted);
  }, [dock]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: when the question changes
  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body) dock.current?.focus();
  }, [dock, key]);
}
