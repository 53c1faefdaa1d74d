/** Denying a request with a reason, which its caller gets. */
import { type FormEvent, useState } from "react";
import { Button, Input } from "../../ui";
import { press } from "./answer-store";
import styles from "./approve.module.css";
import type { Question } from "./question";

export function DenyReason({ question }: { question: Question }) {
  const [reason, setReason] = useState<string | null>(null);
  const deny = question.choices.find((choice) => choice.answer === "deny");
  if (!deny) return null;
  if (reason === null) {
    return (
      <Button tone="quiet" size="small" onClick={() => setReason("")}>
        Deny with a reason…
      </Button>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    press(question, deny, reason);
  };
  return (
    <form className={styles.reason} onSubmit={submit}>
      <Input
        autoFocus
        aria-label="Reason for denial"
        placeholder="Why? The caller gets this."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setReason(null)}
      />
      <Button type="submit">Deny</Button>
    </form>
  );
}
