/** One receipt: word, text, what it means, and the evidence. */
import { useState } from "react";
import { age } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import type { Receipt } from "../../state/receipts";
import { Button } from "../../ui";
import styles from "./compose.module.css";
import { cancel, type Target } from "./draft-store";
import { ReceiptIcon } from "./receipt-icon";
import { isWaiting, MEANINGS, wordOf } from "./receipt-words";

export function ReceiptLine({ receipt, target }: { receipt: Receipt; target: Target }) {
  const now = useNow();
  return (
    <li className={styles.receipt}>
      <span className={styles.word} data-receipt={receipt.state}>
        <ReceiptIcon state={receipt.state} />
        {wordOf(receipt)}
      </span>
      <div className={styles.receiptText}>
        <p className={styles.sentText}>{receipt.text}</p>
        <p>{MEANINGS[receipt.state]}</p>
        {receipt.error && <p className={styles.evidence}>{receipt.error}</p>}
        {receipt.evidence.length > 0 && (
          <ul className={styles.evidence}>
            {receipt.evidence.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        )}
      </div>
      <span className={styles.age}>{age(new Date(receipt.sentAt).toISOString(), now)}</span>
      {isWaiting(receipt.state) && <CancelButton receipt={receipt} target={target} />}
    </li>
  );
}

function CancelButton({ receipt, target }: { receipt: Receipt; target: Target }) {
  const [problem, setProblem] = useState<string | null>(null);
  const press = async () => setProblem(await cancel(target, receipt.key));
  return (
    <div className={styles.cancel}>
      <Button size="small" onClick={press}>
        Cancel
      </Button>
      {problem && <p role="alert">{problem}</p>}
    </div>
  );
}
