/** The menu of a pane for renaming, tags, restarting and ending it, and the dialogs behind it. */
import { CircleX, PencilLine, RotateCcw, Tag, Trash2 } from "lucide-react";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import type { MenuGroups } from "../../ui";
import type { Verb } from "./batch";

const ManageDialog = lazy(() => import("./manage-dialog"));

export type ManageStep = Verb | "rename" | "tags";

export function useManageMenu(pane: PaneInfo | null): { groups: MenuGroups; dialog: ReactNode } {
  const [open, setOpen] = useState<{ step: ManageStep; pane: PaneInfo } | null>(null);
  if (!pane) return { groups: [], dialog: null };
  const isAlive = pane.status === "running" || pane.status === "starting";
  const item = (step: ManageStep, label: string, icon: ReactNode, danger = false) => ({
    label,
    icon,
    danger,
    onSelect: () => setOpen({ step, pane }),
  });
  const change = [
    item("rename", "Rename…", <PencilLine />),
    item("tags", "Tags…", <Tag />),
    item("restart", "Restart…", <RotateCcw />),
  ];
  const end = isAlive
    ? [item("kill", "Kill…", <CircleX />, true), item("close", "Close…", <Trash2 />, true)]
    : [item("remove", "Remove…", <Trash2 />, true)];
  const dialog = open && (
    <Suspense fallback={null}>
      <ManageDialog step={open.step} panes={[open.pane]} onClose={() => setOpen(null)} />
    </Suspense>
  );
  return { groups: [change, end], dialog };
}
