/** Adds tags to several panes, or takes them off, with a result for each. */
import { useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { sentence } from "../../lib/errors";
import { socket } from "../../state/sync";
import { Button, Dialog, Field, Input } from "../../ui";
import { tagsOf } from "./batch";
import styles from "./manage.module.css";

export interface TagsDialogProps {
  panes: readonly PaneInfo[];
  onClose: () => void;
}

export function TagsDialog({ panes, onClose }: TagsDialogProps) {
  const [text, setText] = useState("");
  const [results, setResults] = useState<Record<string, string>>({});
  const tags = tagsOf(text);
  const run = async (change: { add: string[] } | { remove: string[] }) => {
    setResults({});
    for (const { id } of panes) {
      const result = await socket
        .call("pane:tag", { paneId: id, ...change })
        .then(
          (answer) =>
            answer.changed ? `now ${answer.tags.join(", ") || "without tags"}` : "as it was",
          sentence,
        );
      setResults((before) => ({ ...before, [id]: result }));
    }
  };
  const actions = (
    <>
      <Button onClick={onClose}>Close</Button>
      <Button disabled={tags.length === 0} onClick={() => void run({ remove: tags })}>
        Remove
      </Button>
      <Button tone="primary" disabled={tags.length === 0} onClick={() => void run({ add: tags })}>
        Add
      </Button>
    </>
  );
  const title = `Tags of ${panes.length} panes`;
  return (
    <Dialog open onClose={onClose} title={title} actions={actions}>
      <div className={styles.form}>
        <Field label="Tags" hint="Separated by commas or blanks">
          {(control) => (
            <Input {...control} value={text} onChange={(event) => setText(event.target.value)} />
          )}
        </Field>
        <ul className={styles.tagged} aria-live="polite">
          {panes.map(({ id, tags: before }) => (
            <li key={id}>
              <strong className={styles.name}>{id}</strong>
              <span className={styles.meta}>{results[id] ?? before.join(", ")}</span>
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  );
}
