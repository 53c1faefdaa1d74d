/** Searches within the lines, and jumps to one of them. */
import { ChevronDown, ChevronUp, WrapText } from "lucide-react";
import { type FormEvent, type KeyboardEvent, type RefObject, useState } from "react";
import { count } from "../../lib/format";
import type { LinePattern } from "../../lib/line-pattern";
import { prefer, usePreferences } from "../../lib/preferences";
import { controlClass, cx, IconButton, SearchBox } from "../../ui";
import styles from "./history.module.css";
import type { LineCache } from "./line-cache";
import type { Matches } from "./use-matches";

export interface HistoryBarProps {
  pattern: LinePattern;
  matches: Matches;
  line: number | null;
  cache: LineCache;
  input: RefObject<HTMLInputElement | null>;
  noteId: string;
  onPattern: (change: Partial<LinePattern>) => void;
  onStep: (by: 1 | -1) => void;
  onLine: (line: number) => void;
}

export function HistoryBar(props: HistoryBarProps) {
  const { pattern, matches, line, cache, input, noteId, onPattern, onStep, onLine } = props;
  const wraps = usePreferences((state) => state.wrapLines);
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    onStep(event.shiftKey ? -1 : 1);
  };
  const hasHits = (matches.hits?.length ?? 0) > 0;
  return (
    <search className={styles.bar}>
      <SearchBox
        label="Find in these lines"
        value={pattern}
        onChange={onPattern}
        input={input}
        onKeyDown={pressed}
        errorId={matches.error ? noteId : null}
      />
      <div className={styles.tools}>
        <span id={noteId} className={cx(styles.place, matches.error && styles.error)} role="status">
          {place(matches, line, pattern.text, cache)}
        </span>
        <IconButton label="Previous match" disabled={!hasHits} onClick={() => onStep(-1)}>
          <ChevronUp />
        </IconButton>
        <IconButton label="Next match" disabled={!hasHits} onClick={() => onStep(1)}>
          <ChevronDown />
        </IconButton>
        <LineField onLine={onLine} />
        <IconButton
          label="Wrap long lines"
          aria-pressed={wraps}
          onClick={() => prefer({ wrapLines: !wraps })}
        >
          <WrapText />
        </IconButton>
      </div>
    </search>
  );
}

/** What the search found, and where the line is in it; without a search, how much there is. */
function place(matches: Matches, line: number | null, text: string, cache: LineCache): string {
  if (matches.error) return matches.error;
  const { hits } = matches;
  if (text === "") return count(cache.total - cache.dropped, "line");
  if (!hits) return "Searching…";
  const most = `${hits.length.toLocaleString("en-US")}${matches.isCut ? "+" : ""}`;
  const late = matches.timedOut ? ", time ran out" : "";
  const index = hits.findIndex((hit) => hit.n === line);
  if (index >= 0) return `${(index + 1).toLocaleString("en-US")} of ${most}${late}`;
  return `${most === "1" ? "1 match" : `${most === "0" ? "No" : most} matches`}${late}`;
}

function LineField({ onLine }: { onLine: (line: number) => void }) {
  const [text, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const line = Number(text.replace(/[\s,.L]/gi, ""));
    if (text.trim() !== "" && Number.isSafeInteger(line)) onLine(line);
    setText("");
  };
  return (
    <form onSubmit={submit}>
      <input
        className={cx(controlClass, styles.jump)}
        inputMode="numeric"
        placeholder="Line…"
        aria-label="Go to line"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </form>
  );
}
