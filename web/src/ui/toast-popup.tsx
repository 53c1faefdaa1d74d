/** The part of toasts that is loaded with the first of them. */
import { Toast } from "@base-ui/react/toast";
import { X } from "lucide-react";
import { useEffect } from "react";
import { IconButton } from "./button";
import { cx } from "./class-names";
import styles from "./overlay.module.css";
import { taken, useNotes } from "./toast";

export default function ToastPopup() {
  return (
    <Toast.Provider limit={3}>
      <Notes />
    </Toast.Provider>
  );
}

function Notes() {
  const notes = useNotes();
  const { toasts, add } = Toast.useToastManager();
  useEffect(() => {
    if (notes.length === 0) return;
    for (const { title, description, tone = "plain", action } of notes) {
      const more = action ? { actionProps: { children: action.label, onClick: action.run } } : {};
      add({ title, description, type: tone, ...more });
    }
    taken(new Set(notes.map((note) => note.id)));
  }, [notes, add]);
  return (
    <Toast.Portal>
      <Toast.Viewport className={styles.toasts}>
        {toasts.map((item) => (
          <Toast.Root
            key={item.id}
            toast={item}
            className={cx(styles.toast, item.type === "danger" && styles.toastDanger)}
          >
            <Toast.Content className={styles.toastContent}>
              <div className={styles.toastText}>
                <Toast.Title className={styles.toastTitle} />
                <Toast.Description className={styles.description} />
              </div>
              {item.actionProps && <Toast.Action className={styles.toastAction} />}
              <Toast.Close
                render={
                  <IconButton label="Close">
                    <X />
                  </IconButton>
                }
              />
            </Toast.Content>
          </Toast.Root>
        ))}
      </Toast.Viewport>
    </Toast.Portal>
  );
}
