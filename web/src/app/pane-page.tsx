/** One pane: its head, the open tab, and what features dock below the terminal. */
import { lazy, Suspense } from "react";
import type { PaneInfo } from "../api/generated";
import { ApproveDock } from "../features/approve/approve-dock";
import { Composer } from "../features/compose";
import { useManageMenu } from "../features/manage/use-manage-menu";
import { PaneHead } from "../features/pane/pane-head";
import { useSeen } from "../features/pane/use-seen";
import { useCommand } from "../lib/commands";
import { navigate, type PaneTab, panePath } from "../lib/route";
import { useApp, usePane } from "../state/store";
import { Button, EmptyState } from "../ui";
import styles from "./pane-page.module.css";
import { Loading } from "./routes";
import { useTellItem } from "./use-tell-item";

const terminal = () => import("../features/pane");

/** Loads the terminal before a pane is opened. */
export function preloadTerminal(): void {
  void terminal();
}

const TABS = {
  terminal: lazy(terminal),
  history: lazy(() => import("../features/history")),
  replay: lazy(() => import("../features/replay")),
  why: lazy(() => import("../features/why")),
};

export function PanePage({ id, tab, isPhone }: { id: string; tab: PaneTab; isPhone: boolean }) {
  const pane = usePane(id);
  const isLoaded = useApp((state) => state.isLoaded);
  const manage = useManageMenu(pane);
  useCommand("why", () => navigate(panePath(id, "why")));
  useCommand("replay", () => navigate(panePath(id, "replay")));
  const tell = useTellItem(pane);
  if (!pane) return isLoaded ? <NoPane id={id} /> : <div className={styles.page} />;
  const View = TABS[tab];
  return (
    <section className={styles.page} aria-label={`Pane ${id}`}>
      <Seen pane={pane} />
      <PaneHead pane={pane} tab={tab} isPhone={isPhone} actions={[[tell], ...manage.groups]} />
      <div className={styles.view}>
        <Suspense fallback={<Loading />}>
          <View pane={pane} isPhone={isPhone} />
        </Suspense>
      </div>
      {tab === "terminal" && (
        <>
          <ApproveDock pane={pane} />
          <Composer pane={pane} isPhone={isPhone} />
        </>
      )}
      {manage.dialog}
    </section>
  );
}

/** Clears the mark of the pane that is looked at. */
function Seen({ pane }: { pane: PaneInfo }) {
  useSeen(pane);
  return null;
}

function NoPane({ id }: { id: string }) {
  return (
    <EmptyState
      title={`There is no pane ${id}`}
      actions={<Button onClick={() => navigate("/")}>Back to the list</Button>}
    >
      <p>It was removed, or its name was mistyped.</p>
    </EmptyState>
  );
}
