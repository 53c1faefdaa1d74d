/** The size of a pane: who holds it, and how this page takes it. Opening a pane never resizes it. */
import { useEffect, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { hasCode, sentence } from "../../lib/errors";
import { useMedia } from "../../lib/hooks";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import type { Emulator } from "./emulator";

/** What the footer says and offers. */
export interface SizeState {
  reason: string;
  canFit: boolean;
  /** Another client holds the size. */
  canTake: boolean;
  canRelease: boolean;
  error: string | null;
  claim(force: boolean): void;
  release(): void;
}

/** The window often changes many times in a row. */
const SETTLED_MS = 200;

export function useSize(pane: PaneInfo, emulator: Emulator | null, canResize: boolean): SizeState {
  const isOpen = useApp((state) => state.connection.state === "open");
  const isFine = useMedia("(pointer: fine)");
  /** The label under which this page holds the size; empty until the server has told it. */
  const [held, setHeld] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const holder = pane.sizeHeldBy ?? null;

  // A lost connection frees the size.
  useEffect(() => {
    if (!isOpen) setHeld(null);
  }, [isOpen]);
  useEffect(() => {
    if (held === "" && holder !== null) setHeld(holder);
    else if (held && holder !== held) setHeld(null);
  }, [held, holder]);

  const isHeld = held !== null;
  const claim = async (force: boolean) => {
    const size = emulator?.fitting();
    if (!size) return;
    try {
      await socket.request({ type: "resize", pane: pane.id, ...size, ...(force && { force }) });
      setError(null);
      setHeld((before) => before ?? (force ? "" : (holder ?? "")));
    } catch (refusal) {
      setError(hasCode(refusal, "conflict") ? null : sentence(refusal));
    }
  };
  const release = async () => {
    try {
      await socket.request({ type: "release", pane: pane.id });
      setHeld(null);
    } catch (refusal) {
      setError(sentence(refusal));
    }
  };

  // Who holds the size keeps the terminal as large as its window; a phone's keyboard must not.
  useEffect(() => {
    if (!isHeld || !isFine || !emulator) return;
    let timer: number | undefined;
    const changed = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => void claim(false), SETTLED_MS);
    };
    window.addEventListener("resize", changed);
    return () => {
      window.clearTimeout(timer);
      window.removeEventListener("resize", changed);
    };
  });

  const isOthers = holder !== null && !isHeld;
  return {
    reason: isHeld ? "sized to this page" : isOthers ? `size held by ${holder}` : "size is free",
    canFit: canResize && !isOthers && emulator !== null,
    canTake: canResize && isOthers && emulator !== null,
    canRelease: isHeld,
    error,
    claim: (force) => void claim(force),
    release: () => void release(),
  };
}
