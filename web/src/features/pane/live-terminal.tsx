/** The terminal with all around it: notes, search, paste guard, links, footer. */
import { type ClipboardEvent, useEffect, useMemo, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { useCommand } from "../../lib/commands";
import { count } from "../../lib/format";
import { useMedia } from "../../lib/hooks";
import { usePreferences } from "../../lib/preferences";
import { useTheme } from "../../lib/use-theme";
import { useApp } from "../../state/store";
import { Button } from "../../ui";
import type { EmulatorEvents, SearchResult, TerminalLink } from "./emulator";
import { LinkDialog, openAddress } from "./link-dialog";
import { isMisleading, webAddress } from "./link-guard";
import styles from "./pane.module.css";
import { guardPaste, type PasteWarning } from "./paste-guard";
import { PasteStrip } from "./paste-strip";
import { SearchBar } from "./search-bar";
import { TerminalFoot } from "./terminal-foot";
import { TerminalNotes } from "./terminal-notes";
import TerminalView from "./terminal-view";
import { useLive } from "./use-live";
import { useSize } from "./use-size";

export interface LiveTerminalProps {
  /** The pane of this name as it is now. */
  pane: PaneInfo;
  /** The life that is shown. */
  shown: PaneInfo;
  isPhone: boolean;
  onShowNew: () => void;
}

/** Panes whose pastes are not asked about, until the page is closed. */
const trusted = new Set<string>();

export function LiveTerminal({ pane, shown, isPhone, onShowNew }: LiveTerminalProps) {
  const { live, change, connect, type, typeBytes, paste } = useLive(shown);
  const { fontSize, screenReader } = usePreferences();
  const theme = useTheme();
  const isCoarse = useMedia("(pointer: coarse)");
  const canType = useCanType(shown, live.exit !== null || live.isGone, pane !== shown);
  useUnloadGuard(canType);
  const size = useSize(shown, live.emulator, canType);
  const [below, setBelow] = useState(0);
  const [hovered, setHovered] = useState<TerminalLink | null>(null);
  const [asked, setAsked] = useState<TerminalLink | null>(null);
  const [warning, setWarning] = useState<PasteWarning | null>(null);
  const [result, setResult] = useState<SearchResult | null>(null);
  const [isFinding, setFinding] = useState(false);
  useCommand("find-in-pane", () => setFinding(true));
  useCommand("focus-terminal", () => live.emulator?.focus());

  const events = useMemo<EmulatorEvents>(
    () => ({
      input: type,
      binary: typeBytes,
      below: setBelow,
      hover: setHovered,
      found: setResult,
      open: (link) => {
        const url = webAddress(link);
        if (url && !isCoarse && !isMisleading(link)) openAddress(url.href);
        else setAsked(link);
      },
    }),
    [type, typeBytes, isCoarse],
  );

  const pasted = (event: ClipboardEvent) => {
    const text = event.clipboardData.getData("text/plain");
    event.preventDefault();
    event.stopPropagation();
    if (!text || !canType) return;
    const isBracketed = live.emulator?.isBracketedPaste() ?? false;
    const guarded = trusted.has(shown.instance) ? null : guardPaste(text, isBracketed);
    if (guarded) setWarning(guarded);
    else void paste(text);
  };
  const answerPaste = (isPasted: boolean, isTrusted = false) => {
    if (isTrusted) trusted.add(shown.instance);
    if (isPasted && warning) void paste(warning.text);
    setWarning(null);
    live.emulator?.focus();
  };

  return (
    <>
      <TerminalNotes
        pane={pane}
        shown={shown}
        live={live}
        onShowNew={onShowNew}
        onDismiss={change}
      />
      <div className={styles.terminal} onPasteCapture={pasted}>
        <TerminalView
          theme={theme}
          fontSize={fontSize}
          screenReader={screenReader}
          canType={canType}
          label={`Terminal of ${shown.id}`}
          webgl={!isPhone}
          events={events}
          onReady={(emulator) => {
            if (!isCoarse) emulator.focus();
            return connect(emulator);
          }}
        />
        {isFinding && live.emulator && (
          <SearchBar
            emulator={live.emulator}
            result={result}
            onClose={() => {
              setFinding(false);
              live.emulator?.focus();
            }}
          />
        )}
        {below > 0 && (
          <Button className={styles.below} onClick={() => live.emulator?.scrollToBottom()}>
            ↓ {count(below, "new line")}
          </Button>
        )}
      </div>
      {warning && (
        <PasteStrip
          warning={warning}
          onPaste={(isTrusted) => answerPaste(true, isTrusted)}
          onCancel={() => answerPaste(false)}
        />
      )}
      <TerminalFoot pane={shown} size={size} link={hovered} isPhone={isPhone} />
      {asked && <LinkDialog link={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Ctrl+W is for the shell and closes the tab, so the browser asks while a terminal has the focus. */
function useUnloadGuard(canType: boolean): void {
  useEffect(() => {
    if (!canType) return;
    const ask = (event: BeforeUnloadEvent) => {
      const isTerminal = document.activeElement?.classList.contains("xterm-helper-textarea");
      if (isTerminal) event.preventDefault();
    };
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [canType]);
}

/** Whether keys reach the program: it runs, this token may type, and the connection is open. */
function useCanType(pane: PaneInfo, hasEnded: boolean, isOld: boolean): boolean {
  const mayType = useApp(
    ({ connection }) =>
      connection.state === "open" &&
      (connection.scopes.includes("input") || connection.scopes.includes("admin")),
  );
  return mayType && !hasEnded && !isOld && pane.status === "running";
}
