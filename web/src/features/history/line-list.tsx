/** The lines, drawn as far as they are visible; their text can be selected like any other. */
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef } from "react";
import type { PaneInfo } from "../../api/generated";
import type { LinePattern } from "../../lib/line-pattern";
import { usePreferences } from "../../lib/preferences";
import { Button, cx } from "../../ui";
import styles from "./history.module.css";
import { lineAt, MOST_ROWS } from "./line-cache";
import { LineRow } from "./line-row";
import { Foot, Head } from "./list-ends";
import { useBase } from "./use-base";
import { useFollow } from "./use-follow";
import type { Lines } from "./use-lines";
import type { Matches } from "./use-matches";

export const LINE_HEIGHT = 18;
const HEAD = 40;
/** Lines that are read ahead on both sides of what is visible. */
const AHEAD = 100;
/** Frames in which the list is put at its line again. */
const FRAMES = 4;

export interface LineListProps {
  pane: PaneInfo;
  lines: Lines;
  matches: Matches;
  pattern: LinePattern;
  /** The line to show; without it the last one. */
  line: number | null;
  isPhone: boolean;
}

export function LineList({ pane, lines, matches, pattern, line, isPhone }: LineListProps) {
  const { cache, isLoaded, need } = lines;
  const { total, dropped } = cache;
  const wraps = usePreferences((state) => state.wrapLines);
  const scroller = useRef<HTMLDivElement>(null);
  const { base, show } = useBase(cache, isLoaded, line);
  const first = base ?? dropped;
  const rows = Math.max(0, Math.min(total - first, MOST_ROWS));
  const list = useVirtualizer({
    count: isLoaded ? rows : 0,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_HEIGHT,
    overscan: 20,
    paddingStart: first > 0 ? HEAD : 8,
    paddingEnd: first + rows < total ? HEAD : 8,
  });
  const items = list.getVirtualItems();
  const from = first + (items[0]?.index ?? 0);
  const to = first + (items.at(-1)?.index ?? 0) + 1;
  useEffect(() => {
    if (isLoaded) need(from - AHEAD, to + AHEAD);
  }, [isLoaded, need, from, to]);
  const { unseen, toEnd } = useFollow({
    list,
    scroller,
    rows,
    isLoaded,
    total,
    startsAtEnd: line === null,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another line moves the list
  useEffect(() => {
    if (base === null || line === null) return;
    const index = Math.max(0, Math.min(line - base, rows - 1));
    // Again after the rows were measured: wrapped lines are higher than they were estimated.
    return repeat(FRAMES, () => list.scrollToIndex(index, { align: "center" }));
  }, [base, line, wraps]);
  const digits = total.toLocaleString("en-US").length;
  return (
    <div className={styles.frame}>
      <section
        ref={scroller}
        className={cx(styles.lines, wraps && styles.wraps, isPhone && styles.phone)}
        style={{ "--digits": `${digits}ch` } as CSSProperties}
        aria-label={`Lines of ${pane.id}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled by the keyboard
        tabIndex={0}
      >
        <div className={styles.canvas} style={{ height: list.getTotalSize() }}>
          <Head dropped={dropped} hidden={first - dropped} onShow={() => show(first)} />
          {items.map((item) => {
            const n = first + item.index;
            return (
              <div
                key={item.key}
                ref={wraps ? list.measureElement : undefined}
                data-index={item.index}
                className={styles.slot}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <LineRow
                  n={n}
                  line={lineAt(cache, n)}
                  isDropped={n < dropped}
                  isTarget={n === line}
                  hit={matches.byLine.get(n) ?? null}
                  pattern={matches.isCut ? pattern : null}
                />
              </div>
            );
          })}
          <Foot hidden={total - first - rows} onShow={() => show(first + rows)} />
        </div>
      </section>
      {unseen > 0 && (
        <Button className={styles.unseen} tone="primary" onClick={toEnd}>
          ↓ {unseen.toLocaleString("en-US")} new
        </Button>
      )}
    </div>
  );
}

/** Does something now and in each of the next frames. */
function repeat(frames: number, action: () => void): () => void {
  action();
  let frame = 0;
  const next = (rest: number) => {
    frame = requestAnimationFrame(() => {
      action();
      if (rest > 1) next(rest - 1);
    });
  };
  next(frames);
  return () => cancelAnimationFrame(frame);
}
