/** The live terminal of a pane. Another life of its name is never mixed into it. */
import { useRef, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { LiveTerminal } from "./live-terminal";

export default function TerminalTab({ pane, isPhone }: { pane: PaneInfo; isPhone: boolean }) {
  const [instance, setInstance] = useState(pane.instance);
  /** The life that is shown, as it was last known. */
  const shown = useRef(pane);
  if (pane.instance === instance) shown.current = pane;
  return (
    <LiveTerminal
      key={instance}
      pane={pane}
      shown={shown.current}
      isPhone={isPhone}
      onShowNew={() => setInstance(pane.instance)}
    />
  );
}
