/** What the grid shows, as it is in the address. */
import { useMemo } from "react";
import { navigate, useQuery, withQuery } from "../../lib/route";
import { triageRows, useApp } from "../../state/store";
import { parseIds } from "./order";

export interface GridState {
  ids: readonly string[];
  /** The tile that fills the grid. */
  zoomed: string | null;
  isCompare: boolean;
  isWhole: boolean;
  set(change: Partial<Pick<GridState, "ids" | "zoomed" | "isCompare" | "isWhole">>): void;
}

/** Without a choice, as many panes are shown as can be watched at a glance. */
const USUAL = 6;

export function useGrid(): GridState {
  const query = useQuery();
  return useMemo(() => {
    const state = {
      ids: parseIds(query.get("p")),
      zoomed: query.get("z"),
      isCompare: query.has("compare"),
      isWhole: query.has("whole"),
    };
    const set: GridState["set"] = (change) => {
      const next = { ...state, ...change };
      const path = withQuery("/grid", {
        p: next.ids.join(","),
        z: next.zoomed,
        compare: next.isCompare ? 1 : null,
        whole: next.isWhole ? 1 : null,
      });
      // "Back" leaves a zoomed tile; the order of tiles is no step.
      navigate(path, { replace: change.zoomed === undefined || change.zoomed === null });
    };
    return { ...state, set };
  }, [query]);
}

/** The panes that are shown first: those that need the user, then those that run. */
export function usualIds(): string[] {
  const rows = triageRows(useApp.getState());
  const living = rows.filter(({ pane }) => pane.status === "running");
  return (living.length > 0 ? living : rows).slice(0, USUAL).map(({ pane }) => pane.id);
}
