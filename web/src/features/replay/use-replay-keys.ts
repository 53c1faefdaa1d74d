/** Space plays, arrows move by five seconds, with Shift by a mark; Home and End go to the ends. */
import { useEffect, useRef } from "react";
import { isTyping } from "../../lib/keys";

export interface ReplayMoves {
  toggle: () => void;
  /** By so many milliseconds. */
  move: (by: number) => void;
  mark: (step: 1 | -1) => void;
  toStart: () => void;
  toEnd: () => void;
}

const STEP_MS = 5_000;

export function useReplayKeys(moves: ReplayMoves | null): void {
  const latest = useRef(moves);
  latest.current = moves;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const run = latest.current && moveOf(event, latest.current);
      if (!run) return;
      event.preventDefault();
      run();
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

function moveOf(event: KeyboardEvent, moves: ReplayMoves): (() => void) | null {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return null;
  const { target, key, shiftKey } = event;
  if (isTyping(target)) return null;
  // Elsewhere on the page, such as in menus and the list, keys have their usual meaning.
  const isOnControl = target instanceof Element && target.closest("button, a, [role='menu']");
  if (key === " ") return isOnControl ? null : moves.toggle;
  if (
    target instanceof Element &&
    target.closest("[role='menu'], [role='dialog'], [role='separator']")
  )
    return null;
  if (key === "ArrowRight") return () => (shiftKey ? moves.mark(1) : moves.move(STEP_MS));
  if (key === "ArrowLeft") return () => (shiftKey ? moves.mark(-1) : moves.move(-STEP_MS));
  if (key === "Home") return moves.toStart;
  if (key === "End") return moves.toEnd;
  return null;
}
