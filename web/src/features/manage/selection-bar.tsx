/** The bar below the list for the panes that were chosen in it. */
import { CircleX, MessageSquare, Tag, Trash2, X } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useCommand } from "../../lib/commands";
import {
  clearSelection,
  select,
  selectedPanes,
  toggleSelected,
  useSelection,
} from "../../state/selection";
import { triageRows, useApp } from "../../state/store";
import { Button, IconButton } from "../../ui";
import styles from "./manage.module.css";
import type { ManageStep } from "./use-manage-menu";

const ManageDialog = lazy(() => import("./manage-dialog"));

export interface SelectionBarProps {
  /** The open pane, which `x` chooses when no row has the focus. */
  current: string | null;
  onPrompt: (panes: PaneInfo[]) => void;
}

export function SelectionBar({ current, onPrompt }: SelectionBarProps) {
  const { isOn, ids } = useSelection();
  const [open, setOpen] = useState<{ step: ManageStep; panes: PaneInfo[] } | null>(null);
  useCommand("select", () => {
    const row = document.activeElement?.closest<HTMLElement>("[data-row]")?.dataset.row ?? current;
    if (row) toggleSelected(row);
  });
  useEscape(isOn && open === null);
  const count = ids.size;
  const start = (step: ManageStep) => setOpen({ step, panes: selectedPanes() });
  const selectAll = () => select(triageRows(useApp.getState()).map((row) => row.pane.id));
  return (
    <>
      {isOn && (
        <div className={styles.bar} role="toolbar" aria-label="Chosen panes">
          <span className={styles.count}>{count} chosen</span>
          {count === 0 && (
            <Button size="small" tone="quiet" onClick={selectAll}>
              All
            </Button>
          )}
          <span className={styles.spread} />
          <IconButton
            label="Prompt them"
            disabled={!count}
            onClick={() => onPrompt(selectedPanes())}
          >
            <MessageSquare />
          </IconButton>
          <IconButton label="Tags" disabled={!count} onClick={() => start("tags")}>
            <Tag />
          </IconButton>
          <IconButton label="Kill" disabled={!count} onClick={() => start("kill")}>
            <CircleX />
          </IconButton>
          <IconButton label="Close and delete" disabled={!count} onClick={() => start("close")}>
            <Trash2 />
          </IconButton>
          <IconButton label="End the selection" onClick={clearSelection}>
            <X />
          </IconButton>
        </div>
      )}
      {open && (
        <Suspense fallback={null}>
          <ManageDialog {...open} onClose={() => setOpen(null)} />
        </Suspense>
      )}
    </>
  );
}

/** Escape ends the selection, unless something above the list takes it. */
function useEscape(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const pressed = (event: KeyboardEvent) => {
      const isInList = event.target === document.body || isRow(event.target);
      if (event.key === "Escape" && isInList) clearSelection();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, [isOn]);
}

const isRow = (target: EventTarget | null) =>
  target instanceof Element && target.closest("[data-row]") !== null;
