/** The lines around a hit, read when it is shown, and kept as long as the page is open. */
import { useEffect, useState } from "react";
import type { OutputLine, PaneSearchHit } from "../../api/generated";
import { socket } from "../../state/sync";

export const AROUND = 2;
const MOST = 2_000;

const kept = new Map<string, readonly OutputLine[]>();

/** The lines; empty while they are read, or when they are no longer kept. */
export function useContextLines(hit: PaneSearchHit, instance: string): readonly OutputLine[] {
  const key = `${instance} ${hit.paneId} ${hit.n}`;
  const [lines, setLines] = useState(kept.get(key) ?? []);
  const { paneId, n } = hit;
  useEffect(() => {
    if (kept.has(key)) return;
    let isShown = true;
    const offset = Math.max(0, n - AROUND);
    socket.call("pane:read", { paneId, offset, limit: n - offset + AROUND + 1 }).then(
      ({ lines }) => {
        if (kept.size > MOST) kept.clear();
        // The last lines of a pane may still grow.
        if (lines?.some((line) => line.n > n + 1)) kept.set(key, lines);
        if (isShown) setLines(lines ?? []);
      },
      () => {},
    );
    return () => {
      isShown = false;
    };
  }, [key, paneId, n]);
  return lines;
}
