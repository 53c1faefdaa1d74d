/** Reads the lines that are shown, and how many there are: at once, and whenever more is printed. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { PaneInfo } from "../../api/generated";
import { hasCode, sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { firstMissing, type LineCache, noLines, PAGE, withCounts, withLines } from "./line-cache";

/** How long the list rests between two looks at a pane that prints all the time. */
const REST_MS = 300;
const WAIT_MS = 30_000;

export interface Lines {
  cache: LineCache;
  isLoaded: boolean;
  error: string | null;
  /** Asks for these lines. */
  need: (from: number, to: number) => void;
}

export function useLines(pane: PaneInfo): Lines {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [cache, setCache] = useState<LineCache | null>(null);
  const [error, setError] = useState<string | null>(null);
  const latest = useRef<LineCache>(noLines);
  const wanted = useRef<[number, number]>([0, 0]);
  const isReading = useRef(false);
  const { id, instance } = pane;
  const isLiving = pane.status === "running" || pane.status === "starting";

  const update = useCallback((change: (cache: LineCache) => LineCache) => {
    latest.current = change(latest.current);
    setCache(latest.current);
  }, []);

  const read = useCallback(async () => {
    if (isReading.current) return;
    isReading.current = true;
    try {
      // What is wanted changes while it is read: only the latest is read next.
      for (let turn = 0; turn < 8; turn += 1) {
        const offset = firstMissing(latest.current, ...wanted.current);
        if (offset === null) break;
        const limit = PAGE - (offset % PAGE);
        const answer = await socket.call("pane:read", { paneId: id, offset, limit });
        update((before) => withLines(withCounts(before, counts(answer)), answer.lines ?? []));
        setError(null);
        if (!answer.lines?.length) break;
      }
    } catch (problem) {
      if (!hasCode(problem, "offline")) setError(sentence(problem));
    } finally {
      isReading.current = false;
    }
  }, [id, update]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new life of the pane begins anew
  useEffect(() => {
    if (!isOpen) return;
    const stop = follow(
      id,
      isLiving,
      (next) => {
        update((before) => withCounts(before, next));
        setError(null);
        void read();
      },
      (problem) => setError(sentence(problem)),
    );
    return stop;
  }, [id, instance, isOpen, isLiving]);

  const need = useCallback(
    (from: number, to: number) => {
      wanted.current = [from, to];
      void read();
    },
    [read],
  );
  return { cache: cache ?? noLines, isLoaded: cache !== null, error, need };
}

const counts = (answer: { total: number; dropped: number | null }) => ({
  total: answer.total,
  dropped: answer.dropped ?? 0,
});

/** Reports the number of lines now, and after each output until it is stopped. */
function follow(
  paneId: string,
  isLiving: boolean,
  report: (counts: { total: number; dropped: number }) => void,
  failed: (error: unknown) => void,
): () => void {
  let isStopped = false;
  const rest = () => new Promise((resume) => window.setTimeout(resume, REST_MS));
  const run = async () => {
    let since = -1;
    while (!isStopped) {
      const answer = await socket.call("pane:read", { paneId, tail: 1 });
      if (isStopped) return;
      if (answer.next !== since) report(counts(answer));
      since = answer.next;
      if (!isLiving) return;
      const wait = { paneId, pattern: "", since, timeoutMs: WAIT_MS };
      await Promise.all([socket.call("pane:wait", wait), rest()]);
    }
  };
  run().catch((error) => {
    if (!isStopped && !hasCode(error, "offline") && !hasCode(error, "unconfirmed")) failed(error);
  });
  return () => {
    isStopped = true;
  };
}
