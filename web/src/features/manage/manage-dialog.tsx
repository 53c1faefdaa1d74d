/** The dialog of one step of managing panes; loaded when the first one opens. */
import type { PaneInfo } from "../../api/generated";
import { socket } from "../../state/sync";
import { tagChange } from "./batch";
import { EndDialog } from "./end-dialog";
import { TagsDialog } from "./tags-dialog";
import { TextDialog } from "./text-dialog";
import type { ManageStep } from "./use-manage-menu";

export interface ManageDialogProps {
  step: ManageStep;
  panes: readonly PaneInfo[];
  onClose: () => void;
}

export default function ManageDialog({ step, panes, onClose }: ManageDialogProps) {
  const [pane] = panes;
  if (!pane) return null;
  const paneId = pane.id;
  if (step === "rename") {
    return (
      <TextDialog
        title={`Rename ${paneId}`}
        label="Title"
        hint="Titles that the program sets are ignored from then on."
        start={pane.title}
        onSave={(title) => socket.call("pane:rename", { paneId, title: title.trim() })}
        onClose={onClose}
      />
    );
  }
  if (step === "tags" && panes.length > 1) return <TagsDialog panes={panes} onClose={onClose} />;
  if (step === "tags") {
    return (
      <TextDialog
        title={`Tags of ${paneId}`}
        label="Tags"
        hint="Separated by commas or blanks"
        start={pane.tags.join(", ")}
        allowsEmpty
        onSave={(text) => socket.call("pane:tag", { paneId, ...tagChange(pane.tags, text) })}
        onClose={onClose}
      />
    );
  }
  return <EndDialog verb={step} panes={panes} onClose={onClose} />;
}
