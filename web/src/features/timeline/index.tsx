/** The event stream with filters. */
import { EmptyState } from "../../ui";

export default function TimelinePage() {
  return <EmptyState title="Timeline">This page is not built yet.</EmptyState>;
}
