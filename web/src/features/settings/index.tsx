/** Look, alerts, devices and keys. */
import { EmptyState } from "../../ui";

export default function SettingsPage() {
  return <EmptyState title="Settings">This page is not built yet.</EmptyState>;
}
