/** The live terminal of a pane. Another life of its name is never mixed into it. */
import { useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { LiveTerminal } from "./live-terminal";

export default function TerminalTab({ pane, isPhone }: { pane: PaneInfo; isPhone: boolean }) {
  const [shown, setShown] = useState(pane);
  return (
    <LiveTerminal
      key={shown.instance}
      pane={pane}
      shown={pane.instance === shown.instance ? pane : shown}
      isPhone={isPhone}
      onShowNew={() => setShown(pane)}
    />
  );
}
