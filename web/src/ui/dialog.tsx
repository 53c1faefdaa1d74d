/** A dialog in the middle and a sheet at an edge. What they need is loaded when one opens. */
import { lazy, type ReactNode, type RefObject, Suspense } from "react";

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
  /** What has the focus first, except after a touch; the first control without it. */
  initialFocus?: RefObject<HTMLElement | null>;
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
