/** The list of panes and the pane that is open; on phones one of the two. */
import { type PointerEvent, useRef } from "react";
import { AnswerButtons } from "../features/approve/answer-buttons";
import { TriageList } from "../features/triage";
import { NoPanes } from "../features/triage/empty";
import { prefer, usePreferences } from "../lib/preferences";
import { navigate, type PaneTab, panePath } from "../lib/route";
import { useApp } from "../state/store";
import { EmptyState, Kbd } from "../ui";
import styles from "./home.module.css";
import { PanePage, preloadTerminal } from "./pane-page";
import { PlacesMenu } from "./places-menu";

export interface HomeProps {
  pane: { id: string; tab: PaneTab } | null;
  isPhone: boolean;
  isWide: boolean;
}

export function Home({ pane, isPhone, isWide }: HomeProps) {
  const width = usePreferences((state) => state.listWidth);
  const list = (
    <TriageList
      selected={pane?.id ?? null}
      onOpen={(id) => navigate(panePath(id))}
      renderAnswers={(row) => <AnswerButtons row={row} />}
      menu={isWide || isPhone ? null : <PlacesMenu />}
      empty={isPhone ? <NoPanes /> : null}
    />
  );
  if (isPhone) {
    // The list stays below the pane, so that its scroll position is there on the way back.
    return (
      <>
        <div ref={listPlace} className={styles.phoneList} inert={pane !== null}>
          {list}
        </div>
        {pane && <PanePage key={pane.id} id={pane.id} tab={pane.tab} isPhone />}
      </>
    );
  }
  const listWidth = isWide ? width : 300;
  return (
    <>
      <div ref={listPlace} className={styles.list} style={{ width: listWidth }}>
        {list}
      </div>
      {isWide && <Separator width={width} />}
      {pane ? (
        <PanePage key={pane.id} id={pane.id} tab={pane.tab} isPhone={false} />
      ) : (
        <NoPaneOpen />
      )}
    </>
  );
}

function NoPaneOpen() {
  const isEmpty = useApp((state) => state.isLoaded && state.panes.size === 0);
  if (isEmpty) return <NoPanes />;
  return (
    <EmptyState title="No pane is open">
      <p>Choose one from the list, or go to the next one that needs you.</p>
      <p className={styles.hint}>
        <Kbd chord="C+." />
      </p>
    </EmptyState>
  );
}

/** The terminal is loaded when the pointer or the focus comes to the list. */
function listPlace(element: HTMLElement | null): () => void {
  const intents = ["pointerenter", "pointerdown", "focusin"];
  for (const intent of intents) element?.addEventListener(intent, preloadTerminal);
  return () => {
    for (const intent of intents) element?.removeEventListener(intent, preloadTerminal);
  };
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
