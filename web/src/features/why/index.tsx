/** The evidence behind an agent's state, in sentences. */
import { RefreshCw } from "lucide-react";
import { useEffect, useRef } from "react";
import type { PaneInfo } from "../../api/generated";
import { useDelayed } from "../../lib/hooks";
import { useAnswer } from "../../state/use-answer";
import { Banner, Button, EmptyState, IconButton } from "../../ui";
import { composerOf, type Explanation, sides } from "./evidence";
import { EvidenceList } from "./evidence-list";
import { Verdict } from "./verdict";
import styles from "./why.module.css";
import { WrongForm } from "./wrong-form";

export default function WhyView({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  const hasAgent = Boolean(pane.agent);
  const params = hasAgent ? { paneId: pane.id } : null;
  const { answer, error, reload } = useAnswer("agent:explain", params);
  useReloadOnChange(pane, reload);
  if (!hasAgent) {
    return (
      <EmptyState title={`${pane.id} is not an agent`}>
        paned judges the state of programs that have a profile. This one has none.
      </EmptyState>
    );
  }
  if (error && !answer) {
    return (
      <EmptyState
        title="The evidence cannot be shown"
        actions={<Button onClick={reload}>Try again</Button>}
      >
        {error}
      </EmptyState>
    );
  }
  return answer ? <Explained pane={pane} answer={answer} onReload={reload} /> : <Waiting />;
}

interface ExplainedProps {
  pane: PaneInfo;
  answer: Explanation;
  onReload: () => void;
}

function Explained({ pane, answer, onReload }: ExplainedProps) {
  const { supporting, against } = sides(answer);
  const doubts = answer.warnings ?? [];
  return (
    <div className={styles.scroller}>
      <article className={styles.page}>
        <header className={styles.head}>
          <Verdict pane={pane} agent={answer.agent} />
          <IconButton label="Look again" onClick={onReload}>
            <RefreshCw />
          </IconButton>
        </header>
        {doubts.map((doubt) => (
          <Banner key={doubt} tone="warning">
            {doubt}
          </Banner>
        ))}
        <EvidenceList title="For it" evidence={supporting} empty="There is no evidence for it." />
        {against.length > 0 && <EvidenceList title="Against it" evidence={against} />}
        <p className={styles.composer}>{composerOf(answer)}</p>
        <WrongForm key={pane.instance} pane={pane} explanation={answer} />
      </article>
    </div>
  );
}

function Waiting() {
  return useDelayed(200) ? <p className={styles.waiting}>Looking at the evidence…</p> : null;
}

/** Asks again when the state has changed. */
function useReloadOnChange(pane: PaneInfo, reload: () => void): void {
  const key = `${pane.instance} ${pane.agent?.state} ${pane.agent?.dialog?.id ?? ""}`;
  const before = useRef(key);
  useEffect(() => {
    if (before.current === key) return;
    before.current = key;
    reload();
  }, [key, reload]);
}
