/** Announces each pane that begins to need the user, once. */
import { needing } from "../state/needs";
import { triageRows, useApp } from "../state/store";
import { announce } from "../ui";

const FIRST_LINE = 120;

export function followAnnouncements(): () => void {
  let known: Set<string> | null = null;
  return useApp.subscribe((state) => {
    if (!state.isLoaded) return;
    const rows = needing(triageRows(state));
    const key = (row: (typeof rows)[number]) =>
      `${row.pane.instance} ${row.approval?.id ?? row.pane.agent?.dialog?.id ?? ""}`;
    // What needed the user before the page was opened is in the list.
    const fresh = known ? rows.filter((row) => !known?.has(key(row))) : [];
    known = new Set(rows.map(key));
    const texts = fresh.map((row) => {
      const question = row.pane.agent?.dialog?.text ?? row.approval?.subject ?? "a question";
      return `${row.pane.id} asks: ${question.split("\n")[0]?.slice(0, FIRST_LINE)}`;
    });
    if (texts.length > 0) announce(texts.join(". "));
  });
}
