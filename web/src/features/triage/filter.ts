/** The filter of the list: every word has to be somewhere in a pane. Pure. */
import type { TriageRow } from "../../state/needs";

const texts = new WeakMap<TriageRow, string>();

function textOf(row: TriageRow): string {
  let text = texts.get(row);
  if (text === undefined) {
    const { pane, state } = row;
    const parts = [pane.id, pane.title, pane.argv.join(" "), pane.cwd, pane.tags.join(" ")];
    parts.push(pane.agent?.profile ?? "", state.word, pane.view?.session ?? "");
    text = parts.join("\n").toLowerCase();
    texts.set(row, text);
  }
  return text;
}

export function filterRows(rows: readonly TriageRow[], filter: string): readonly TriageRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => words.every((word) => textOf(row).includes(word)));
}
