/** Which actions a search finds, and in which groups they are shown. Pure. */
import type { ActionInfo } from "../../lib/api";

export interface ActionGroup {
  noun: string;
  actions: ActionInfo[];
}

/** Actions whose name or sentence has every word of the search; names first. */
export function search(actions: readonly ActionInfo[], text: string): ActionInfo[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (where: string) => words.every((word) => where.toLowerCase().includes(word));
  const named = actions.filter(({ name }) => has(name));
  const described = actions.filter((it) => !named.includes(it) && has(`${it.name} ${it.doc}`));
  return [...named, ...described];
}

/** By what comes before the colon, in the order in which the groups first appear. */
export function group(actions: readonly ActionInfo[]): ActionGroup[] {
  const groups = new Map<string, ActionInfo[]>();
  for (const action of actions) {
    const noun = action.name.split(":")[0] ?? "";
    groups.set(noun, [...(groups.get(noun) ?? []), action]);
  }
  return [...groups].map(([noun, members]) => ({ noun, actions: members }));
}

/** Whether a token with these scopes may run the action. */
export function isAllowed(action: ActionInfo, scopes: readonly string[]): boolean {
  return scopes.includes("admin") || scopes.includes(action.scope);
}
