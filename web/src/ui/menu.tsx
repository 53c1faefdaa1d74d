/** A button that opens a menu. The menu itself is loaded when the button is about to be used. */
import {
  lazy,
  type ReactElement,
  type ReactNode,
  type Ref,
  Suspense,
  useRef,
  useState,
} from "react";

export interface MenuItem {
  label: string;
  icon?: ReactNode;
  chord?: string;
  danger?: boolean;
  disabled?: boolean;
  /** A mark for the present choice. */
  checked?: boolean;
  onSelect: () => void;
}

/** Groups of items, with a line between them. */
export type MenuGroups = readonly (readonly MenuItem[])[];

export interface MenuProps {
  groups: MenuGroups;
  /** Draws the button with these properties. */
  trigger: (properties: TriggerProps) => ReactElement;
}

export interface TriggerProps {
  ref: Ref<HTMLButtonElement>;
  onClick: () => void;
  onPointerEnter: () => void;
  onFocus: () => void;
  "aria-haspopup": "menu";
  "aria-expanded": boolean;
}

const load = () => import("./menu-popup");
const Popup = lazy(load);

export function Menu({ groups, trigger }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      {trigger({
        ref: button,
        onClick: () => setOpen((before) => !before),
        onPointerEnter: () => void load(),
        onFocus: () => void load(),
        "aria-haspopup": "menu",
        "aria-expanded": isOpen,
      })}
      {isOpen && (
        <Suspense fallback={null}>
          <Popup groups={groups} anchor={button} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
