/** What lines are searched for: text or a regular expression. Pure. */
import type { Match } from "./matches";
import type { Query } from "./route";

export interface LinePattern {
  text: string;
  isRegex: boolean;
  matchCase: boolean;
}

export function patternOf(params: URLSearchParams): LinePattern {
  return {
    text: params.get("q") ?? "",
    isRegex: params.get("re") === "1",
    matchCase: params.get("case") === "1",
  };
}

/** For routes that carry the pattern. */
export function patternQuery({ text, isRegex, matchCase }: LinePattern): Query {
  return { q: text, re: isRegex ? "1" : null, case: matchCase ? "1" : null };
}

/** What the server is asked. */
export function patternParams({ text, isRegex, matchCase }: LinePattern) {
  return { pattern: isRegex ? text : escapeRegex(text), ignoreCase: !matchCase };
}

/** Text as a pattern that matches just this text. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}#&~-]/g, "\\$&");
}

/** Where a text without regular expressions matches, for lines that no answer of the server has. */
export function literalMatches(line: string, { text, isRegex, matchCase }: LinePattern): Match[] {
  if (text === "" || isRegex) return [];
  const fold = (it: string) => (matchCase ? it : it.toLowerCase());
  const characters = Array.from(line, fold);
  const wanted = Array.from(text, fold);
  const found: Match[] = [];
  for (let at = 0; at + wanted.length <= characters.length; at += 1) {
    if (!wanted.every((character, index) => character === characters[at + index])) continue;
    found.push([at, at + wanted.length]);
    at += wanted.length - 1;
  }
  return found;
}
