/**
 * Questions of programs to their terminal. The server is the one that answers; an emulator in the
 * page that answered as well would type `1;2c` into the program.
 */

/** Identifies a control sequence, as the emulator's parser does. */
export interface SequenceId {
  prefix?: string;
  intermediates?: string;
  final: string;
}

/** Device attributes, status and mode reports, terminal parameters, version, keyboard flags. */
export const CSI_QUERIES: readonly SequenceId[] = [
  { final: "c" },
  { prefix: ">", final: "c" },
  { prefix: "=", final: "c" },
  { final: "n" },
  { prefix: "?", final: "n" },
  { intermediates: "$", final: "p" },
  { prefix: "?", intermediates: "$", final: "p" },
  { final: "x" },
  { prefix: ">", final: "q" },
  { prefix: "?", final: "u" },
  { final: "t" },
];

/** Settings (DECRQSS) and capabilities (XTGETTCAP). */
export const DCS_QUERIES: readonly SequenceId[] = [
  { intermediates: "$", final: "q" },
  { intermediates: "+", final: "q" },
];

/** Colours: palette, foreground, background, cursor, selection. */
export const OSC_COLOURS: readonly number[] = [4, 10, 11, 12, 17, 19];

/** Whether a colour sequence asks; one that sets a colour has none of these parts. */
export function isColourQuery(data: string): boolean {
  return data.split(";").includes("?");
}
