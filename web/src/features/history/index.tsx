/** All lines of a pane that are kept, with their numbers. */
import { useId, useMemo, useRef } from "react";
import type { PaneInfo } from "../../api/generated";
import { useCommand } from "../../lib/commands";
import { type LinePattern, patternOf, patternQuery } from "../../lib/line-pattern";
import { navigate, panePath, useQuery } from "../../lib/route";
import { Banner, EmptyState } from "../../ui";
import styles from "./history.module.css";
import { HistoryBar } from "./history-bar";
import { LineList } from "./line-list";
import { useLines } from "./use-lines";
import { neighbour, useMatches } from "./use-matches";

export default function HistoryView({ pane, isPhone }: { pane: PaneInfo; isPhone: boolean }) {
  const params = useQuery();
  const pattern = useMemo(() => patternOf(params), [params]);
  const line = lineOf(params.get("line"));
  const lines = useLines(pane);
  const matches = useMatches(pane.id, pattern);
  const input = useRef<HTMLInputElement>(null);
  const note = useId();
  useCommand("find-in-pane", () => input.current?.select());
  useCommand("filter", () => input.current?.select());
  const go = (to: number | null, change: Partial<LinePattern> = {}) => {
    const query = { line: to, ...patternQuery({ ...pattern, ...change }) };
    navigate(panePath(pane.id, "history", query), { replace: true });
  };
  const step = (by: 1 | -1) => {
    const next = neighbour(matches.hits ?? [], line, by);
    if (next !== null) go(next);
  };
  const { cache, isLoaded, error } = lines;
  return (
    <div className={styles.view}>
      <HistoryBar
        pattern={pattern}
        matches={matches}
        line={line}
        cache={cache}
        input={input}
        noteId={note}
        onPattern={(change) => go(line, change)}
        onStep={step}
        onLine={go}
      />
      {error && <Banner tone="warning">The lines could not be read: {error}</Banner>}
      {isLoaded && cache.total === 0 ? (
        <EmptyState title="Nothing was printed yet" />
      ) : (
        <LineList
          pane={pane}
          lines={lines}
          matches={matches}
          pattern={pattern}
          line={line}
          isPhone={isPhone}
        />
      )}
    </div>
  );
}

function lineOf(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
