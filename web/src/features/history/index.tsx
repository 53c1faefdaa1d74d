/** The output of a pane as lines, also of what its emulator no longer holds. */
import type { PaneInfo } from "../../api/generated";
import { EmptyState } from "../../ui";

export default function HistoryView({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  return <EmptyState title="History">{pane.id}: this view is not built yet.</EmptyState>;
}
