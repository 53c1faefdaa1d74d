/** The command palette: panes now; routes, settings and actions come with their features. */
import fuzzysort from "fuzzysort";
import { useMemo, useState } from "react";
import { navigate, panePath } from "../lib/route";
import { useTriageRows } from "../state/store";
import { Dialog, Field, Input, StateIcon } from "../ui";
import styles from "./palette.module.css";

const MOST = 12;

export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const rows = useTriageRows();
  const found = useMemo(() => {
    if (!text) return rows.slice(0, MOST);
    const keys = ["pane.id", "pane.title"];
    return fuzzysort.go(text, rows, { keys, limit: MOST }).map((hit) => hit.obj);
  }, [text, rows]);
  const open = (id: string | undefined) => {
    if (!id) return;
    onClose();
    navigate(panePath(id));
  };
  return (
    <Dialog open onClose={onClose} title="Go to" width={560}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          open(found[0]?.pane.id);
        }}
      >
        <Field label="Pane">
          {(control) => (
            <Input {...control} value={text} onChange={(event) => setText(event.target.value)} />
          )}
        </Field>
      </form>
      <ul className={styles.list}>
        {found.map(({ pane, state }) => (
          <li key={pane.instance}>
            <button type="button" className={styles.item} onClick={() => open(pane.id)}>
              <StateIcon shape={state.kind} />
              <span className={styles.name}>{pane.id}</span>
              <span className={styles.title}>{pane.title}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
