/** The part of a dialog that is loaded when one opens: focus, Escape and the layer above. */
import { Dialog } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { IconButton } from "./button";
import { cx } from "./class-names";
import type { DialogProps } from "./dialog";
import styles from "./overlay.module.css";

export default function DialogPopup(props: DialogProps) {
  const { open, onClose, title, description, children, actions, look = "dialog", width } = props;
  const { initialFocus } = props;
  const focus = initialFocus && {
    initialFocus: (opened: string) => (opened === "touch" ? true : initialFocus.current),
  };
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className={styles.backdrop} />
        <Dialog.Popup
          className={cx(styles.popup, styles[look])}
          style={width ? { maxWidth: width } : undefined}
          {...focus}
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
          <div className={styles.body}>{children}</div>
          {actions && <footer className={styles.foot}>{actions}</footer>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
