/** The line below a terminal: its size and who holds it, the connection, the way out. */
import type { PaneInfo } from "../../api/generated";
import { useNow } from "../../lib/hooks";
import { useApp } from "../../state/store";
import { Button, Kbd } from "../../ui";
import type { TerminalLink } from "./emulator";
import styles from "./pane.module.css";
import type { SizeState } from "./use-size";

export interface TerminalFootProps {
  pane: PaneInfo;
  size: SizeState;
  /** The link under the pointer. */
  link: TerminalLink | null;
  isPhone: boolean;
}

export function TerminalFoot({ pane, size, link, isPhone }: TerminalFootProps) {
  const { cols, rows } = pane.size;
  return (
    <footer className={styles.foot}>
      <span className={styles.size}>
        {cols}×{rows}
      </span>
      <span className={styles.reason}>{size.error ?? size.reason}</span>
      {size.canFit && (
        <Button size="small" tone="quiet" onClick={() => size.claim(false)}>
          Fit
        </Button>
      )}
      {size.canTake && (
        <Button size="small" tone="quiet" onClick={() => size.claim(true)}>
          Take
        </Button>
      )}
      {size.canRelease && (
        <Button size="small" tone="quiet" onClick={size.release}>
          Release
        </Button>
      )}
      <span className={styles.link}>{link?.address}</span>
      <ConnectionBadge />
      {!isPhone && (
        <span className={styles.leave}>
          <Kbd chord="C+L" /> leaves
        </span>
      )}
    </footer>
  );
}

/** The state of the connection, with its latency. */
export function ConnectionBadge() {
  const connection = useApp((state) => state.connection);
  if (connection.state === "open") {
    const latency = connection.latencyMs === null ? "connected" : `${connection.latencyMs} ms`;
    return (
      <span
        className={styles.badge}
        data-state="open"
        title="Connected; time to the server and back"
      >
        <span className={styles.badgeDot} />
        {latency}
      </span>
    );
  }
  const retryAt = connection.state === "waiting" ? connection.retryAt : null;
  return (
    <span className={styles.badge} data-state="lost">
      <span className={styles.badgeRing} />
      <Reconnecting retryAt={retryAt} />
    </span>
  );
}

function Reconnecting({ retryAt }: { retryAt: number | null }) {
  const now = useNow();
  const seconds = retryAt ? Math.ceil((retryAt - now) / 1000) : 0;
  return <>{seconds > 0 ? `reconnecting in ${seconds} s` : "reconnecting…"}</>;
}
