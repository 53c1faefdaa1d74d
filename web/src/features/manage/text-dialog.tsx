/** Changes one text of a pane: its title or its tags. */
import { type FormEvent, useId, useState } from "react";
import { sentence } from "../../lib/errors";
import { Button, Dialog, Field, Input } from "../../ui";
import styles from "./manage.module.css";

export interface TextDialogProps {
  title: string;
  label: string;
  hint: string;
  start: string;
  /** May the text be empty? */
  allowsEmpty?: boolean;
  onSave: (text: string) => Promise<unknown>;
  onClose: () => void;
}

export function TextDialog(props: TextDialogProps) {
  const { title, label, hint, start, allowsEmpty, onSave, onClose } = props;
  const [text, setText] = useState(start);
  const [error, setError] = useState<string | null>(null);
  const form = useId();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await onSave(text);
      onClose();
    } catch (problem) {
      setError(sentence(problem));
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>Cancel</Button>
      <Button
        type="submit"
        form={form}
        tone="primary"
        disabled={!allowsEmpty && text.trim() === ""}
      >
        Save
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onClose} title={title} actions={actions}>
      <form id={form} className={styles.form} onSubmit={submit}>
        <Field label={label} hint={hint} error={error}>
          {(control) => (
            <Input {...control} value={text} onChange={(event) => setText(event.target.value)} />
          )}
        </Field>
      </form>
    </Dialog>
  );
}
