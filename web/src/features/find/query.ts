/** What is searched: as the route has it, and as the server is asked. Pure. */
import type { Actions } from "../../api/generated";
import { type LinePattern, patternOf, patternParams, patternQuery } from "../../lib/line-pattern";
import { withQuery } from "../../lib/route";
import type { Panes } from "../../state/panes";

export const SINCE = ["", "10m", "1h", "24h", "7d"] as const;
export type Since = (typeof SINCE)[number];

export const SINCE_LABELS: Record<Since, string> = {
  "": "Any time",
  "10m": "Last 10 minutes",
  "1h": "Last hour",
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
};

const MINUTE = 60_000;
const SINCE_MS: Record<Since, number> = {
  "": Number.POSITIVE_INFINITY,
  "10m": 10 * MINUTE,
  "1h": 60 * MINUTE,
  "24h": 24 * 60 * MINUTE,
  "7d": 7 * 24 * 60 * MINUTE,
};

export interface FindQuery extends LinePattern {
  /** One pane, or all if empty. */
  pane: string;
  since: Since;
  /** Whether ended panes are searched too. */
  withEnded: boolean;
}

export function fromRoute(params: URLSearchParams): FindQuery {
  const since = (params.get("since") ?? "") as Since;
  return {
    ...patternOf(params),
    pane: params.get("pane") ?? "",
    since: SINCE.includes(since) ? since : "",
    withEnded: params.get("ended") !== "0",
  };
}

export function toRoute(query: FindQuery): string {
  const { pane, since, withEnded } = query;
  return withQuery("/find", { ...patternQuery(query), pane, since, ended: withEnded ? null : "0" });
}

/** The time before which hits are left out; 0 for none. */
export function sinceTime(since: Since, now: number): number {
  return since === "" ? 0 : now - SINCE_MS[since];
}

/** Whether a pane's program still runs. */
export const isLiving = ({ status }: { status: string }) =>
  status === "running" || status === "starting";

type Params = Actions["pane:search"]["params"];

export interface SearchLimits {
  hits: number;
  timeoutMs: number;
}

export const FIRST_LIMITS: SearchLimits = { hits: 200, timeoutMs: 2_000 };
export const MOST_LIMITS: SearchLimits = { hits: 1_000, timeoutMs: 10_000 };

/** What the server is asked; nothing when there is nothing to search. */
export function toParams(query: FindQuery, panes: Panes, limits: SearchLimits): Params | null {
  if (query.text === "") return null;
  const params: Params = {
    ...patternParams(query),
    limit: limits.hits,
    timeoutMs: limits.timeoutMs,
  };
  if (query.pane) return { ...params, panes: [query.pane] };
  if (query.withEnded) return params;
  const living = [...panes.values()].filter(isLiving).map((pane) => pane.id);
  return living.length > 0 ? { ...params, panes: living.sort() } : null;
}
