/** The field for prompts, and the receipts of those that were sent. */
import type { PaneInfo } from "../../api/generated";

/** Nothing for panes without an agent. */
export function Composer(_: { pane: PaneInfo; isPhone: boolean }) {
  return null;
}
