/** Texts with the parts that a pattern matches, as the server reports them. Pure. */

export interface Segment {
  text: string;
  isHit: boolean;
}

/** From a character up to another, counted in Unicode characters. */
export type Match = readonly [number, number];

/** Cuts a text at its matches. */
export function segments(text: string, matches: readonly Match[]): Segment[] {
  if (matches.length === 0) return text === "" ? [] : [{ text, isHit: false }];
  const characters = Array.from(text);
  const found: Segment[] = [];
  let at = 0;
  const add = (to: number, isHit: boolean) => {
    if (at < to) found.push({ text: characters.slice(at, to).join(""), isHit });
    at = Math.max(at, to);
  };
  for (const [from, to] of matches) {
    add(from, false);
    add(to, true);
  }
  add(characters.length, false);
  return found;
}

/** Leaves out what is far before the first match, so that a long line shows it. */
export function excerpt(
  text: string,
  matches: readonly Match[],
  before: number,
): { text: string; matches: Match[] } {
  const first = matches[0]?.[0] ?? 0;
  const cut = first - before;
  if (cut < before / 2) return { text, matches: [...matches] };
  const rest = `…${Array.from(text).slice(cut).join("")}`;
  return { text: rest, matches: matches.map(([from, to]) => [from - cut + 1, to - cut + 1]) };
}
