/** The part of a tooltip that is loaded at the first one. */
import { Tooltip } from "@base-ui/react/tooltip";
import styles from "./overlay.module.css";
import { Kbd } from "./small";

export default function TooltipPopup({ anchor }: { anchor: HTMLElement }) {
  const { tip, chord } = anchor.dataset;
  return (
    <Tooltip.Root open>
      <Tooltip.Portal>
        <Tooltip.Positioner
          className={styles.layer}
          anchor={anchor}
          sideOffset={6}
          collisionPadding={8}
        >
          <Tooltip.Popup className={styles.tooltip}>
            {tip}
            {chord && <Kbd chord={chord} />}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
