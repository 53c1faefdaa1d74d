/** The rows of the list: only those on the screen are drawn. */
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { ArrowDownUp } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { count } from "../../lib/format";
import { useMedia } from "../../lib/hooks";
import { usePreferences } from "../../lib/preferences";
import type { TriageRow } from "../../state/needs";
import { details } from "../../state/sync";
import { Button } from "../../ui";
import { useHeld } from "./hold";
import { type HeadItem, heightOf, type ListItem, type RowItem } from "./items";
import { Row } from "./row";
import styles from "./triage.module.css";
import { useAttention } from "./use-attention";
import { useRowKeys } from "./use-row-keys";

export interface RowsProps {
  items: readonly ListItem[];
  /** Changes when the user asks for another order. */
  reason: string;
  selected: string | null;
  onOpen: (id: string) => void;
  renderAnswers: (row: TriageRow) => ReactNode;
}

export function Rows({ items: fresh, reason, selected, onOpen, renderAnswers }: RowsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isCoarse = useMedia("(pointer: coarse)");
  const isCompact = usePreferences((state) => state.compact);
  const [turn, setTurn] = useState(0);
  const isHeld = useAttention(scroller);
  const { items, moved } = useHeld(fresh, isHeld, `${reason} ${turn}`);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(items[index] as ListItem, isCoarse, isCompact),
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 8,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights follow the items
  useEffect(() => virtual.measure(), [items, isCoarse, isCompact, virtual]);
  useShown(selected, items, virtual);
  const ids = useMemo(() => rowIds(items), [items]);
  const { tabStop, onKeyDown } = useRowKeys({ ids, items, virtual, scroller, selected, onOpen });
  const visible = virtual.getVirtualItems();
  useVisible(items, visible[0]?.index ?? 0, visible.at(-1)?.index ?? 0);
  return (
    <div className={styles.body}>
      {moved > 0 && (
        <Button
          size="small"
          className={styles.moved}
          icon={<ArrowDownUp size={14} />}
          onClick={() => setTurn(turn + 1)}
        >
          {count(moved, "row")} moved
        </Button>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys move between its links */}
      <div ref={scroller} className={styles.scroller} onKeyDown={onKeyDown}>
        <ul className={styles.items} style={{ height: virtual.getTotalSize() }}>
          {visible.map(({ index, key, start, size }) => (
            <li
              key={key}
              className={styles.item}
              style={{ transform: `translateY(${start}px)`, height: size }}
            >
              <Item
                item={items[index] as ListItem}
                selected={selected}
                tabStop={tabStop}
                renderAnswers={renderAnswers}
              />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

const isRow = (item: ListItem): item is RowItem => item.kind === "row";
const rowIds = (items: readonly ListItem[]) => items.filter(isRow).map((item) => item.row.pane.id);

/** A pane that was opened from elsewhere is scrolled into view, once. */
function useShown(
  selected: string | null,
  items: readonly ListItem[],
  virtual: Virtualizer<HTMLDivElement, Element>,
): void {
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (selected === shown.current) return;
    const index = items.findIndex((item) => isRow(item) && item.row.pane.id === selected);
    if (selected !== null && index < 0) return;
    shown.current = selected;
    if (index >= 0) virtual.scrollToIndex(index, { align: "auto" });
  }, [selected, items, virtual]);
}

/** Rows on the screen are kept up to date in all their details. */
function useVisible(items: readonly ListItem[], first: number, last: number): void {
  const key = rowIds(items.slice(first, last + 1)).join("\n");
  useEffect(() => {
    details.show(key ? key.split("\n") : []);
    return () => details.show([]);
  }, [key]);
}

interface ItemProps extends Pick<RowsProps, "selected" | "renderAnswers"> {
  item: ListItem;
  tabStop: string | null;
}

function Item({ item, selected, tabStop, renderAnswers }: ItemProps) {
  if (item.kind === "head") return <Head item={item} />;
  const { id } = item.row.pane;
  return (
    <Row
      item={item}
      isSelected={id === selected}
      isTabStop={id === tabStop}
      renderAnswers={renderAnswers}
    />
  );
}

function Head({ item }: { item: HeadItem }) {
  return (
    <h2 className={styles.groupHead}>
      <span className={styles.groupName}>{item.label}</span>{" "}
      <span className={styles.groupCount}>{item.count}</span>
      {item.needs > 0 && <span className={styles.groupNeeds}>{item.needs} need you</span>}
    </h2>
  );
}
