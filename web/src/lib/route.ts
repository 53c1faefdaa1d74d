/** Hash routes. Names of panes and searches stay after the `#`, so they never reach a log. */
import { useMemo, useSyncExternalStore } from "react";

export type PaneTab = "terminal" | "history" | "replay" | "why";

/** The path of a pane, or of one of its tabs. */
export function panePath(id: string, tab: PaneTab = "terminal", query: Query = {}): string {
  const end = tab === "terminal" ? "" : `/${tab}`;
  return withQuery(`/p/${encodeURIComponent(id)}${end}`, query);
}

export type Query = Record<string, string | number | null | undefined>;

export function withQuery(path: string, query: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return text ? `${path}?${text}` : path;
}

const hash = () => location.hash.replace(/^#?\/?/, "/");
const pathOf = (route: string) => route.split("?")[0] ?? "/";
const queryOf = (route: string) => route.slice(pathOf(route).length + 1);

function listen(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

export function navigate(path: string, options: { replace?: boolean } = {}): void {
  if (hash() === path) return;
  const oldURL = location.href;
  const method = options.replace ? "replaceState" : "pushState";
  history[method](null, "", `#${path}`);
  window.dispatchEvent(new HashChangeEvent("hashchange", { oldURL, newURL: location.href }));
}

/** The location hook of the router. */
export function useHashLocation(): [string, typeof navigate] {
  return [pathOf(useSyncExternalStore(listen, hash)), navigate];
}
useHashLocation.hrefs = (href: string) => `#${href}`;

/** The search hook of the router. */
export function useHashSearch(): string {
  return queryOf(useSyncExternalStore(listen, hash));
}

/** The query of the route. */
export function useQuery(): URLSearchParams {
  const search = useHashSearch();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** The pane and tab of a path, if it is one. */
export function paneOf(path: string): { id: string; tab: PaneTab } | null {
  const match = /^\/p\/([^/]+)(?:\/(history|replay|why))?$/.exec(path);
  if (!match?.[1]) return null;
  return { id: decodeURIComponent(match[1]), tab: (match[2] as PaneTab) ?? "terminal" };
}
