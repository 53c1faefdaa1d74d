/** Asks before several lines are pasted into a program that would run each of them. */
import { useState } from "react";
import { Button } from "../../ui";
import styles from "./pane.module.css";
import type { PasteWarning } from "./paste-guard";

export interface PasteStripProps {
  warning: PasteWarning;
  /** `isTrusted`: do not ask again for this pane. */
  onPaste: (isTrusted: boolean) => void;
  onCancel: () => void;
}

export function PasteStrip({ warning, onPaste, onCancel }: PasteStripProps) {
  const [isTrusted, setTrusted] = useState(false);
  return (
    <div className={styles.strip} role="alertdialog" aria-label="Paste several lines?">
      <p className={styles.stripText}>
        <strong>{warning.lines} lines.</strong> The program would take each as if you had pressed
        Enter.
      </p>
      <pre className={styles.stripPreview}>{warning.text}</pre>
      <div className={styles.stripActions}>
        <label className={styles.trust}>
          <input
            type="checkbox"
            checked={isTrusted}
            onChange={(event) => setTrusted(event.target.checked)}
          />
          Do not ask again here
        </label>
        <Button onClick={onCancel}>Cancel</Button>
        <Button tone="primary" autoFocus onClick={() => onPaste(isTrusted)}>
          Paste
        </Button>
      </div>
    </div>
  );
}
