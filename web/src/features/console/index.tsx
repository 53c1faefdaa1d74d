/** Every action, with a form from its schema. */
import { EmptyState } from "../../ui";

export default function ConsolePage() {
  return <EmptyState title="Console">This page is not built yet.</EmptyState>;
}
