/** The hits by pane, drawn as far as they are visible; arrow keys and j/k move between them. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { useCommand } from "../../lib/commands";
import { Button } from "../../ui";
import styles from "./find.module.css";
import { HitRow } from "./hit-row";
import { PaneRow } from "./pane-row";
import type { FindQuery } from "./query";
import { type HitGroup, type ResultRow, resultRows } from "./results";

const HEIGHTS: Record<ResultRow["kind"], number> = { pane: 40, hit: 138, more: 40 };

export function ResultList({ query, groups }: { query: FindQuery; groups: readonly HitGroup[] }) {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => resultRows(groups, unfolded), [groups, unfolded]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => HEIGHTS[rows[index]?.kind ?? "hit"],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 6,
  });
  const move = useMoves(rows, scroller, (index) => list.scrollToIndex(index, { align: "auto" }));
  const key = JSON.stringify(query);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another query begins at the top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [key]);
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else return;
    event.preventDefault();
  };
  const draw = (row: ResultRow) => {
    if (row.kind === "pane") return <PaneRow group={row.group} />;
    if (row.kind === "hit") return <HitRow hit={row.hit} query={query} />;
    const more = () => setUnfolded((before) => new Set(before).add(row.paneId));
    return (
      <Button tone="quiet" size="small" className={styles.more} onClick={more}>
        {row.hidden.toLocaleString("en-US")} more in {row.paneId}
      </Button>
    );
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between the links in it
    <div ref={scroller} className={styles.results} onKeyDown={pressed}>
      <div className={styles.canvas} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (!row) return null;
          return (
            <div
              key={item.key}
              ref={list.measureElement}
              data-index={item.index}
              className={styles.slot}
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {draw(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

/** Moves the focus to the next or previous hit, which is scrolled into view first. */
function useMoves(
  rows: readonly ResultRow[],
  scroller: { current: HTMLElement | null },
  scrollTo: (index: number) => void,
): (step: 1 | -1) => void {
  const move = (step: 1 | -1) => {
    const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
    let index = focused ? Number(focused.dataset.index) : -1;
    do index += step;
    while (rows[index] && rows[index]?.kind === "pane");
    if (!rows[index]) return;
    scrollTo(index);
    const focus = () =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-index="${index}"] :is(a, button)`)
        ?.focus({ preventScroll: true });
    requestAnimationFrame(() => requestAnimationFrame(focus));
  };
  useCommand("row-next", () => move(1));
  useCommand("row-previous", () => move(-1));
  return move;
}
