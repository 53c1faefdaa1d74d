/** The live terminal of a pane. */
import type { PaneInfo } from "../../api/generated";
import { EmptyState } from "../../ui";

export default function TerminalTab({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  return <EmptyState title="Terminal">{pane.id}: this view is not built yet.</EmptyState>;
}
