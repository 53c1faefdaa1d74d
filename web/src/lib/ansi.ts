/** Rows of text with SGR sequences, as `pane:screen` returns them, cut into runs. Pure. */

/** A colour: one of the palette, or of the whole space as CSS has it. */
export type AnsiColour = number | string | null;

export interface AnsiStyle {
  fg: AnsiColour;
  bg: AnsiColour;
  bold?: boolean;
  dim?: boolean;
  italic?: boolean;
  underline?: boolean;
  inverse?: boolean;
  hidden?: boolean;
  strike?: boolean;
}

export interface AnsiRun extends AnsiStyle {
  text: string;
}

const PLAIN: AnsiStyle = { fg: null, bg: null };
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const SEQUENCE = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[\d;:?]*[A-Za-z]/g;

/** The runs of each row. A style holds until it is changed, also in the next row. */
export function ansiRows(text: string): AnsiRun[][] {
  let style = PLAIN;
  return text.split("\n").map((row) => {
    const runs: AnsiRun[] = [];
    let at = 0;
    const add = (end: number) => {
      if (at < end) runs.push({ ...style, text: row.slice(at, end) });
    };
    for (const found of row.matchAll(SEQUENCE)) {
      add(found.index);
      at = found.index + found[0].length;
      if (found[1] !== undefined) style = restyle(style, found[1]);
    }
    add(row.length);
    return runs;
  });
}

const SET: Record<number, Partial<AnsiStyle>> = {
  1: { bold: true },
  2: { dim: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  8: { hidden: true },
  9: { strike: true },
  21: { underline: true },
  22: { bold: false, dim: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  28: { hidden: false },
  29: { strike: false },
  39: { fg: null },
  49: { bg: null },
};

function restyle(before: AnsiStyle, parameters: string): AnsiStyle {
  let style = before;
  const groups = parameters.split(";");
  for (let index = 0; index < groups.length; index += 1) {
    const parts = (groups[index] ?? "").split(":");
    const code = Number(parts[0] || 0);
    if (code === 0) style = PLAIN;
    else if (code === 4 && parts[1] === "0") style = { ...style, underline: false };
    else if (code === 38 || code === 48 || code === 58) {
      const rest = parts.length > 1 ? parts.slice(1) : groups.slice(index + 1);
      const { colour, length } = extended(rest, parts.length > 1);
      if (parts.length === 1) index += length;
      if (code !== 58) style = { ...style, [code === 38 ? "fg" : "bg"]: colour };
    } else style = { ...style, ...(SET[code] ?? basic(code)) };
  }
  return style;
}

function basic(code: number): Partial<AnsiStyle> {
  if (code >= 30 && code <= 37) return { fg: code - 30 };
  if (code >= 40 && code <= 47) return { bg: code - 40 };
  if (code >= 90 && code <= 97) return { fg: code - 82 };
  if (code >= 100 && code <= 107) return { bg: code - 92 };
  return {};
}

/** `5;N` or `2;R;G;B`; with colons there may be an empty part before R. */
function extended(parts: string[], hasColons: boolean): { colour: AnsiColour; length: number } {
  const values = parts.map((part) => Math.min(255, Number(part || 0)));
  if (values[0] === 5) return { colour: indexed(values[1] ?? 0), length: 2 };
  const from = hasColons && parts.length > 4 ? 2 : 1;
  const [red = 0, green = 0, blue = 0] = values.slice(from);
  return { colour: `rgb(${red} ${green} ${blue})`, length: 4 };
}

/** The 6×6×6 cube and the greys of the 256 colours. */
function indexed(n: number): AnsiColour {
  if (n < 16) return n;
  if (n >= 232) {
    const grey = 8 + (n - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40);
  const cube = n - 16;
  const [red, green, blue] = [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6];
  return `rgb(${level(red)} ${level(green)} ${level(blue)})`;
}
