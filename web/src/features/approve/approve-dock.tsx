/** The question of an agent, docked below its terminal. */
import type { PaneInfo } from "../../api/generated";

export function ApproveDock(_: { pane: PaneInfo }) {
  return null;
}
