/** The part of a dialog that is loaded when one opens: focus, Escape and the layer above. */
import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { useRef } from "react";
import { IconButton } from "./button";
import { cx } from "./class-names";
import type { DialogProps } from "./dialog";
import styles from "./overlay.module.css";

/** What gets the focus first: not the button that closes the dialog. */
const FIELDS = "input, textarea, select, [tabindex='0'], button";

export default function DialogPopup(props: DialogProps) {
  const { open, onClose, title, description, children, actions, look = "dialog", width } = props;
  const body = useRef<HTMLDivElement>(null);
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup
          initialFocus={() => body.current?.querySelector<HTMLElement>(FIELDS) ?? true}
          className={cx(styles.popup, styles[look])}
          style={width ? { maxWidth: width } : undefined}
        >
          <header className={styles.head}>
            <Dialog.Title className={styles.title}>{title}</Dialog.Title>
            <Dialog.Close
              render={
                <IconButton label="Close">
                  <X />
                </IconButton>
              }
            />
          </header>
          {description && (
            <Dialog.Description className={styles.description}>{description}</Dialog.Description>
          )}
          <div ref={body} className={styles.body}>
            {children}
          </div>
          {actions && <footer className={styles.foot}>{actions}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
