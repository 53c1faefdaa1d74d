/** The tiles in their grid, and the keys that move focus and tiles. */
import {
  type CSSProperties,
  type KeyboardEvent,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { useCommand } from "../../lib/commands";
import { announce, cx } from "../../ui";
import styles from "./grid.module.css";
import { LastAnswer } from "./last-answer";
import { columnsFor, type Direction, moved, neighbour } from "./order";
import { Tile } from "./tile";
import { useDrag } from "./use-drag";
import type { GridState } from "./use-grid";

const WAYS: Record<string, Direction> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};

export function Tiles({ grid }: { grid: GridState }) {
  const { ids, zoomed, isCompare, isWhole, set } = grid;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const columns = columnsFor(ids.length, width);
  const [focused, setFocused] = useState<string | null>(null);
  const latest = useRef({ ids, zoomed, set, focused });
  latest.current = { ids, zoomed, set, focused };
  const place = useCallback((id: string, to: number) => {
    const { ids: all, set: change } = latest.current;
    const at = Math.max(0, Math.min(all.length - 1, to));
    if (at === all.indexOf(id)) return;
    change({ ids: moved(all, id, at) });
    announce(`${id} is at place ${at + 1} of ${all.length}`);
    requestAnimationFrame(() => focusTile(box.current, id));
  }, []);
  const drag = useDrag((id, over) => place(id, ids.indexOf(over)));
  const zoom = useCallback((id: string) => {
    const isOpen = latest.current.zoomed === id;
    latest.current.set({ zoomed: isOpen ? null : id });
    requestAnimationFrame(() => focusTile(box.current, id));
  }, []);
  const close = useCallback((id: string) => {
    const { ids: all, zoomed: open, set: change } = latest.current;
    const rest = all.filter((other) => other !== id);
    change({ ids: rest, zoomed: open === id ? null : open });
  }, []);
  const move = useCallback(
    (id: string, by: number) => place(id, latest.current.ids.indexOf(id) + by),
    [place],
  );
  const current = focused !== null && ids.includes(focused) ? focused : (ids[0] ?? "");
  const go = (way: Direction, isMove: boolean) => {
    const at = ids.indexOf(current);
    const next = neighbour(at, way, ids.length, columns);
    if (isMove) place(current, next);
    else focusTile(box.current, ids[next] ?? current);
  };
  useGridCommands(go, () => current && zoom(current));
  const pressed = (event: KeyboardEvent) => {
    const isTile = event.target instanceof HTMLElement && event.target.dataset.tile !== undefined;
    if (event.key === "Escape" && zoomed) zoom(zoomed);
    if (!isTile || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const way = WAYS[event.key];
    if (way) go(way, false);
    else if (event.key === "Enter") zoom(current);
    else return;
    event.preventDefault();
  };
  const shown = zoomed !== null && ids.includes(zoomed) ? [zoomed] : ids;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the tiles in it are what has the focus
    <div
      ref={box}
      className={cx(styles.tiles, isCompare && styles.comparing)}
      style={{ "--columns": shown.length === 1 ? 1 : columns } as CSSProperties}
      onKeyDown={pressed}
    >
      {shown.map((id) => (
        <Tile
          key={id}
          id={id}
          isFocused={id === current}
          isZoomed={id === zoomed}
          isWhole={isWhole}
          drag={drag}
          onFocus={setFocused}
          onZoom={zoom}
          onClose={close}
          onMove={move}
        >
          {isCompare && <LastAnswer id={id} />}
        </Tile>
      ))}
    </div>
  );
}

export function focusTile(box: HTMLElement | null, id: string): void {
  const tile = box?.querySelector<HTMLElement>(`[data-tile="${CSS.escape(id)}"]`);
  tile?.focus();
  tile?.scrollIntoView({ block: "nearest", inline: "start" });
}

function useGridCommands(go: (way: Direction, isMove: boolean) => void, zoom: () => void): void {
  useCommand("grid-left", () => go("left", false));
  useCommand("grid-right", () => go("right", false));
  useCommand("grid-up", () => go("up", false));
  useCommand("grid-down", () => go("down", false));
  useCommand("grid-move-left", () => go("left", true));
  useCommand("grid-move-right", () => go("right", true));
  useCommand("grid-move-up", () => go("up", true));
  useCommand("grid-move-down", () => go("down", true));
  useCommand("grid-zoom", zoom);
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(1440);
  useLayoutEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => {
      if (entry) setWidth(Math.round(entry.contentRect.width));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
