/** The panes that were chosen in the list for one action on all of them. */
import { create } from "zustand";
import { useApp } from "./store";

export interface Selection {
  /** Whether rows can be chosen now. */
  isOn: boolean;
  ids: ReadonlySet<string>;
}

export const noSelection: Selection = { isOn: false, ids: new Set() };

export const useSelection = create<Selection>(() => noSelection);

/** Chooses a pane, or no longer. Pure. */
export function toggled(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { isOn: true, ids };
}

export function toggleSelected(id: string): void {
  useSelection.setState((state) => toggled(state, id));
}

export function select(ids: Iterable<string>): void {
  useSelection.setState({ isOn: true, ids: new Set(ids) });
}

export function clearSelection(): void {
  useSelection.setState(noSelection);
}

/** The chosen panes that still exist. */
export function selectedPanes() {
  const { panes } = useApp.getState();
  return [...useSelection.getState().ids].flatMap((id) => panes.get(id) ?? []);
}
