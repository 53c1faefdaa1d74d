/** A search box with toggles for regular expressions and for case. */
import { CaseSensitive, Regex, Search } from "lucide-react";
import type { KeyboardEvent, RefObject } from "react";
import type { LinePattern } from "../lib/line-pattern";
import { IconButton } from "./button";
import { cx } from "./class-names";
import fieldStyles from "./field.module.css";
import styles from "./search-box.module.css";

export interface SearchBoxProps {
  label: string;
  value: LinePattern;
  onChange: (change: Partial<LinePattern>) => void;
  input: RefObject<HTMLInputElement | null>;
  onKeyDown?: (event: KeyboardEvent) => void;
  /** The id of the text that says why the pattern was refused. */
  errorId?: string | null;
}

export function SearchBox({ label, value, onChange, input, onKeyDown, errorId }: SearchBoxProps) {
  return (
    <div className={styles.box}>
      <Search className={styles.icon} aria-hidden />
      <input
        ref={input}
        type="search"
        className={cx(fieldStyles.input, styles.text)}
        placeholder={label}
        aria-label={label}
        aria-invalid={errorId ? true : undefined}
        aria-describedby={errorId ?? undefined}
        autoCapitalize="off"
        autoComplete="off"
        autoCorrect="off"
        spellCheck={false}
        enterKeyHint="search"
        value={value.text}
        onChange={(event) => onChange({ text: event.target.value })}
        onKeyDown={onKeyDown}
      />
      <IconButton
        label="Regular expression"
        aria-pressed={value.isRegex}
        onClick={() => onChange({ isRegex: !value.isRegex })}
      >
        <Regex />
      </IconButton>
      <IconButton
        label="Match case"
        aria-pressed={value.matchCase}
        onClick={() => onChange({ matchCase: !value.matchCase })}
      >
        <CaseSensitive />
      </IconButton>
    </div>
  );
}
