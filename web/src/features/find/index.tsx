/** One search over the output of all panes, living and ended. */
import { useEffect, useMemo, useRef, useState } from "react";
import { useCommand } from "../../lib/commands";
import { useDelayed, useMedia } from "../../lib/hooks";
import { navigate, useQuery } from "../../lib/route";
import { useApp } from "../../state/store";
import { Banner, Button, EmptyState } from "../../ui";
import styles from "./find.module.css";
import { FindBar } from "./find-bar";
import { FIRST_LIMITS, type FindQuery, fromRoute, MOST_LIMITS, sinceTime, toRoute } from "./query";
import { ResultList } from "./result-list";
import { groupHits, limits, type SearchAnswer, summary } from "./results";
import { useSearch } from "./use-search";

export default function FindPage() {
  const params = useQuery();
  const query = useMemo(() => fromRoute(params), [params]);
  const [most, setMost] = useState("");
  const key = toRoute(query);
  const search = useSearch(query, most === key ? MOST_LIMITS : FIRST_LIMITS);
  const input = useRef<HTMLInputElement>(null);
  // Where a keyboard would cover the page, the box waits to be tapped.
  const isCoarse = useMedia("(pointer: coarse)");
  useEffect(() => {
    if (!isCoarse) input.current?.focus({ preventScroll: true });
  }, [isCoarse]);
  useCommand("filter", () => input.current?.select());
  useCommand("find-in-pane", () => input.current?.select());
  const change = (fields: Partial<FindQuery>) =>
    navigate(toRoute({ ...query, ...fields }), { replace: true });
  const { answer, error, isSearching } = search;
  return (
    <section className={styles.page} aria-label="Find" aria-busy={isSearching}>
      <FindBar query={query} onChange={change} input={input} error={error} />
      {answer && !error ? (
        <Found
          query={query}
          answer={answer}
          tookMs={search.tookMs}
          isSearching={isSearching}
          onMore={most === key ? null : () => setMost(key)}
        />
      ) : (
        <Nothing query={query} isSearching={isSearching} error={error} />
      )}
    </section>
  );
}

interface FoundProps {
  query: FindQuery;
  answer: SearchAnswer;
  tookMs: number;
  isSearching: boolean;
  onMore: (() => void) | null;
}

function Found({ query, answer, tookMs, isSearching, onMore }: FoundProps) {
  const groups = useMemo(() => {
    return groupHits(answer.hits, sinceTime(query.since, Date.now()));
  }, [answer, query.since]);
  const missing = limits(answer);
  const text = summary(groups, answer, tookMs);
  const more = onMore && (
    <Button size="small" tone={missing ? "plain" : "quiet"} onClick={onMore} disabled={isSearching}>
      {missing ? "Search longer" : "Show up to 1,000"}
    </Button>
  );
  return (
    <>
      <div className={styles.summary}>
        <p role="status">{isSearching ? <Searching>{text}</Searching> : text}</p>
        {answer.truncated && !missing && more}
      </div>
      {missing && (
        <Banner tone="warning" actions={more}>
          {missing}
        </Banner>
      )}
      {groups.length > 0 ? (
        <ResultList query={query} groups={groups} />
      ) : (
        <EmptyState title="No line matches">
          <p>{hint(query)}</p>
        </EmptyState>
      )}
    </>
  );
}

/** Keeps the last summary for a moment, so that fast searches do not flash. */
function Searching({ children }: { children: string }) {
  return <>{useDelayed(200) ? "Searching…" : children}</>;
}

function hint(query: FindQuery): string {
  const narrowed = [
    query.pane && "other panes",
    query.since && "any time",
    !query.withEnded && "ended panes",
    query.matchCase && "either case",
  ].filter(Boolean);
  if (narrowed.length > 0) return `Try ${narrowed.join(", ")}.`;
  return "Lines are searched as they were printed, without colours. Output that is no longer kept cannot be found.";
}

function Nothing({
  query,
  isSearching,
  error,
}: {
  query: FindQuery;
  isSearching: boolean;
  error: string | null;
}) {
  const hasPanes = useApp((state) => state.panes.size > 0);
  const isLoaded = useApp((state) => state.isLoaded);
  if (error || !isLoaded || isSearching) {
    return (
      <div className={styles.empty}>
        <p className={styles.summary}>{isSearching && <Searching> </Searching>}</p>
      </div>
    );
  }
  if (!hasPanes)
    return (
      <EmptyState title="There is no output yet">
        Panes that you start are searched here, also after they have ended.
      </EmptyState>
    );
  if (query.text)
    return (
      <EmptyState title="No pane is running">
        Include ended panes to search their output.
      </EmptyState>
    );
  return (
    <EmptyState title="Search all output">
      <p>
        Every line that panes have printed and that is still kept, also of panes that have ended.
      </p>
    </EmptyState>
  );
}
