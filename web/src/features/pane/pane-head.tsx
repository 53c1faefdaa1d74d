/** The head of a pane: state, name, what runs where, and its tabs. */
import type { PaneInfo } from "../../api/generated";
import type { PaneTab } from "../../lib/route";

export function PaneHead({ pane }: { pane: PaneInfo; tab: PaneTab; isPhone: boolean }) {
  return <header>{pane.id}</header>;
}
