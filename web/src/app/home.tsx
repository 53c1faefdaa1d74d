/** The list of panes and the pane that is open; on phones one of the two. */
import { lazy, type PointerEvent, Suspense, useRef, useState } from "react";
import type { PaneInfo } from "../api/generated";
import { AnswerButtons } from "../features/approve/answer-buttons";
import { AnswerKeys } from "../features/approve/answer-keys";
import { SelectionBar } from "../features/manage/selection-bar";
import { TriageList } from "../features/triage";
import { prefer, usePreferences } from "../lib/preferences";
import { navigate, type PaneTab, panePath } from "../lib/route";
import { EmptyState, Kbd } from "../ui";
import styles from "./home.module.css";
import { PanePage } from "./pane-page";
import { PlacesMenu } from "./places-menu";

const BroadcastDialog = lazy(() => import("../features/compose/broadcast-dialog"));

export interface HomeProps {
  pane: { id: string; tab: PaneTab } | null;
  isPhone: boolean;
  isWide: boolean;
}

export function Home({ pane, isPhone, isWide }: HomeProps) {
  const width = usePreferences((state) => state.listWidth);
  const [prompted, setPrompted] = useState<PaneInfo[] | null>(null);
  const list = (
    <div className={styles.column}>
      <TriageList
        selected={pane?.id ?? null}
        onOpen={(id) => navigate(panePath(id))}
        renderAnswers={(row) => <AnswerButtons row={row} />}
        menu={isWide || isPhone ? null : <PlacesMenu />}
      />
      <SelectionBar current={pane?.id ?? null} onPrompt={setPrompted} />
      {prompted && (
        <Suspense fallback={null}>
          <BroadcastDialog panes={prompted} onClose={() => setPrompted(null)} />
        </Suspense>
      )}
    </div>
  );
  if (isPhone) {
    // The list stays below the pane, so that its scroll position is there on the way back.
    return (
      <>
        <AnswerKeys pane={pane?.id ?? null} />
        <div className={styles.phoneList} hidden={pane !== null}>
          {list}
        </div>
        {pane && <PanePage key={pane.id} id={pane.id} tab={pane.tab} isPhone />}
      </>
    );
  }
  const listWidth = isWide ? width : 300;
  return (
    <>
      <AnswerKeys pane={pane?.id ?? null} />
      <div className={styles.list} style={{ width: listWidth }}>
        {list}
      </div>
      {isWide && <Separator width={width} />}
      {pane ? (
        <PanePage key={pane.id} id={pane.id} tab={pane.tab} isPhone={false} />
      ) : (
        <EmptyState title="No pane is open">
          <p>
            Choose one from the list, or press <Kbd chord="C+." /> for the next one that needs you.
          </p>
        </EmptyState>
      )}
    </>
  );
}

const NARROWEST = 280;
const WIDEST = 520;

/** Between list and pane: dragged, or moved with the arrow keys. */
function Separator({ width }: { width: number }) {
  const from = useRef<number | null>(null);
  const set = (next: number) =>
    prefer({ listWidth: Math.round(Math.min(WIDEST, Math.max(NARROWEST, next))) });
  const moved = (event: PointerEvent) => from.current !== null && set(event.clientX - from.current);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a separator with a value is a widget, `hr` is not
    <div
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Width of the list"
      aria-valuenow={width}
      aria-valuemin={NARROWEST}
      aria-valuemax={WIDEST}
      className={styles.separator}
      onPointerDown={(event) => {
        from.current = event.clientX - width;
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={moved}
      onLostPointerCapture={() => {
        from.current = null;
      }}
      onDoubleClick={() => set(360)}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") set(width - 16);
        if (event.key === "ArrowRight") set(width + 16);
      }}
    />
  );
}
