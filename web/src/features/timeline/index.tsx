/** The event stream with filters: what happened, and what is happening. */
import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { useCommand } from "../../lib/commands";
import { useMedia } from "../../lib/hooks";
import { useQuery } from "../../lib/route";
import { useApp } from "../../state/store";
import { followAll } from "../../state/sync";
import { Button, EmptyState } from "../../ui";
import { rowsOf } from "./entries";
import { EventList } from "./event-list";
import type { EventFilter } from "./filter";
import { Filters, setFilter } from "./filters";
import styles from "./timeline.module.css";
import { useOlder } from "./use-older";

export default function TimelinePage() {
  // What came before is read from the server, because the lists follow only some events.
  const last = useApp((state) => state.events.last);
  const [opened, setOpened] = useState(last);
  if (opened === 0 && last > 0) setOpened(last);
  useEffect(() => {
    followAll(true);
    return () => followAll(false);
  }, []);
  if (opened === 0) return null;
  return <Timeline opened={opened} />;
}

function Timeline({ opened }: { opened: number }) {
  const query = useQuery();
  const isPhone = useMedia("(max-width: 699px)");
  const input = useRef<HTMLInputElement>(null);
  const live = useApp((state) => state.events.entries);
  const filter = useMemo<EventFilter>(() => {
    const of = (name: string) => query.get(name) ?? "";
    return { name: of("name"), pane: of("pane"), text: of("text") };
  }, [query]);
  const older = useOlder(opened, filter.name, filter.pane);
  const shown = useDeferredValue(filter);
  const rows = useMemo(
    () => rowsOf(older.older, live, opened, shown),
    [older.older, live, opened, shown],
  );
  const names = useMemo(() => namesOf(older.older.events, live), [older.older.events, live]);
  useCommand("filter", () => input.current?.focus());
  const isFiltered = filter.name !== "" || filter.pane !== "" || filter.text !== "";
  return (
    <section className={styles.timeline} aria-label="Timeline">
      <Filters filter={filter} names={names} input={input} />
      <Status older={older} />
      {rows.length > 0 ? (
        <EventList
          key={`${filter.name} ${filter.pane}`}
          rows={rows}
          older={older}
          rowHeight={isPhone ? 60 : 28}
        />
      ) : (
        !older.isLoading && <NoEvents isFiltered={isFiltered} older={older} />
      )}
    </section>
  );
}

type Older = ReturnType<typeof useOlder>;

function Status({ older }: { older: Older }) {
  if (!older.error) return null;
  return (
    <p className={styles.problem} role="status">
      Older events could not be read: {older.error}{" "}
      <Button size="small" onClick={older.load}>
        Try again
      </Button>
    </p>
  );
}

function NoEvents({ isFiltered, older }: { isFiltered: boolean; older: Older }) {
  if (!isFiltered) return <EmptyState title="Nothing has happened yet" />;
  const actions = (
    <>
      {older.older.before !== null && <Button onClick={older.load}>Look further back</Button>}
      <Button onClick={() => setFilter({ name: "", pane: "", text: "" })}>Show all events</Button>
    </>
  );
  return (
    <EmptyState title="No such event" actions={actions}>
      <p>Among those that are loaded; new ones appear here.</p>
    </EmptyState>
  );
}

function namesOf(
  older: readonly { name: string }[],
  live: ReturnType<typeof useApp.getState>["events"]["entries"],
): string[] {
  const names = new Set(older.map((event) => event.name));
  for (const entry of live) if (entry.kind === "event") names.add(entry.event.name);
  return [...names];
}
