/** The part of a menu that is loaded on intent. */
import { Menu } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import { Fragment, type RefObject } from "react";
import { cx } from "./class-names";
import type { MenuGroups, MenuItem } from "./menu";
import styles from "./overlay.module.css";
import { Kbd } from "./small";

export interface MenuPopupProps {
  groups: MenuGroups;
  anchor: RefObject<HTMLElement | null>;
  onClose: () => void;
}

export default function MenuPopup({ groups, anchor, onClose }: MenuPopupProps) {
  const filled = groups.filter((group) => group.length > 0);
  return (
    <Menu.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Menu.Portal>
        <Menu.Positioner
          className={styles.layer}
          anchor={anchor}
          align="end"
          sideOffset={4}
          collisionPadding={8}
        >
          <Menu.Popup className={styles.menu} finalFocus={anchor}>
            {filled.map((group, index) => (
              <Fragment key={group[0]?.label}>
                {index > 0 && <Menu.Separator className={styles.separator} />}
                {group.map((item) => (
                  <Item key={item.label} item={item} />
                ))}
              </Fragment>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

function Item({ item }: { item: MenuItem }) {
  return (
    <Menu.Item
      className={cx(styles.item, item.danger && styles.dangerous)}
      disabled={item.disabled ?? false}
      onClick={item.onSelect}
    >
      <span className={styles.itemIcon}>{item.checked ? <Check /> : item.icon}</span>
      <span className={styles.itemLabel}>{item.label}</span>
      {item.chord && <Kbd chord={item.chord} />}
    </Menu.Item>
  );
}
