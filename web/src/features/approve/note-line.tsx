/** What became of the question before: answered, or replaced before an answer. */
import { Check, RefreshCw } from "lucide-react";
import { run } from "../../lib/commands";
import { useNeedCount } from "../../state/store";
import { Button } from "../../ui";
import type { Note } from "./answers";
import styles from "./approve.module.css";

export function NoteLine({ note, hasNext }: { note: Note; hasNext: boolean }) {
  const others = useNeedCount();
  const isChanged = note.tone === "changed";
  return (
    <div className={styles.note} data-tone={note.tone} role="status">
      {isChanged ? <RefreshCw aria-hidden /> : <Check aria-hidden />}
      <span className={styles.noteText}>
        {note.text}
        {isChanged && hasNext && " Here is the present one."}
        {!isChanged && hasNext && " The next question:"}
      </span>
      {!hasNext && others > 0 && (
        <Button size="small" onClick={() => run("next-need")}>
          Next that needs you
        </Button>
      )}
    </div>
  );
}
