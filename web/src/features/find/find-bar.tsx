/** The search box, how it matches, and which panes and times it covers. */
import { CaseSensitive, Regex, Search } from "lucide-react";
import { type KeyboardEvent, type RefObject, useId } from "react";
import { run } from "../../lib/commands";
import { Chip, controlClass, cx, IconButton } from "../../ui";
import styles from "./find.module.css";
import { PaneSelect } from "./pane-select";
import { type FindQuery, SINCE, SINCE_LABELS, type Since } from "./query";

export interface FindBarProps {
  query: FindQuery;
  onChange: (fields: Partial<FindQuery>) => void;
  input: RefObject<HTMLInputElement | null>;
  /** Why the last search was refused. */
  error: string | null;
}

export function FindBar({ query, onChange, input, error }: FindBarProps) {
  const note = useId();
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown" && run("row-next")) event.preventDefault();
  };
  return (
    <search className={styles.bar}>
      <div className={styles.box}>
        <Search className={styles.boxIcon} aria-hidden />
        <input
          ref={input}
          type="search"
          className={cx(controlClass, styles.text)}
          placeholder="Search all output"
          aria-label="Search all output"
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? note : undefined}
          autoCapitalize="off"
          autoComplete="off"
          autoCorrect="off"
          spellCheck={false}
          enterKeyHint="search"
          value={query.text}
          onChange={(event) => onChange({ text: event.target.value })}
          onKeyDown={pressed}
        />
        <IconButton
          label="Regular expression"
          aria-pressed={query.isRegex}
          onClick={() => onChange({ isRegex: !query.isRegex })}
        >
          <Regex />
        </IconButton>
        <IconButton
          label="Match case"
          aria-pressed={query.matchCase}
          onClick={() => onChange({ matchCase: !query.matchCase })}
        >
          <CaseSensitive />
        </IconButton>
      </div>
      <div className={styles.filters}>
        <PaneSelect value={query.pane} onChange={(pane) => onChange({ pane })} />
        <select
          className={cx(controlClass, styles.select)}
          aria-label="Since"
          value={query.since}
          onChange={(event) => onChange({ since: event.target.value as Since })}
        >
          {SINCE.map((since) => (
            <option key={since} value={since}>
              {SINCE_LABELS[since]}
            </option>
          ))}
        </select>
        <Chip
          pressed={query.withEnded}
          title="Also search panes whose program has ended"
          onClick={() => onChange({ withEnded: !query.withEnded })}
        >
          Ended panes
        </Chip>
      </div>
      {error && (
        <p id={note} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </search>
  );
}
