/** A JSON value as a tree whose parts fold. Parts are drawn when they are unfolded. */
import { type ReactNode, useState } from "react";
import { cx } from "./class-names";
import styles from "./json-view.module.css";

/** As many entries of a part are shown at first, and at each press of "more". */
const STEP = 100;
/** Longer texts are cut until they are asked for. */
const LONGEST = 4_000;

export interface JsonViewProps {
  value: unknown;
  /** How many levels are unfolded at first. */
  depth?: number;
  name?: string;
}

export function JsonView({ value, depth = 2, name }: JsonViewProps) {
  if (typeof value !== "object" || value === null) {
    return (
      <div className={styles.line}>
        <Name name={name} />
        <Scalar value={value} />
      </div>
    );
  }
  const entries = Object.entries(value);
  if (entries.length === 0) {
    return (
      <div className={styles.line}>
        <Name name={name} />
        <span className={styles.mark}>{Array.isArray(value) ? "[]" : "{}"}</span>
      </div>
    );
  }
  return <Part entries={entries} isList={Array.isArray(value)} depth={depth} name={name} />;
}

interface PartProps {
  entries: [string, unknown][];
  isList: boolean;
  depth: number;
  name: string | undefined;
}

function Part({ entries, isList, depth, name }: PartProps) {
  const [isOpen, setOpen] = useState(depth > 0);
  const [most, setMost] = useState(STEP);
  const rest = entries.length - most;
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  return (
    <details
      className={styles.part}
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary className={styles.line}>
        <Name name={name} />
        <span className={styles.mark}>{isOpen ? open : `${open}${preview(entries)}${close}`}</span>
      </summary>
      {isOpen && (
        <div className={styles.entries}>
          {entries.slice(0, most).map(([key, item]) => (
            <JsonView key={key} name={key} value={item} depth={depth - 1} />
          ))}
          {rest > 0 && (
            <button type="button" className={styles.more} onClick={() => setMost(most + STEP)}>
              {rest.toLocaleString("en-US")} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

const MOST_PREVIEWED = 4;
const LONGEST_PREVIEW = 60;

/** The first entries of a folded part. */
function preview(entries: readonly [string, unknown][]): string {
  const shown = entries.slice(0, MOST_PREVIEWED).map(([key, item]) => {
    if (typeof item === "object" && item !== null)
      return `${key}: ${Array.isArray(item) ? "[…]" : "{…}"}`;
    const text = JSON.stringify(item) ?? "";
    return `${key}: ${text.length > LONGEST_PREVIEW ? `${text.slice(0, LONGEST_PREVIEW)}…` : text}`;
  });
  const rest = entries.length - shown.length;
  return [...shown, ...(rest > 0 ? [`… ${rest} more`] : [])].join(", ");
}

function Name({ name }: { name: string | undefined }) {
  if (name === undefined) return null;
  return (
    <>
      <span className={styles.name}>{name}</span>
      <span className={styles.mark}>: </span>
    </>
  );
}

function Scalar({ value }: { value: unknown }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  if (typeof value !== "string") {
    return (
      <span className={styles.number}>{value === undefined ? "" : JSON.stringify(value)}</span>
    );
  }
  const isCut = !isWhole && value.length > LONGEST;
  const text = isCut ? value.slice(0, LONGEST) : value;
  return (
    <>
      <span className={cx(styles.text, text.includes("\n") && styles.block)}>
        {visible(JSON.stringify(text))}
      </span>
      {isCut && (
        <button type="button" className={styles.more} onClick={() => setWhole(true)}>
          {(value.length - LONGEST).toLocaleString("en-US")} more characters
        </button>
      )}
    </>
  );
}

/** Lines of a text are lines; everything else stays escaped, as it is in JSON. */
function visible(json: string): string {
  return json.replace(/\\(.)/g, (all, char) => (char === "n" ? "\n" : all));
}
