/** The timeline of a pane from the answer of `pane:marks`. Pure. */
import type { Mark, MarkKind, Timeline } from "./timeline";

/** What the server answers, as far as a replay needs it. */
export interface MarksAnswer {
  /** None without output. */
  firstTime?: string | null;
  endTime?: string | null;
  spanMs: number;
  output: readonly { time: string; bytes: number }[];
  marks: readonly { kind: string; time: string; detail?: string | null }[];
  /** There may be older marks. */
  before?: number | null;
}

const KINDS: Record<string, MarkKind> = {
  prompt: "prompt",
  question: "question",
  state: "state",
  exit: "exit",
  restart: "restart",
};

export const KIND_WORDS: Record<MarkKind, string> = {
  prompt: "Prompt",
  question: "Question",
  ready: "Ready",
  state: "State",
  exit: "End",
  restart: "Restart",
  other: "Event",
};

/** Nothing for a pane that has printed nothing that is kept. */
export function timelineOf(answer: MarksAnswer): Timeline | null {
  if (!answer.firstTime || !answer.endTime || answer.output.length === 0) return null;
  const start = Date.parse(answer.firstTime);
  const marks = answer.marks.map(markOf).filter((mark) => mark.at >= start);
  // What happened after the last output, such as the end of the program, belongs to it too.
  const last = marks.at(-1)?.at ?? start;
  return {
    start,
    end: Math.max(Date.parse(answer.endTime), last),
    bucketMs: answer.spanMs,
    buckets: answer.output.map(({ time, bytes }) => ({ at: Date.parse(time), bytes })),
    marks,
  };
}

function markOf({ kind, time, detail }: MarksAnswer["marks"][number]): Mark {
  const known = kind === "state" && detail === "ready" ? "ready" : (KINDS[kind] ?? "other");
  const word = KIND_WORDS[known];
  const label = !detail || known === "ready" ? word : `${word}: ${detail}`;
  return { at: Date.parse(time), kind: known, label };
}
