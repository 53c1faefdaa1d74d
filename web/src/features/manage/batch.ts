/** One action on several panes, with a result for each. Pure. */
import type { Actions, PaneInfo, Survivor } from "../../api/generated";
import { sentence } from "../../lib/errors";

export type Verb = "kill" | "close" | "remove" | "restart";

export type Outcome =
  | { at: "waiting" }
  | { at: "running" }
  | { at: "done"; text: string; survivors: readonly Survivor[] }
  | { at: "failed"; text: string };

export type Outcomes = Readonly<Record<string, Outcome>>;

/** The panes that an action is for, and why the others are not. */
export function targetsOf(verb: Verb, panes: readonly PaneInfo[]) {
  const isFor = (pane: PaneInfo) => {
    const isAlive = pane.status === "running" || pane.status === "starting";
    if (verb === "kill") return isAlive;
    if (verb === "remove") return !isAlive;
    return true;
  };
  return { targets: panes.filter(isFor), others: panes.filter((pane) => !isFor(pane)) };
}

export function start(targets: readonly PaneInfo[]): Outcomes {
  return Object.fromEntries(targets.map(({ id }) => [id, { at: "waiting" } as const]));
}

export function set(outcomes: Outcomes, id: string, outcome: Outcome): Outcomes {
  return { ...outcomes, [id]: outcome };
}

export function failure(error: unknown): Outcome {
  return { at: "failed", text: sentence(error) };
}

type Killed = Actions["pane:kill"]["answer"];

/** How a kill ended, in words. */
export function killed({ status, exitCode, exitSignal, survivors, ...rest }: Killed): Outcome {
  const how = exitSignal ? `ended by ${exitSignal}` : `exited with ${exitCode ?? "no code"}`;
  const cancelled = rest.restartCancelled ? "; it is not restarted" : "";
  const left = survivors.length > 0 || status === "running";
  const text = left ? `${how}, but processes of it still run${cancelled}` : `${how}${cancelled}`;
  return { at: "done", text, survivors };
}

export function closed({ survivors = [] }: Actions["pane:close"]["answer"]): Outcome {
  return {
    at: "done",
    text: survivors.length > 0 ? "closed; processes still run" : "closed",
    survivors,
  };
}

/** Whether nothing is to come. */
export function isOver(outcomes: Outcomes): boolean {
  const all = Object.values(outcomes);
  return all.length > 0 && all.every((it) => it.at === "done" || it.at === "failed");
}

export function isClean(outcomes: Outcomes): boolean {
  return Object.values(outcomes).every((it) => it.at === "done" && it.survivors.length === 0);
}

/** Tags as they were written, `a, b`: what to add and what to remove. */
export function tagChange(before: readonly string[], text: string) {
  const after = tagsOf(text);
  return {
    add: after.filter((tag) => !before.includes(tag)),
    remove: before.filter((tag) => !after.includes(tag)),
  };
}

export function tagsOf(text: string): string[] {
  const tags = text.split(/[,\s]+/).filter(Boolean);
  return [...new Set(tags)];
}
