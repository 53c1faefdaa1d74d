/** The field for prompts, and the receipts of those that were sent. */
import { ArrowUp } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useCommand } from "../../lib/commands";
import { useScope } from "../../state/scopes";
import { useApp } from "../../state/store";
import { Button, IconButton } from "../../ui";
import styles from "./compose.module.css";
import { change, send, useDraft } from "./draft-store";
import { written } from "./drafts";
import { InterruptButton } from "./interrupt-button";
import { PromptField } from "./prompt-field";
import { ReceiptIcon } from "./receipt-icon";
import { ReceiptPanel } from "./receipt-panel";
import { isProblem, wordOf } from "./receipt-words";
import { useReceipts } from "./use-receipts";

/** Nothing for panes without an agent. */
export function Composer({ pane, isPhone }: { pane: PaneInfo; isPhone: boolean }) {
  const mayType = useScope("input");
  const isLive = pane.agent && pane.agent.state !== "exited" && pane.status === "running";
  if (!isLive || !mayType) return null;
  return <PromptBar key={pane.instance} pane={pane} isPhone={isPhone} />;
}

function PromptBar({ pane, isPhone }: { pane: PaneInfo; isPhone: boolean }) {
  const target = { paneId: pane.id, instance: pane.instance };
  const draft = useDraft(pane.instance);
  const { receipts, latest } = useReceipts(target);
  const [panel, setPanel] = useState<"open" | "closed">("closed");
  const isOnline = useApp((state) => state.connection.state === "open");
  const field = useRef<HTMLTextAreaElement>(null);
  useCommand("composer", () => field.current?.focus());
  const problem = latest && isProblem(latest.state) ? `${latest.key} ${latest.state}` : null;
  useEffect(() => {
    if (problem) setPanel("open");
  }, [problem]);
  const submit = () => isOnline && send(target);
  const isBusy = pane.agent?.state === "busy";
  const canSend = isOnline && draft.text.trim() !== "";
  return (
    <section className={styles.composer} aria-label={`Prompt ${pane.id}`}>
      {panel === "open" && receipts.length > 0 && (
        <ReceiptPanel receipts={receipts} target={target} onClose={() => setPanel("closed")} />
      )}
      <div className={styles.bar}>
        <PromptField
          ref={field}
          label={`Prompt ${pane.id}`}
          text={draft.text}
          isPhone={isPhone}
          onChange={(text) => change(pane.instance, (it) => written(it, text))}
          onSend={submit}
        />
        <div className={styles.side}>
          {latest && (
            <button
              type="button"
              className={styles.chip}
              data-receipt={latest.state}
              aria-expanded={panel === "open"}
              aria-label={`Receipt: ${wordOf(latest)}`}
              onClick={() => setPanel(panel === "open" ? "closed" : "open")}
            >
              <ReceiptIcon state={latest.state} />
              <span className={styles.chipWord}>{wordOf(latest)}</span>
            </button>
          )}
          {isBusy && <InterruptButton paneId={pane.id} />}
          {isPhone ? (
            <IconButton
              tone="primary"
              label={sendWord(isBusy)}
              disabled={!canSend}
              onClick={submit}
            >
              <ArrowUp />
            </IconButton>
          ) : (
            <Button tone="primary" disabled={!canSend} onClick={submit}>
              {sendWord(isBusy)}
            </Button>
          )}
        </div>
      </div>
    </section>
  );
}

const sendWord = (isBusy: boolean) => (isBusy ? "Queue" : "Send");
