/** The list of panes in the order of who needs the user. */
import type { ReactNode } from "react";
import type { TriageRow } from "../../state/needs";
import { useTriageRows } from "../../state/store";

export interface TriageListProps {
  selected: string | null;
  onOpen: (id: string) => void;
  /** The answer buttons of a row that asks. */
  renderAnswers: (row: TriageRow) => ReactNode;
  /** The menu of places, where there is no rail. */
  menu: ReactNode;
}

export function TriageList({ onOpen, renderAnswers, menu }: TriageListProps) {
  const rows = useTriageRows();
  return (
    <div>
      {menu}
      {rows.map((row) => (
        <div key={row.pane.instance}>
          <button type="button" onClick={() => onOpen(row.pane.id)}>
            {row.pane.id} {row.state.word}
          </button>
          {row.need === "needs-you" && renderAnswers(row)}
        </div>
      ))}
    </div>
  );
}
