/** The latest prompts of this page to a pane, with their receipts. */
import { X } from "lucide-react";
import type { Receipt } from "../../state/receipts";
import { IconButton } from "../../ui";
import styles from "./compose.module.css";
import type { Target } from "./draft-store";
import { ReceiptLine } from "./receipt-line";

export interface ReceiptPanelProps {
  receipts: readonly Receipt[];
  target: Target;
  onClose: () => void;
}

export function ReceiptPanel({ receipts, target, onClose }: ReceiptPanelProps) {
  return (
    <div className={styles.panel}>
      <ul className={styles.receipts} aria-label="Receipts">
        {receipts.map((receipt) => (
          <ReceiptLine key={receipt.key} receipt={receipt} target={target} />
        ))}
      </ul>
      <IconButton label="Close the receipts" onClick={onClose}>
        <X />
      </IconButton>
    </div>
  );
}
