/** Says that the server cannot be reached, and when the page tries again. Calm: panes keep running. */
import { useDelayed, useNow } from "../lib/hooks";
import { useApp } from "../state/store";
import { socket } from "../state/sync";
import { Banner, Button } from "../ui";
import styles from "./shell.module.css";

export function ConnectionBanner() {
  const connection = useApp((state) => state.connection);
  if (connection.state === "open" || connection.state === "signed-out") return null;
  return <Lost retryAt={connection.state === "waiting" ? connection.retryAt : null} />;
}

function Lost({ retryAt }: { retryAt: number | null }) {
  const now = useNow();
  // A reconnect that takes a moment needs no words.
  if (!useDelayed(1_500)) return null;
  const seconds = retryAt ? Math.max(0, Math.ceil((retryAt - now) / 1000)) : 0;
  const when = seconds > 0 ? `Next attempt in ${seconds} s.` : "Connecting…";
  const retry = (
    <Button size="small" onClick={() => socket.connect()}>
      Connect now
    </Button>
  );
  return (
    <div className={styles.notice}>
      <Banner tone="warning" actions={retry}>
        No connection to paned. Panes keep running; what you see may be old. {when}
      </Banner>
    </div>
  );
}
