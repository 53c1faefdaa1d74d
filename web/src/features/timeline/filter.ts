/** Which events are shown: by name, pane and text. Pure. */
import type { ServerEvent } from "../../lib/protocol";

export interface EventFilter {
  /** A name, a prefix such as `agent:*`, or nothing for all. */
  name: string;
  pane: string;
  text: string;
}

export function passes(event: ServerEvent, filter: EventFilter): boolean {
  if (!isNamed(event.name, filter.name)) return false;
  if (filter.pane && !paneOf(event).includes(filter.pane)) return false;
  return filter.text === "" || hasText(event, filter.text.toLowerCase());
}

function isNamed(name: string, pattern: string): boolean {
  if (pattern === "" || pattern === "*") return true;
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}

/** The panes that an event is about: its own, and that of the parameters of an action. */
export function paneOf({ payload }: ServerEvent): string[] {
  const ids = [payload?.paneId, payload?.params?.paneId, payload?.newId];
  return ids.filter((id): id is string => typeof id === "string");
}

/** The texts of events are made once: a search looks at all of them at each key. */
const texts = new WeakMap<ServerEvent, string>();

function hasText(event: ServerEvent, text: string): boolean {
  const known = texts.get(event);
  const own = known ?? `${event.name} ${JSON.stringify(event.payload)}`.toLowerCase();
  if (known === undefined) texts.set(event, own);
  return own.includes(text);
}
