/** Opens the dialog for a new agent or pane, which is loaded when it is first asked for. */
import { lazy, Suspense, useState } from "react";
import { useCommand } from "../lib/commands";
import { paneOf } from "../lib/route";
import { useApp } from "../state/store";

const CreateDialog = lazy(() => import("../features/create"));

export function CreateSlot() {
  const [isOpen, setOpen] = useState(false);
  useCommand("new", () => setOpen(true));
  if (!isOpen) return null;
  const open = paneOf(location.hash.slice(1))?.id;
  const folder = open ? useApp.getState().panes.get(open)?.cwd : null;
  return (
    <Suspense fallback={null}>
      <CreateDialog folder={folder ?? null} onClose={() => setOpen(false)} />
    </Suspense>
  );
}
