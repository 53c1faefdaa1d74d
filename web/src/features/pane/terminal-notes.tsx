/** What has to be said about a terminal, in one line each above it. */
import type { PaneInfo } from "../../api/generated";
import { bytes, count } from "../../lib/format";
import { navigate, panePath } from "../../lib/route";
import { Banner, Button } from "../../ui";
import type { Skip } from "./feed";
import styles from "./pane.module.css";
import type { Live } from "./use-live";

export interface TerminalNotesProps {
  /** The pane of this name as it is now, which may be another life than the one that is shown. */
  pane: PaneInfo;
  shown: PaneInfo;
  live: Live;
  onShowNew: () => void;
  onDismiss: (fields: Partial<Live>) => void;
}

export function TerminalNotes({ pane, shown, live, onShowNew, onDismiss }: TerminalNotesProps) {
  const { skip, unconfirmed, refusal, failure, isGone } = live;
  const isReused = pane.instance !== shown.instance;
  const close = (fields: Partial<Live>) => (
    <Button size="small" tone="quiet" onClick={() => onDismiss(fields)}>
      Dismiss
    </Button>
  );
  return (
    <>
      {(isReused || isGone) && <Reused id={pane.id} isReused={isReused} onShowNew={onShowNew} />}
      {failure && <Banner tone="danger">The output cannot be read: {failure}.</Banner>}
      {refusal && (
        <Banner tone="warning" actions={close({ refusal: null })}>
          {refusal}
        </Banner>
      )}
      {unconfirmed > 0 && (
        <Banner tone="warning" actions={close({ unconfirmed: 0 })}>
          {count(unconfirmed, "byte")} unconfirmed: the connection was lost while you typed. They
          were not sent again.
        </Banner>
      )}
      {skip && <Skipped pane={shown} skip={skip} onClose={() => onDismiss({ skip: null })} />}
    </>
  );
}

function Reused({
  id,
  isReused,
  onShowNew,
}: {
  id: string;
  isReused: boolean;
  onShowNew: () => void;
}) {
  if (!isReused)
    return <Banner tone="warning">This pane was removed. Its last screen is below.</Banner>;
  const show = (
    <Button size="small" onClick={onShowNew}>
      Show the new pane
    </Button>
  );
  return (
    <Banner tone="warning" actions={show}>
      Another pane is named {id} now. Below is the earlier one.
    </Banner>
  );
}

/** A ruled line: how much of the output is not in this terminal, and how much of that is kept. */
function Skipped({ pane, skip, onClose }: { pane: PaneInfo; skip: Skip; onClose: () => void }) {
  const skipped = skip.to - skip.from;
  const firstKept = Math.max(skip.from, skip.lostTo, pane.dropped);
  const kept = Math.max(0, skip.to - firstKept);
  return (
    <div className={styles.skip} role="status">
      <span className={styles.skipText}>
        skipped {bytes(skipped)}
        {kept > 0 ? `, ${bytes(kept)} kept` : ", no longer kept"}
      </span>
      {kept > 0 && (
        <Button size="small" tone="quiet" onClick={() => navigate(panePath(pane.id, "history"))}>
          History
        </Button>
      )}
      <Button size="small" tone="quiet" onClick={onClose}>
        Dismiss
      </Button>
    </div>
  );
}
