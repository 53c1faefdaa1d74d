/** A command with a button that copies it. */
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui";
import styles from "./sign-in.module.css";

export function CopyCommand({ command }: { command: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(command).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <div className={styles.command}>
      <code>{command}</code>
      <Button
        size="small"
        onClick={copy}
        icon={isCopied ? <Check size={14} /> : <Copy size={14} />}
      >
        {isCopied ? "Copied" : "Copy"}
      </Button>
    </div>
  );
}
