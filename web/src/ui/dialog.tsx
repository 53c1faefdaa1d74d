/** A dialog in the middle and a sheet at an edge. What they need is loaded when one opens. */
import { lazy, type ReactNode, Suspense } from "react";

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  children: ReactNode;
  /** Buttons, fixed below what scrolls. */
  actions?: ReactNode;
  /** `sheet` comes from the bottom on phones and from the side elsewhere. */
  look?: "dialog" | "sheet";
  /** Pixels. */
  width?: number;
}

const Popup = lazy(() => import("./dialog-popup"));

export function Dialog(props: DialogProps) {
  if (!props.open) return null;
  return (
    <Suspense fallback={null}>
      <Popup {...props} />
    </Suspense>
  );
}

export function Sheet(props: Omit<DialogProps, "look">) {
  return <Dialog look="sheet" {...props} />;
}
