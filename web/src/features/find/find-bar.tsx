/** The search box, how it matches, and which panes and times it covers. */
import { type KeyboardEvent, type RefObject, useId } from "react";
import { run } from "../../lib/commands";
import { controlClass, cx, SearchBox } from "../../ui";
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
      <SearchBox
        label="Search all output"
        value={query}
        onChange={onChange}
        input={input}
        errorId={error ? note : null}
        onKeyDown={pressed}
      />
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
        <label className={styles.ended}>
          <input
            type="checkbox"
            checked={query.withEnded}
            onChange={(event) => onChange({ withEnded: event.target.checked })}
          />
          Ended
        </label>
      </div>
      {error && (
        <p id={note} className={styles.error} role="alert">
          {error}
        </p>
      )}
    </search>
  );
}
