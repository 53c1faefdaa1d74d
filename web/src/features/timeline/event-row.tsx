/** One event: when, what, where, and its payload when it is unfolded. */
import { ChevronRight } from "lucide-react";
import { memo } from "react";
import { moment } from "../../lib/format";
import type { ServerEvent } from "../../lib/protocol";
import { cx, JsonView } from "../../ui";
import { paneOf } from "./filter";
import { summary } from "./summary";
import styles from "./timeline.module.css";

export interface EventRowProps {
  event: ServerEvent;
  isOpen: boolean;
  onToggle: (id: number) => void;
}

export const EventRow = memo(function EventRow({ event, isOpen, onToggle }: EventRowProps) {
  const pane = paneOf(event)[0];
  const isError = /error|failed|lost|gave-up/.test(event.name);
  return (
    <>
      <button
        type="button"
        className={styles.row}
        aria-expanded={isOpen}
        onClick={() => onToggle(event.id)}
      >
        <ChevronRight className={styles.chevron} aria-hidden="true" />
        <time className={styles.time} dateTime={event.time} title={moment(event.time)}>
          {clock(event.time)}
        </time>
        <span className={cx(styles.name, isError && styles.error)}>{event.name}</span>
        <span className={styles.pane}>{pane}</span>
        <span className={styles.summary}>{summary(event)}</span>
      </button>
      {isOpen && (
        <div className={styles.payload}>
          <p className={styles.facts}>
            #{event.id} · {event.time}
            {pane && (
              <>
                {" · "}
                <a href={`#/p/${encodeURIComponent(pane)}`}>Open {pane}</a>
              </>
            )}
          </p>
          <JsonView value={event.payload} depth={3} />
        </div>
      )}
    </>
  );
});

/** With milliseconds: many events of one second have an order that matters. */
function clock(time: string): string {
  const at = new Date(time);
  const day = at.toLocaleTimeString([], { hour12: false });
  return `${day}.${String(at.getMilliseconds()).padStart(3, "0")}`;
}
