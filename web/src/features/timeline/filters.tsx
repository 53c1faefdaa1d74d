/** The filters of the timeline: name, pane and text. They are in the address. */
import { type RefObject, useMemo } from "react";
import { navigate, withQuery } from "../../lib/route";
import { useApp } from "../../state/store";
import { controlClass, Input } from "../../ui";
import type { EventFilter } from "./filter";
import styles from "./timeline.module.css";

/** The nouns of paned's own events. */
const NOUNS = ["action", "agent", "approval", "grant", "journal", "layout", "notify", "pane"];
const MORE_NOUNS = ["server", "session"];

export interface FiltersProps {
  filter: EventFilter;
  /** The names of the events that are loaded. */
  names: readonly string[];
  input: RefObject<HTMLInputElement | null>;
}

export function setFilter(filter: EventFilter): void {
  navigate(withQuery("/timeline", { ...filter }), { replace: true });
}

export function Filters({ filter, names, input }: FiltersProps) {
  const panes = useApp((state) => state.panes);
  const ids = useMemo(() => [...panes.keys()].sort(), [panes]);
  const set = (change: Partial<EventFilter>) => setFilter({ ...filter, ...change });
  const groups = useMemo(() => groupsOf(names, filter.name), [names, filter.name]);
  return (
    <search className={styles.filters}>
      <select
        className={controlClass}
        aria-label="Name of the event"
        value={filter.name}
        onChange={({ target }) => set({ name: target.value })}
      >
        <option value="">All events</option>
        {groups.map(([noun, own]) => (
          <optgroup key={noun} label={noun}>
            <option value={`${noun}:*`}>{noun}:*</option>
            {own.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </optgroup>
        ))}
      </select>
      <select
        className={controlClass}
        aria-label="Pane"
        value={filter.pane}
        onChange={({ target }) => set({ pane: target.value })}
      >
        <option value="">All panes</option>
        {filter.pane && !panes.has(filter.pane) && <option>{filter.pane}</option>}
        {ids.map((id) => (
          <option key={id}>{id}</option>
        ))}
      </select>
      <Input
        ref={input}
        type="search"
        aria-label="Text in the event"
        placeholder="Filter by text"
        value={filter.text}
        onChange={({ target }) => set({ text: target.value })}
      />
    </search>
  );
}

function groupsOf(names: readonly string[], chosen: string): [string, string[]][] {
  const all = chosen && !chosen.endsWith("*") ? [...names, chosen] : names;
  const groups = new Map<string, Set<string>>();
  for (const noun of [...NOUNS, ...MORE_NOUNS]) groups.set(noun, new Set());
  for (const name of all) {
    const noun = name.split(":")[0] ?? name;
    groups.set(noun, (groups.get(noun) ?? new Set()).add(name));
  }
  return [...groups].map(([noun, own]) => [noun, [...own].sort()]);
}
