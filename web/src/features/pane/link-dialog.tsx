/** Shows where a link leads before it is opened: after a tap, or when its text names another host. */
import { Button, Dialog } from "../../ui";
import type { TerminalLink } from "./emulator";
import { isMisleading, webAddress } from "./link-guard";
import styles from "./pane.module.css";

export function openAddress(address: string): void {
  window.open(address, "_blank", "noopener,noreferrer");
}

export function LinkDialog({ link, onClose }: { link: TerminalLink; onClose: () => void }) {
  const url = webAddress(link);
  const copy = () => void navigator.clipboard?.writeText(link.address).then(onClose, () => {});
  const actions = (
    <>
      <Button onClick={copy}>Copy</Button>
      {url && (
        <Button
          tone="primary"
          onClick={() => {
            openAddress(url.href);
            onClose();
          }}
        >
          Open
        </Button>
      )}
    </>
  );
  return (
    <Dialog open onClose={onClose} title="Open this link?" actions={actions}>
      <code className={styles.address}>{link.address}</code>
      {isMisleading(link) && (
        <p className={styles.warn}>The text on the screen says: {link.label}</p>
      )}
      {!url && <p className={styles.warn}>Only addresses of the web can be opened here.</p>}
    </Dialog>
  );
}
