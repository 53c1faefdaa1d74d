/** A pane at any kept moment. */
import type { PaneInfo } from "../../api/generated";
import { EmptyState } from "../../ui";

export default function ReplayView({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  return <EmptyState title="Replay">{pane.id}: this view is not built yet.</EmptyState>;
}
