/** One prompt to several agents, with a receipt for each. */
import { useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useApp } from "../../state/store";
import { Button, controlClass, cx, Dialog, Field } from "../../ui";
import { BroadcastRow } from "./broadcast-row";
import styles from "./compose.module.css";
import { sendText } from "./draft-store";

export interface BroadcastDialogProps {
  panes: readonly PaneInfo[];
  onClose: () => void;
}

const takesPrompts = (pane: PaneInfo) =>
  Boolean(pane.agent) && pane.status === "running" && pane.agent?.state !== "exited";

export default function BroadcastDialog({ panes: given, onClose }: BroadcastDialogProps) {
  const [panes] = useState(given);
  const [text, setText] = useState("");
  const [keys, setKeys] = useState<Readonly<Record<string, string>>>({});
  const isOnline = useApp((state) => state.connection.state === "open");
  const targets = panes.filter(takesPrompts);
  const others = panes.filter((pane) => !takesPrompts(pane));
  const wasSent = Object.keys(keys).length > 0;
  const send = () => {
    const sent = targets.map(({ id, instance }) => [id, sendText({ paneId: id, instance }, text)]);
    setKeys(Object.fromEntries(sent));
  };
  const count = targets.length === 1 ? "1 agent" : `${targets.length} agents`;
  const canSend = isOnline && targets.length > 0 && text.trim() !== "";
  const actions = (
    <>
      <Button onClick={onClose}>{wasSent ? "Close" : "Cancel"}</Button>
      {!wasSent && (
        <Button tone="primary" disabled={!canSend} onClick={send}>
          Send to {count}
        </Button>
      )}
    </>
  );
  return (
    <Dialog open onClose={onClose} title={`Prompt ${count}`} width={560} actions={actions}>
      <div className={styles.broadcast}>
        {wasSent ? (
          <p className={styles.broadcastText}>{text}</p>
        ) : (
          <Field label="Prompt" hint="Agents that are busy get it in their queue.">
            {(control) => (
              <textarea
                {...control}
                rows={4}
                className={cx(controlClass, styles.broadcastField)}
                value={text}
                onChange={(event) => setText(event.target.value)}
                onKeyDown={(event) => {
                  const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
                  if (isSend && canSend) send();
                }}
              />
            )}
          </Field>
        )}
        <ul className={styles.broadcastList}>
          {targets.map((pane) => (
            <BroadcastRow key={pane.id} pane={pane} receiptKey={keys[pane.id] ?? null} />
          ))}
        </ul>
        {others.length > 0 && (
          <p className={styles.evidence}>
            {others.map(({ id }) => id).join(", ")}: no running agent, so nothing is sent there.
          </p>
        )}
      </div>
    </Dialog>
  );
}
