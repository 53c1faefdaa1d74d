/** Rows of a screen with SGR sequences as runs of equal style. Pure. */

/** An index of the palette, or `#rrggbb`. */
export type AnsiColour = number | string;

export interface AnsiStyle {
  fg?: AnsiColour;
  bg?: AnsiColour;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  hidden?: boolean;
  strike?: boolean;
}

export interface AnsiRun {
  text: string;
  style: AnsiStyle;
}

export interface AnsiRow {
  /** Equal for rows that look the same. */
  key: string;
  runs: AnsiRun[];
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it matches escape sequences
const SEQUENCE = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[\d;:?]*[@-~]/g;

/** The rows of a screen; a style lasts until it is changed, also over the end of a row. */
export function parseScreen(ansi: string): AnsiRow[] {
  let style: AnsiStyle = {};
  return ansi.split("\n").map((line) => {
    const start = JSON.stringify(style);
    const runs: AnsiRun[] = [];
    const add = (text: string) => {
      if (text !== "") runs.push({ text, style });
    };
    let at = 0;
    for (const match of line.matchAll(SEQUENCE)) {
      add(line.slice(at, match.index));
      if (match[1] !== undefined) style = applySgr(style, match[1]);
      at = match.index + match[0].length;
    }
    add(line.slice(at));
    return { key: start === "{}" ? line : `${start}${line}`, runs };
  });
}

/** The style after the parameters of an SGR sequence. */
function applySgr(style: AnsiStyle, parameters: string): AnsiStyle {
  const groups = parameters.split(";");
  let next = style;
  for (let at = 0; at < groups.length; at += 1) {
    const parts = (groups[at] ?? "").split(":").map(Number);
    const code = parts[0] ?? 0;
    if (code === 38 || code === 48) {
      // `38;5;n` is several parameters, `38:5:n` one.
      const whole = parts.length > 1 ? parts : groups.slice(at, at + 5).map(Number);
      const { colour, used } = extended(whole);
      if (parts.length === 1) at += used;
      if (colour !== null) next = { ...next, [code === 38 ? "fg" : "bg"]: colour };
    } else {
      next = applyCode(next, code, parts[1]);
    }
  }
  return next;
}

function extended(parts: number[]): { colour: AnsiColour | null; used: number } {
  if (parts[1] === 5) return { colour: parts[2] ?? null, used: 2 };
  if (parts[1] !== 2) return { colour: null, used: 0 };
  // `38:2::r:g:b` has an empty colour space.
  const rgb = parts.length > 5 ? parts.slice(3, 6) : parts.slice(2, 5);
  const hex = rgb.map((part) => (part || 0).toString(16).padStart(2, "0")).join("");
  return { colour: `#${hex}`, used: 4 };
}

const ON: Record<number, keyof AnsiStyle> = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  8: "hidden",
  9: "strike",
  21: "underline",
};

const OFF: Record<number, readonly (keyof AnsiStyle)[]> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  28: ["hidden"],
  29: ["strike"],
  39: ["fg"],
  49: ["bg"],
};

function applyCode(style: AnsiStyle, code: number, kind: number | undefined): AnsiStyle {
  if (code === 0) return {};
  if (code === 4 && kind === 0) return without(style, ["underline"]);
  const on = ON[code];
  if (on) return { ...style, [on]: true };
  const off = OFF[code];
  if (off) return without(style, off);
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  return style;
}

function without(style: AnsiStyle, names: readonly (keyof AnsiStyle)[]): AnsiStyle {
  const entries = Object.entries(style).filter(([name]) => !names.includes(name as "fg"));
  return Object.fromEntries(entries);
}
