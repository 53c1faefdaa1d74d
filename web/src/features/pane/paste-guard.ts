/** When a paste asks first: several lines into a program that would run each of them. Pure. */

export interface PasteWarning {
  text: string;
  lines: number;
}

/** A final newline does not count; a program with bracketed paste takes a paste as one. */
export function guardPaste(text: string, isBracketed: boolean): PasteWarning | null {
  if (isBracketed) return null;
  const lines = text
    .replace(/\r\n?|\n$/g, "\n")
    .replace(/\n+$/, "")
    .split("\n").length;
  return lines > 1 ? { text, lines } : null;
}
