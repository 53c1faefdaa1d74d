/** Opens the command palette, which is loaded when it is first asked for. */
import { lazy, Suspense, useState } from "react";
import { useCommand } from "../lib/commands";

const Palette = lazy(() => import("./palette"));

export function PaletteSlot() {
  const [isOpen, setOpen] = useState(false);
  useCommand("palette", () => setOpen((before) => !before));
  if (!isOpen) return null;
  return (
    <Suspense fallback={null}>
      <Palette onClose={() => setOpen(false)} />
    </Suspense>
  );
}
