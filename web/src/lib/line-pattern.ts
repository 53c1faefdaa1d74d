/** What lines are searched for: text or a regular expression. Pure. */
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
