/** The list of panes in the order of who needs the user. */
import { type ReactNode, useDeferredValue, useMemo, useState } from "react";
import { usePreferences } from "../../lib/preferences";
import { NEED_LABELS, type TriageRow } from "../../state/needs";
import { useApp, useTriageRows } from "../../state/store";
import { NoMatch } from "./empty";
import { filterRows } from "./filter";
import { itemsOf } from "./items";
import { ListHead } from "./list-head";
import { Rows } from "./rows";
import styles from "./triage.module.css";

export interface TriageListProps {
  selected: string | null;
  onOpen: (id: string) => void;
  /** The answer buttons of a row that asks. */
  renderAnswers: (row: TriageRow) => ReactNode;
  /** The menu of places, where there is no rail. */
  menu: ReactNode;
  /** What stands in the list when there are no panes. */
  empty: ReactNode;
}

export function TriageList({ selected, onOpen, renderAnswers, menu, empty }: TriageListProps) {
  const rows = useTriageRows();
  const isLoaded = useApp((state) => state.isLoaded);
  const grouping = usePreferences((state) => state.grouping);
  const [filter, setFilter] = useState("");
  const applied = useDeferredValue(filter);
  const found = useMemo(() => filterRows(rows, applied), [rows, applied]);
  const items = useMemo(() => itemsOf(found, grouping), [found, grouping]);
  return (
    <nav className={styles.triage} aria-label="Panes">
      {selected === null && <h1 className="sr-only">Panes</h1>}
      <ListHead filter={filter} onFilter={setFilter} menu={menu} />
      {rows.length > 0 && <Quiet rows={rows} />}
      {isLoaded && rows.length === 0 && empty}
      {rows.length > 0 && found.length === 0 && (
        <NoMatch filter={applied} onClear={() => setFilter("")} />
      )}
      {found.length > 0 && (
        <Rows
          items={items}
          reason={`${grouping} ${applied}`}
          selected={selected}
          onOpen={onOpen}
          renderAnswers={renderAnswers}
        />
      )}
    </nav>
  );
}

/** One line when nothing needs the user. */
function Quiet({ rows }: { rows: readonly TriageRow[] }) {
  if (rows.some((row) => row.need === "needs-you")) return null;
  const working = rows.filter((row) => row.need === "busy").length;
  const more = working > 0 ? ` ${working} ${NEED_LABELS.busy.toLowerCase()}.` : "";
  return <p className={styles.quiet}>Nothing needs you.{more}</p>;
}
