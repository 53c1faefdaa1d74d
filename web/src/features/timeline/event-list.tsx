/** The rows, drawn as far as they are visible. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { useCallback, useMemo, useRef, useState } from "react";
import { useCommand } from "../../lib/commands";
import { count } from "../../lib/format";
import { Button } from "../../ui";
import type { Row } from "./entries";
import { EventRow } from "./event-row";
import styles from "./timeline.module.css";
import { useFollow } from "./use-follow";
import type { OlderEvents } from "./use-older";

/** Older events are read when fewer pixels than this are above. */
const AHEAD = 400;

export interface EventListProps {
  rows: readonly Row[];
  older: OlderEvents;
  rowHeight: number;
}

export function EventList({ rows, older, rowHeight }: EventListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const keys = useMemo(() => rows.map((row) => row.key), [rows]);
  const virtual = useVirtualizer<HTMLDivElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keys[index] ?? index,
    overscan: 12,
  });
  const follow = useFollow(virtual, keys);
  const hold = useRef(follow.hold);
  hold.current = follow.hold;
  const toggle = useCallback((id: number) => {
    hold.current();
    setOpen((before) => toggled(before, id));
  }, []);
  useRowKeys(scroller);
  const scrolled = () => {
    follow.scrolled();
    const top = scroller.current?.scrollTop ?? 0;
    if (top < AHEAD && older.older.before !== null && !older.error) older.load();
  };
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keys */}
      <div ref={scroller} className={styles.scroller} onScroll={scrolled} tabIndex={0}>
        <ol className={styles.rows} style={{ height: virtual.getTotalSize() }} aria-label="Events">
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              <li
                key={item.key}
                ref={virtual.measureElement}
                data-index={item.index}
                className={styles.item}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {row?.kind === "event" && (
                  <EventRow event={row.event} isOpen={open.has(row.event.id)} onToggle={toggle} />
                )}
                {row?.kind === "gap" && <Gap row={row} />}
              </li>
            );
          })}
        </ol>
      </div>
      {!follow.isAtEnd && (
        <Button
          size="small"
          className={styles.toEnd}
          icon={<ArrowDown size={14} />}
          onClick={follow.toEnd}
        >
          {follow.fresh > 0 ? `${follow.fresh.toLocaleString("en-US")} new` : "Newest"}
        </Button>
      )}
    </div>
  );
}

function Gap({ row }: { row: Extract<Row, { kind: "gap" }> }) {
  const reason = row.reason === "not-kept" ? "no longer kept" : "left out of this page";
  return <p className={styles.gap}>{`${count(row.count, "event")} ${reason}`}</p>;
}

function toggled(set: ReadonlySet<number>, id: number): ReadonlySet<number> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}

/** j and k move the focus from row to row; Enter unfolds, because rows are buttons. */
function useRowKeys(scroller: React.RefObject<HTMLDivElement | null>): void {
  const step = (by: number) => {
    const rows = [...(scroller.current?.querySelectorAll<HTMLElement>("[aria-expanded]") ?? [])];
    const at = rows.indexOf(document.activeElement as HTMLElement);
    const next = at < 0 ? rows.at(by > 0 ? 0 : -1) : rows[at + by];
    next?.focus();
  };
  useCommand("row-next", () => step(1));
  useCommand("row-previous", () => step(-1));
}
