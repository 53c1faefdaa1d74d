/** Asks the server a moment after the last key; answers to older queries are dropped. */
import { useEffect, useRef, useState } from "react";
import { sentence } from "../../lib/errors";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";
import { type FindQuery, type SearchLimits, toParams } from "./query";
import { type SearchAnswer, widened } from "./results";

const DEBOUNCE_MS = 250;

export interface SearchState {
  /** The latest answer; it stays while the next one is awaited. */
  answer: SearchAnswer | null;
  tookMs: number;
  error: string | null;
  isSearching: boolean;
}

const NOTHING: SearchState = { answer: null, tookMs: 0, error: null, isSearching: false };

/** How often panes are searched that have no hits yet, because others have all the newest. */
const ROUNDS = 3;

/**
 * Searches, and again without the panes that were found, so that one pane does not hide the others.
 * Each answer is reported, as the first comes soonest.
 */
async function searchWidely(
  params: NonNullable<ReturnType<typeof toParams>>,
  report: (answer: SearchAnswer) => boolean,
): Promise<void> {
  let answer = await socket.call("pane:search", params);
  for (let round = 1; report(answer) && round < ROUNDS; round += 1) {
    if (!answer.truncated || answer.timedOut) return;
    const found = new Set(answer.hits.map((hit) => hit.paneId));
    const known = params.panes ?? [...useApp.getState().panes.keys()];
    const panes = known.filter((id) => !found.has(id));
    if (panes.length === 0) return;
    const next = await socket.call("pane:search", { ...params, panes });
    answer = widened(answer, next);
    if (next.hits.length === 0) return void report(answer);
  }
}

export function useSearch(query: FindQuery, limits: SearchLimits): SearchState {
  const isOpen = useApp((state) => state.connection.state === "open");
  const isLoaded = useApp((state) => state.isLoaded);
  // Which panes live matters only if ended ones are left out.
  const panes = useApp((state) => state.panes);
  const params = isLoaded ? toParams(query, panes, limits) : null;
  const key = JSON.stringify(params);
  const [state, setState] = useState(NOTHING);
  const isFirst = useRef(true);
  useEffect(() => {
    const asked = JSON.parse(key) as typeof params;
    if (asked === null) {
      setState(NOTHING);
      return;
    }
    if (!isOpen) return;
    let isCurrent = true;
    setState((before) => ({ ...before, isSearching: true }));
    const search = async () => {
      const began = performance.now();
      try {
        await searchWidely(asked, (answer) => {
          const tookMs = performance.now() - began;
          if (isCurrent) setState({ answer, tookMs, error: null, isSearching: true });
          return isCurrent;
        });
        if (isCurrent) setState((before) => ({ ...before, isSearching: false }));
      } catch (error) {
        if (isCurrent) setState({ ...NOTHING, error: sentence(error) });
      }
    };
    // A search that the route brings is not typed, so it need not wait.
    const timer = window.setTimeout(search, isFirst.current ? 0 : DEBOUNCE_MS);
    isFirst.current = false;
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, [key, isOpen]);
  return state;
}
