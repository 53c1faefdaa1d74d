/** One agent of a broadcast: its state before, its receipt after. */
import type { PaneInfo } from "../../api/generated";
import { displayState } from "../../state/display";
import { useApp, usePane } from "../../state/store";
import { StateBadge } from "../../ui";
import styles from "./compose.module.css";
import { ReceiptIcon } from "./receipt-icon";
import { isProblem, MEANINGS, wordOf } from "./receipt-words";

export interface BroadcastRowProps {
  pane: PaneInfo;
  receiptKey: string | null;
}

export function BroadcastRow({ pane, receiptKey }: BroadcastRowProps) {
  const state = displayState(usePane(pane.id) ?? pane);
  const receipt = useApp((app) => (receiptKey ? (app.receipts.get(receiptKey) ?? null) : null));
  const details = receipt && isProblem(receipt.state) && receipt.state;
  return (
    <li className={styles.broadcastRow}>
      <strong className={styles.broadcastName}>{pane.id}</strong>
      {receipt ? (
        <span className={styles.chip} data-receipt={receipt.state}>
          <ReceiptIcon state={receipt.state} />
          {wordOf(receipt)}
        </span>
      ) : (
        <StateBadge shape={state.kind} word={state.word} />
      )}
      {details && (
        <p className={styles.broadcastNote}>
          {receipt.error ?? receipt.evidence.at(-1) ?? MEANINGS[details]}
        </p>
      )}
    </li>
  );
}
