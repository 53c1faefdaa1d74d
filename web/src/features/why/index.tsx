/** The evidence behind an agent's state, in sentences. */
import type { PaneInfo } from "../../api/generated";
import { EmptyState } from "../../ui";

export default function WhyView({ pane }: { pane: PaneInfo; isPhone: boolean }) {
  return <EmptyState title="Why">{pane.id}: this view is not built yet.</EmptyState>;
}
