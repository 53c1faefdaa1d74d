/** Watch 2 to 16 panes at once. */
import { EmptyState } from "../../ui";

export default function GridPage() {
  return <EmptyState title="Grid">This page is not built yet.</EmptyState>;
}
