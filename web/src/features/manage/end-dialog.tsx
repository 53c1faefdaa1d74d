/** Kills, closes, removes or restarts panes: names what is ended first, and lists results after. */
import { useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useNow } from "../../lib/hooks";
import { Button, Dialog } from "../../ui";
import { isClean, isOver, targetsOf, type Verb } from "./batch";
import styles from "./manage.module.css";
import { OutcomeRow } from "./outcome-row";
import { useBatch } from "./use-batch";

export interface EndDialogProps {
  verb: Verb;
  panes: readonly PaneInfo[];
  onClose: () => void;
}

const WORDS: Record<Verb, { verb: string; doing: string; meaning: string }> = {
  kill: {
    verb: "Kill",
    doing: "Asked to exit",
    meaning: "The program is asked to exit and killed if it does not. Its output stays.",
  },
  close: {
    verb: "Close",
    doing: "Closing",
    meaning: "The program is ended, and the pane is deleted with its output.",
  },
  remove: { verb: "Remove", doing: "Removing", meaning: "The output is deleted." },
  restart: {
    verb: "Restart",
    doing: "Restarting",
    meaning:
      "A running program is ended, and started again under the same name. The output so far stays as NAME.previous.",
  },
};

export function EndDialog({ verb, panes: given, onClose }: EndDialogProps) {
  // What was confirmed is what is ended, also when the list changes meanwhile.
  const [panes] = useState(given);
  const { targets, others } = targetsOf(verb, panes);
  const { outcomes, startedAt, start } = useBatch(verb);
  const words = WORDS[verb];
  const hasStarted = startedAt !== null;
  const done = isOver(outcomes);
  const left = targets.filter(({ id }) => {
    const outcome = outcomes[id];
    return outcome?.at === "failed" || (outcome?.at === "done" && outcome.survivors.length > 0);
  });
  const name = targets.length === 1 ? (targets[0]?.id ?? "") : `${targets.length} panes`;
  const canForce = done && left.length > 0 && verb !== "remove";
  const actions = (
    <>
      <Button onClick={onClose}>{hasStarted ? "Done" : "Cancel"}</Button>
      {!hasStarted && (
        <Button
          tone={verb === "restart" ? "primary" : "danger"}
          disabled={targets.length === 0}
          onClick={() => void start(targets)}
        >
          {words.verb} {name}
        </Button>
      )}
      {canForce && (
        <Button tone="danger" onClick={() => void start(left, true)}>
          {words.verb} by force
        </Button>
      )}
    </>
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${words.verb} ${name}${hasStarted ? "" : "?"}`}
      description={hasStarted ? null : words.meaning}
      width={560}
      actions={actions}
    >
      <ul className={styles.outcomes} aria-live="polite">
        {targets.map((pane) => (
          <OutcomeRow key={pane.id} pane={pane} verb={verb} outcome={outcomes[pane.id] ?? null} />
        ))}
      </ul>
      {others.length > 0 && !hasStarted && (
        <p className={styles.meta}>Not for {others.map(({ id }) => id).join(", ")}.</p>
      )}
      {hasStarted && !done && <Elapsed since={startedAt} word={words.doing} />}
      {done && isClean(outcomes) && <p className={styles.good}>Done.</p>}
    </Dialog>
  );
}

function Elapsed({ since, word }: { since: number; word: string }) {
  const seconds = Math.max(0, Math.round((useNow() - since) / 1000));
  return (
    <p className={styles.meta} role="status">
      {word}, {seconds} s ago…
    </p>
  );
}
