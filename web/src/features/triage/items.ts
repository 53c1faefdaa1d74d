/** The lines of the list: heads of groups and rows, with their heights. Pure. */
import type { Grouping } from "../../lib/preferences";
import { NEED_LABELS, NEEDS, type TriageRow } from "../../state/needs";

export interface HeadItem {
  kind: "head";
  key: string;
  label: string;
  count: number;
  /** How many of the group need the user. */
  needs: number;
}

export interface RowItem {
  kind: "row";
  key: string;
  /** The key of its group. */
  group: string;
  row: TriageRow;
  /** How many lines its question has; none for rows that asked nothing when they were placed. */
  question: 0 | 1 | 2;
  /** The pane was removed while the order was held. */
  isGone: boolean;
}

export type ListItem = HeadItem | RowItem;

const NO_TAG = "No tag";
const NO_SESSION = "No session";
/** Characters of a question that surely fit on one line of the narrowest list. */
const ONE_LINE = 34;

/** Groups rows that are in the order of triage, which stays within each group. */
export function itemsOf(rows: readonly TriageRow[], grouping: Grouping): ListItem[] {
  const groups = new Map<string, TriageRow[]>();
  for (const row of rows) {
    const key = groupOf(row, grouping);
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  const keys = [...groups.keys()].sort(grouping === "need" ? undefined : byName);
  if (grouping === "need") keys.sort((a, b) => order(a) - order(b));
  return keys.flatMap((key) => {
    const members = groups.get(key) ?? [];
    return [headOf(key, members, grouping), ...members.map((row) => rowItem(row, key))];
  });
}

function groupOf({ need, pane }: TriageRow, grouping: Grouping): string {
  if (grouping === "need") return need;
  if (grouping === "tag") return [...pane.tags].sort()[0] ?? NO_TAG;
  return pane.view?.session ?? NO_SESSION;
}

const order = (need: string) => (NEEDS as readonly string[]).indexOf(need);

function byName(a: string, b: string): number {
  const isRest = (name: string) => name === NO_TAG || name === NO_SESSION;
  return Number(isRest(a)) - Number(isRest(b)) || a.localeCompare(b);
}

function headOf(key: string, members: readonly TriageRow[], grouping: Grouping): HeadItem {
  const label = grouping === "need" ? NEED_LABELS[key as TriageRow["need"]] : key;
  const needs = grouping === "need" ? 0 : members.filter((row) => row.need === "needs-you").length;
  return { kind: "head", key: `head ${key}`, label, count: members.length, needs };
}

function rowItem(row: TriageRow, group: string): RowItem {
  const text = questionOf(row);
  const question = row.need !== "needs-you" ? 0 : text.length > ONE_LINE ? 2 : 1;
  return { kind: "row", key: row.pane.instance, group, row, question, isGone: false };
}

/** What a row asks, on one line. */
export function questionOf({ approval, pane }: TriageRow): string {
  const dialog = pane.agent?.state === "blocked" ? pane.agent.dialog?.text : null;
  return (dialog ?? approval?.subject ?? "").replace(/\s+/g, " ").trim();
}

/** Heights in pixels, for fine and for coarse pointers; a compact row has one line. */
const FINE = { head: 30, row: 48, question: [0, 38, 54] };
const COMPACT = { head: 28, row: 32, question: [0, 38, 54] };
const COARSE = { head: 36, row: 64, question: [0, 48, 66] };

export function heightOf(item: ListItem, isCoarse: boolean, isCompact = false): number {
  const sizes = isCoarse ? COARSE : isCompact ? COMPACT : FINE;
  if (item.kind === "head") return sizes.head;
  return sizes.row + (sizes.question[item.question] ?? 0);
}
