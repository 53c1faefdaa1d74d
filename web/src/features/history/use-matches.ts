/** The lines of one pane that match, asked a moment after the last key. */
import { useEffect, useMemo, useState } from "react";
import type { Actions, PaneSearchHit } from "../../api/generated";
import { sentence } from "../../lib/errors";
import { type LinePattern, patternParams } from "../../lib/line-pattern";
import { useApp } from "../../state/store";
import { socket } from "../../state/sync";

const DEBOUNCE_MS = 250;
const MOST = 1_000;

type Answer = Actions["pane:search"]["answer"];

export interface Matches {
  /** From the first line to the last; `null` until there is an answer. */
  hits: readonly PaneSearchHit[] | null;
  byLine: ReadonlyMap<number, PaneSearchHit>;
  isCut: boolean;
  timedOut: boolean;
  error: string | null;
}

export function useMatches(paneId: string, { text, isRegex, matchCase }: LinePattern): Matches {
  const isOpen = useApp((state) => state.connection.state === "open");
  const [state, setState] = useState({
    answer: null as Answer | null,
    error: null as string | null,
  });
  useEffect(() => {
    if (text === "") setState({ answer: null, error: null });
    if (text === "" || !isOpen) return;
    let isCurrent = true;
    const pattern = patternParams({ text, isRegex, matchCase });
    const search = () =>
      socket
        .call("pane:search", { ...pattern, panes: [paneId], limit: MOST, timeoutMs: 5_000 })
        .then(
          (answer) => isCurrent && setState({ answer, error: null }),
          (error) => isCurrent && setState({ answer: null, error: sentence(error) }),
        );
    const timer = window.setTimeout(search, DEBOUNCE_MS);
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, [paneId, text, isRegex, matchCase, isOpen]);
  const { answer, error } = state;
  return useMemo(() => {
    const hits = answer && [...answer.hits].sort((a, b) => a.n - b.n);
    const byLine = new Map((hits ?? []).map((hit) => [hit.n, hit]));
    return {
      hits,
      byLine,
      isCut: answer?.truncated ?? false,
      timedOut: answer?.timedOut ?? false,
      error,
    };
  }, [answer, error]);
}

/** The match after or before a line; from the other end when there is none. */
export function neighbour(
  hits: readonly PaneSearchHit[],
  line: number | null,
  step: 1 | -1,
): number | null {
  if (hits.length === 0) return null;
  const from = line ?? (step === 1 ? -1 : Number.POSITIVE_INFINITY);
  const next = step === 1 ? hits.find((hit) => hit.n > from) : hits.findLast((hit) => hit.n < from);
  return (next ?? (step === 1 ? hits[0] : hits.at(-1)))?.n ?? null;
}
