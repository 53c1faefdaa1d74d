/** Patterns of names: `pane:exited`, `pane:*`, `*`, or several with commas between them. */

/** Whether a name matches. */
export type Matcher = (name: string) => boolean;

/** Reads a pattern; throws when it is not one. */
export function readPattern(pattern: unknown): { list: string[]; matches: Matcher } {
  if (typeof pattern !== "string") throw new TypeError("a pattern must be a text, as in \"pane:exited\"");
  const list = pattern.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
  if (list.length === 0) throw new TypeError("the pattern is empty; \"*\" is everything");
  for (const entry of list) {
    const star = entry.indexOf("*");
    if (star !== -1 && star !== entry.length - 1) {
      throw new TypeError(`invalid pattern "${entry}": use a name ("pane:exited"), a prefix ("pane:*") or "*"`);
    }
  }
  const matches = (name: string) => list.some((entry) => matchesOne(entry, name));
  return { list, matches };
}

function matchesOne(entry: string, name: string): boolean {
  return entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name;
}
