/** The shape of a receipt. */
import {
  Ban,
  Check,
  CircleQuestionMark,
  Ellipsis,
  Hand,
  ListEnd,
  type LucideIcon,
  TextCursorInput,
  TriangleAlert,
  Undo2,
} from "lucide-react";
import type { ReceiptState } from "../../state/receipts";

const ICONS: Record<ReceiptState, LucideIcon> = {
  sending: Ellipsis,
  submitted: Check,
  queued: ListEnd,
  held: Hand,
  drafted: TextCursorInput,
  refused: Ban,
  unknown: CircleQuestionMark,
  failed: TriangleAlert,
  cancelled: Undo2,
};

export function ReceiptIcon({ state }: { state: ReceiptState }) {
  const Icon = ICONS[state];
  return <Icon size={14} aria-hidden />;
}
