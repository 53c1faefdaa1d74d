/** One search over the output of all panes, living and ended. */
import { EmptyState } from "../../ui";

export default function FindPage() {
  return <EmptyState title="Find">This page is not built yet.</EmptyState>;
}
