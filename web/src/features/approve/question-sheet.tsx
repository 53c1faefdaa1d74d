/** One question whole: who asks and since when, the text, and the answers fixed below it. */
import { ChevronDown } from "lucide-react";
import type { PaneInfo } from "../../api/generated";
import { run } from "../../lib/commands";
import { age } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { navigate, panePath } from "../../lib/route";
import { Button, Chip, IconButton, StateBadge } from "../../ui";
import { useAnswers } from "./answer-store";
import styles from "./approve.module.css";
import { Choices } from "./choices";
import { DenyReason } from "./deny-reason";
import type { Question } from "./question";
import { QuestionText } from "./question-text";
import { RequestFacts } from "./request-facts";

export interface QuestionSheetProps {
  question: Question;
  /** The pane that asks, if there is one. */
  pane: PaneInfo | null;
  /** How many questions wait behind this one. */
  more: number;
  onHide?: () => void;
}

/** Below this, the judgement is doubtful. */
const SURE = 0.7;

export function QuestionSheet({ question, pane, more, onHide }: QuestionSheetProps) {
  const now = useNow();
  const { approval } = question;
  const isDialog = !approval || approval.kind === "dialog";
  const confidence = isDialog ? pane?.agent?.confidence : undefined;
  return (
    <section className={styles.question} aria-label={`Question of ${pane?.id ?? "a request"}`}>
      <header className={styles.head}>
        <StateBadge shape="needs" word={question.kind} />
        <span className={styles.age}>{age(question.since, now)}</span>
        {more > 0 && <Chip>{more === 1 ? "1 more waits" : `${more} more wait`}</Chip>}
        <span className={styles.spread} />
        {confidence !== undefined && pane && (
          <button
            type="button"
            className={styles.sure}
            onClick={() => navigate(panePath(pane.id, "why"))}
          >
            {confidence < SURE ? "not sure" : `${Math.round(confidence * 100)} % sure`}
          </button>
        )}
        {onHide && (
          <IconButton label="Show the terminal" onClick={onHide}>
            <ChevronDown />
          </IconButton>
        )}
      </header>
      <QuestionText text={question.text} label="Question" />
      {approval && !isDialog && <RequestFacts approval={approval} now={now} />}
      <Problem question={question} onTerminal={onHide} />
      <footer className={styles.foot}>
        {question.choices.length > 0 ? (
          <Choices question={question} look="sheet" />
        ) : (
          <p className={styles.unread}>
            paned cannot read the answers of this question. Answer it in the terminal.
          </p>
        )}
        {!isDialog && <DenyReason question={question} />}
      </footer>
    </section>
  );
}

/** An answer without effect, or one that failed. */
function Problem({ question, onTerminal }: { question: Question; onTerminal?: () => void }) {
  const step = useAnswers((state) => state.steps.get(question.key) ?? null);
  if (step?.at !== "no-effect" && step?.at !== "failed") return null;
  const text =
    step.at === "failed"
      ? `“${step.choice.label}” was not confirmed: ${step.error}.`
      : `The keys of “${step.choice.label}” were pressed, and the question is still there.`;
  const toTerminal = () => {
    onTerminal?.();
    run("focus-terminal");
  };
  return (
    <div className={styles.problem} role="alert">
      <span>{text}</span>
      {onTerminal && (
        <Button size="small" onClick={toTerminal}>
          Open the terminal
        </Button>
      )}
    </div>
  );
}
