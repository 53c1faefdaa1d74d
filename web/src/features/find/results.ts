/** What a search found, in the order in which it is shown. Pure. */
import type { Actions, PaneSearchHit } from "../../api/generated";
import { count } from "../../lib/format";

export type SearchAnswer = Actions["pane:search"]["answer"];

export interface HitGroup {
  paneId: string;
  hits: readonly PaneSearchHit[];
}

/** A line of the list of results. */
export type ResultRow =
  | { kind: "pane"; key: string; group: HitGroup }
  | { kind: "hit"; key: string; hit: PaneSearchHit }
  | { kind: "more"; key: string; paneId: string; hidden: number };

/** How many hits of a pane are shown before the rest is asked for. */
export const FOLDED = 5;

/** The hits by pane, the pane with the newest hit first. */
export function groupHits(hits: readonly PaneSearchHit[], since: number): HitGroup[] {
  const groups = new Map<string, PaneSearchHit[]>();
  for (const hit of hits) {
    if (Date.parse(hit.time) < since) continue;
    const group = groups.get(hit.paneId);
    if (group) group.push(hit);
    else groups.set(hit.paneId, [hit]);
  }
  return [...groups].map(([paneId, its]) => ({ paneId, hits: its })).sort(newestFirst);
}

function newestFirst(a: HitGroup, b: HitGroup): number {
  const [first = "", second = ""] = [a.hits[0]?.time, b.hits[0]?.time];
  if (first !== second) return first < second ? 1 : -1;
  return a.paneId < b.paneId ? -1 : 1;
}

export function resultRows(
  groups: readonly HitGroup[],
  unfolded: ReadonlySet<string>,
): ResultRow[] {
  return groups.flatMap((group): ResultRow[] => {
    const { paneId, hits } = group;
    const isWhole = unfolded.has(paneId) || groups.length === 1 || hits.length <= FOLDED + 1;
    const shown = isWhole ? hits : hits.slice(0, FOLDED);
    const rows: ResultRow[] = [{ kind: "pane", key: `pane ${paneId}`, group }];
    for (const hit of shown) rows.push({ kind: "hit", key: `hit ${paneId} ${hit.n}`, hit });
    const hidden = hits.length - shown.length;
    if (hidden > 0) rows.push({ kind: "more", key: `more ${paneId}`, paneId, hidden });
    return rows;
  });
}

/** An answer with the hits of other panes. */
export function widened(answer: SearchAnswer, others: SearchAnswer): SearchAnswer {
  const hits = [...answer.hits, ...others.hits];
  return { ...answer, hits, timedOut: others.timedOut };
}

/** `41 hits in 9 of 12 panes, 0.2 s`. */
export function summary(groups: readonly HitGroup[], answer: SearchAnswer, tookMs: number): string {
  const hits = groups.reduce((sum, group) => sum + group.hits.length, 0);
  const found = answer.truncated ? `The newest ${count(hits, "hit")}` : count(hits, "hit");
  const seconds = (Math.max(tookMs, 100) / 1000).toFixed(tookMs < 950 ? 1 : 0);
  const searched = count(answer.panes, "pane");
  return `${found} in ${groups.length.toLocaleString("en-US")} of ${searched}, ${seconds} s`;
}

/** What was not searched, in words; nothing when everything was. */
export function limits(answer: SearchAnswer): string | null {
  if (!answer.timedOut) return null;
  return `Time ran out after ${count(answer.panes, "whole pane")}: the rest was not searched.`;
}
