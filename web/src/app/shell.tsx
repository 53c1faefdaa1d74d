/** The frame of the page: rail, list and pane on wide windows, one of them on phones. */
import { useLocation } from "wouter";
import { AwayBanner } from "../features/away";
import { useMedia } from "../lib/hooks";
import { paneOf } from "../lib/route";
import { ConnectionBanner } from "./connection-banner";
import { ErrorBoundary } from "./error-boundary";
import { Home } from "./home";
import { Rail } from "./rail";
import { PageView, pageOf } from "./routes";
import styles from "./shell.module.css";
import { TabBar } from "./tab-bar";
import { TopBar } from "./top-bar";
import { useGlobalCommands } from "./use-global-commands";

export function Shell() {
  const [path] = useLocation();
  const isWide = useMedia("(min-width: 1200px)");
  const isPhone = useMedia("(max-width: 699px)");
  useGlobalCommands();
  const page = pageOf(path);
  const pane = paneOf(path);
  return (
    <div className={styles.shell}>
      {isWide && <Rail current={page} />}
      <div className={styles.column}>
        <ConnectionBanner />
        <AwayBanner />
        {page && !isWide && <TopBar page={page} isPhone={isPhone} />}
        <main className={styles.main}>
          <ErrorBoundary key={page ?? path}>
            {page ? (
              <PageView name={page} />
            ) : (
              <Home pane={pane} isPhone={isPhone} isWide={isWide} />
            )}
          </ErrorBoundary>
        </main>
        {isPhone && !pane && <TabBar current={page} />}
      </div>
    </div>
  );
}
