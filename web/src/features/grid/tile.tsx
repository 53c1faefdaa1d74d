/** One pane of the grid: its state, and its screen while it can be seen. */
import { ExternalLink, Maximize2, Minimize2, MoveLeft, MoveRight, X } from "lucide-react";
import { memo, type ReactNode, type Ref, useEffect, useRef } from "react";
import { age } from "../../lib/format";
import { useNow } from "../../lib/hooks";
import { navigate, panePath } from "../../lib/route";
import { triage } from "../../state/needs";
import { useApp, usePane } from "../../state/store";
import { AnsiScreen, cx, IconButton, Menu, StateBadge } from "../../ui";
import styles from "./grid.module.css";
import type { TileDrag } from "./use-drag";
import { useScreen, useVisible } from "./use-screen";

export interface TileProps {
  id: string;
  isFocused: boolean;
  isZoomed: boolean;
  isWhole: boolean;
  /** Whether zooming opens the pane itself, as on a phone. */
  opens?: boolean;
  drag: TileDrag;
  /** What is below the screen: the answer, when answers are compared. */
  children?: ReactNode;
  onFocus: (id: string) => void;
  onZoom: (id: string) => void;
  onClose: (id: string) => void;
  onMove: (id: string, by: number) => void;
}

export const Tile = memo(function Tile(props: TileProps) {
  const { id, isFocused, isZoomed, drag, children, onFocus, onZoom } = props;
  const pane = usePane(id);
  const box = useRef<HTMLElement>(null);
  const head = useRef<HTMLElement>(null);
  const isVisible = useVisible(box);
  const { screen, problem } = useScreen(id, pane?.instance ?? null, isVisible);
  useEffect(() => {
    if (box.current && head.current) return drag.attach(box.current, head.current, id);
  }, [drag, id]);
  const isReady = useApp((state) => state.isLoaded);
  return (
    <section
      ref={box}
      className={cx(styles.tile, isZoomed && styles.zoomed)}
      data-tile={id}
      aria-label={`Pane ${id}`}
      tabIndex={isFocused ? 0 : -1}
      onFocus={() => onFocus(id)}
    >
      <TileHead {...props} ref={head} />
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: Enter on the tile does the same */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a larger target than its button */}
      <div className={styles.body} onClick={() => !window.getSelection()?.toString() && onZoom(id)}>
        {!pane && isReady && <p className={styles.note}>There is no pane {id}.</p>}
        {pane && problem && <p className={styles.note}>{problem}</p>}
        {screen && (
          <AnsiScreen
            ansi={screen.ansi ?? ""}
            size={screen.size}
            cursor={pane?.status === "running" ? screen.cursor : null}
            fit={props.isWhole || isZoomed ? "whole" : "readable"}
          />
        )}
      </div>
      {children}
    </section>
  );
});

function TileHead(props: TileProps & { ref: Ref<HTMLElement> }) {
  const { id, isZoomed, opens, onZoom, onClose, onMove, ref } = props;
  const pane = usePane(id);
  const zoomLabel = isZoomed ? "Back to the grid" : opens ? `Open ${id}` : `Zoom ${id}`;
  const open = () => navigate(panePath(id));
  const items = [
    [
      { label: "Open the terminal", icon: <ExternalLink />, onSelect: open },
      {
        label: isZoomed ? "Back to the grid" : "Zoom",
        icon: isZoomed ? <Minimize2 /> : <Maximize2 />,
        chord: "Alt+Shift+Enter",
        onSelect: () => onZoom(id),
      },
    ],
    [
      {
        label: "Move back",
        icon: <MoveLeft />,
        chord: "Ctrl+Alt+Shift+ArrowLeft",
        onSelect: () => onMove(id, -1),
      },
      {
        label: "Move on",
        icon: <MoveRight />,
        chord: "Ctrl+Alt+Shift+ArrowRight",
        onSelect: () => onMove(id, 1),
      },
    ],
    [{ label: "Take out of the grid", icon: <X />, onSelect: () => onClose(id) }],
  ];
  return (
    <header ref={ref} className={styles.head}>
      {pane && <PaneState id={id} />}
      <h2 className={styles.name} title={pane?.title}>
        {id}
      </h2>
      <span className={styles.title}>{pane && pane.title !== id ? pane.title : ""}</span>
      <IconButton
        label={zoomLabel}
        chord="Alt+Shift+Enter"
        className={styles.small}
        onClick={() => onZoom(id)}
      >
        {isZoomed ? <Minimize2 /> : <Maximize2 />}
      </IconButton>
      <Menu
        groups={items}
        trigger={(properties) => (
          <IconButton label={`More for ${id}`} className={styles.small} {...properties}>
            <span aria-hidden="true">⋯</span>
          </IconButton>
        )}
      />
    </header>
  );
}

function PaneState({ id }: { id: string }) {
  const pane = usePane(id);
  const approvals = useApp((state) => state.approvals);
  const unread = useApp((state) => state.unread);
  const now = useNow();
  if (!pane) return null;
  const { state, mark } = triage(pane, approvals, unread);
  return (
    <>
      <StateBadge shape={state.kind} word={state.word} unread={mark !== null} />
      <span className={styles.age}>{age(state.since, now)}</span>
    </>
  );
}
