/** Chooses the panes of the grid. */
import { useState } from "react";
import { useTriageRows } from "../../state/store";
import { Button, Dialog, Input, StateBadge } from "../../ui";
import styles from "./grid.module.css";
import { MOST_TILES, toggled } from "./order";

export interface PickDialogProps {
  ids: readonly string[];
  onChange: (ids: string[]) => void;
  onClose: () => void;
}

/** More rows than can be looked through are found by the filter. */
const MOST_ROWS = 200;

export function PickDialog({ ids, onChange, onClose }: PickDialogProps) {
  const [text, setText] = useState("");
  const rows = useTriageRows();
  const words = text.toLowerCase();
  const found = rows.filter(({ pane }) =>
    `${pane.id} ${pane.title} ${pane.tags.join(" ")}`.toLowerCase().includes(words),
  );
  const isFull = ids.length >= MOST_TILES;
  return (
    <Dialog
      open
      onClose={onClose}
      title="Panes in the grid"
      description={`${ids.length} of at most ${MOST_TILES}`}
      width={520}
      actions={
        <Button tone="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Input
        type="search"
        aria-label="Filter panes"
        placeholder="Filter by name, title or tag"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <ul className={styles.picks}>
        {found.slice(0, MOST_ROWS).map(({ pane, state, mark }) => {
          const isChosen = ids.includes(pane.id);
          return (
            <li key={pane.instance}>
              <label className={styles.pick}>
                <input
                  type="checkbox"
                  checked={isChosen}
                  disabled={isFull && !isChosen}
                  onChange={() => onChange(toggled(ids, pane.id))}
                />
                <span className={styles.pickName}>{pane.id}</span>
                <StateBadge
                  look="plain"
                  shape={state.kind}
                  word={state.word}
                  unread={mark !== null}
                />
              </label>
            </li>
          );
        })}
        {found.length === 0 && <li className={styles.noAnswer}>No pane has “{text}”.</li>}
      </ul>
    </Dialog>
  );
}
