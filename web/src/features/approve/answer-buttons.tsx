/** The answers of a question, as buttons in a row of the list. */
import type { TriageRow } from "../../state/needs";

/** The first options of what a row asks; nothing for rows that ask nothing. */
export function AnswerButtons(_: { row: TriageRow }) {
  return null;
}
