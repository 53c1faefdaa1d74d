/** The routes, each loaded when it is opened or about to be. */
import { type ComponentType, lazy, Suspense } from "react";
import { useDelayed } from "../lib/hooks";

type Page = () => Promise<{ default: ComponentType }>;

const PAGES = {
  grid: () => import("../features/grid"),
  find: () => import("../features/find"),
  timeline: () => import("../features/timeline"),
  console: () => import("../features/console"),
  settings: () => import("./settings-page"),
} satisfies Record<string, Page>;

export type PageName = keyof typeof PAGES;

/** Loads a page before it is opened. */
export function preload(name: PageName): void {
  void PAGES[name]();
}

const LAZY = {
  grid: lazy(PAGES.grid),
  find: lazy(PAGES.find),
  timeline: lazy(PAGES.timeline),
  console: lazy(PAGES.console),
  settings: lazy(PAGES.settings),
};

/** The page of a path; nothing for home and panes. */
export function pageOf(path: string): PageName | null {
  const name = path.split("/")[1] ?? "";
  return name in PAGES ? (name as PageName) : null;
}

export function PageView({ name }: { name: PageName }) {
  const View = LAZY[name];
  return (
    <Suspense fallback={<Loading />}>
      <View />
    </Suspense>
  );
}

/** Nothing for a moment, so that fast pages do not flash. */
export function Loading() {
  return useDelayed(200) ? <p className="sr-only">Loading…</p> : null;
}
