/** One line above the page when it comes back after a while, and one line per pane on request. */
import { X } from "lucide-react";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { count, span } from "../../lib/format";
import { panePath } from "../../lib/route";
import { triageRows, useApp } from "../../state/store";
import { Banner, Button, IconButton, Sheet, StateIcon } from "../../ui";
import styles from "./away.module.css";
import { type AwayLine, digest } from "./digest";
import { type Absence, useAbsence } from "./use-departure";

export function AwayBanner() {
  const [absence, dismiss] = useAbsence();
  return absence ? <Summary absence={absence} onClose={dismiss} /> : null;
}

function Summary({ absence, onClose }: { absence: Absence; onClose: () => void }) {
  const [isOpen, setOpen] = useState(false);
  const entries = useApp((state) => state.events.entries);
  const rows = useApp(triageRows);
  const found = useMemo(
    () => digest(entries, rows, absence.left, absence.returnedAt),
    [entries, rows, absence],
  );
  if (found.lines.length === 0 && found.missing === 0) return null;
  const away = span(absence.returnedAt - absence.left.at);
  const actions = (
    <>
      <Button size="small" onClick={() => setOpen(true)}>
        Show
      </Button>
      <IconButton label="Dismiss" onClick={onClose}>
        <X />
      </IconButton>
    </>
  );
  return (
    <>
      <Banner actions={actions}>
        Since you left, {away} ago: {found.summary}.
      </Banner>
      <Sheet open={isOpen} onClose={() => setOpen(false)} title={`Since you left, ${away} ago`}>
        {found.missing > 0 && (
          <p className={styles.missing}>
            {count(found.missing, "event")} of that time no longer stored
          </p>
        )}
        <ul className={styles.lines}>
          {found.lines.map((line) => (
            <Line key={line.paneId} line={line} onOpen={() => setOpen(false)} />
          ))}
        </ul>
      </Sheet>
    </>
  );
}

function Line({ line, onOpen }: { line: AwayLine; onOpen: () => void }) {
  const { paneId, row, text } = line;
  return (
    <li>
      {row ? (
        <Link href={panePath(paneId)} className={styles.line} onClick={onOpen}>
          <StateIcon shape={row.state.kind} />
          <span className={styles.name}>{paneId}</span>
          <span className={styles.text}>{text}</span>
        </Link>
      ) : (
        <div className={styles.line}>
          <span className={styles.name}>{paneId}</span>
          <span className={styles.text}>{text}</span>
        </div>
      )}
    </li>
  );
}
