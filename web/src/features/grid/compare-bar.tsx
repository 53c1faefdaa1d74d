/** The same prompt for all agents of the grid, and what became of it at each. */
import { Send } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useMemo, useState } from "react";
import { sentence } from "../../lib/errors";
import * as receipts from "../../state/receipts";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { Button, Chip, controlClass, cx } from "../../ui";
import styles from "./grid.module.css";

/** What a receipt says, in a word. */
const WORDS: Record<receipts.ReceiptState, string> = {
  sending: "sending",
  failed: "not sent",
  cancelled: "cancelled",
  submitted: "submitted",
  queued: "queued",
  drafted: "drafted",
  held: "held",
  refused: "refused",
  unknown: "unknown",
};

export function CompareBar({ ids }: { ids: readonly string[] }) {
  const panes = useApp((state) => state.panes);
  const isOpen = useApp((state) => state.connection.state === "open");
  const agents = useMemo(
    () => ids.filter((id) => panes.get(id)?.agent && panes.get(id)?.status === "running"),
    [ids, panes],
  );
  const [text, setText] = useState("");
  const [keys, setKeys] = useState<readonly string[]>([]);
  const canSend = isOpen && text.trim() !== "" && agents.length > 0;
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (!canSend) return;
    setKeys(agents.map((id) => send(id, text)));
    setText("");
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit();
  };
  const label = `Same prompt for ${agents.length} ${agents.length === 1 ? "agent" : "agents"}`;
  return (
    <form className={styles.compare} onSubmit={submit}>
      <div className={styles.compareLine}>
        <textarea
          className={cx(controlClass, styles.prompt)}
          aria-label={label}
          placeholder={label}
          rows={Math.min(6, text.split("\n").length)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={pressed}
        />
        <Button type="submit" tone="primary" icon={<Send size={14} />} disabled={!canSend}>
          Send
        </Button>
      </div>
      <Receipts keys={keys} />
    </form>
  );
}

function Receipts({ keys }: { keys: readonly string[] }) {
  const all = useApp((state) => state.receipts);
  const own = keys.map((key) => all.get(key)).filter((receipt) => receipt !== undefined);
  if (own.length === 0) return null;
  return (
    <ul className={styles.receipts} aria-label="Receipts">
      {own.map((receipt) => (
        <li key={receipt.key}>
          <Chip title={receipt.error ?? receipt.evidence.join("\n")}>
            {receipt.paneId}: {WORDS[receipt.state]}
            {receipt.position ? ` #${receipt.position}` : ""}
          </Chip>
        </li>
      ))}
    </ul>
  );
}

/** Sends a prompt once; its receipt follows the events. */
function send(paneId: string, text: string): string {
  const key = crypto.randomUUID();
  const put = (change: (before: receipts.Receipts) => receipts.Receipts) =>
    useApp.setState((state) => ({ receipts: change(state.receipts) }));
  put((before) => receipts.sent(before, { key, paneId, text, sentAt: Date.now() }));
  socket.call("agent:message", { paneId, text, idempotencyKey: key, wait: "submitted" }).then(
    (answer) => put((before) => receipts.answered(before, key, answer)),
    (error) => put((before) => receipts.failed(before, key, sentence(error))),
  );
  return key;
}
