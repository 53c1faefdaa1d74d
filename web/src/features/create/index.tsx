/** The dialog for a new agent or a new pane. */
import { Dialog } from "../../ui";

export default function CreateDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="New" width={640}>
      <p>This dialog is not built yet.</p>
    </Dialog>
  );
}
