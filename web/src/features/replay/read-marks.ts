/** The timeline of a pane from the answer of `pane:marks`. Pure. */
import type { Mark, MarkKind, Timeline } from "./timeline";

/** What the server answers. */
export interface MarksAnswer {
  start: string;
  end: string;
  bucketMs: number;
  buckets: readonly { time: string; bytes: number }[];
  marks: readonly { time: string; kind: string; label?: string | null }[];
  truncated?: boolean;
}

const KINDS: Record<string, MarkKind> = {
  prompt: "prompt",
  question: "question",
  ready: "ready",
  state: "state",
  exit: "exit",
  size: "size",
};

export const KIND_WORDS: Record<MarkKind, string> = {
  prompt: "Prompt",
  question: "Question",
  ready: "Ready",
  state: "State",
  exit: "Exit",
  size: "Size",
  other: "Event",
};

export function timelineOf(answer: MarksAnswer): Timeline {
  const start = Date.parse(answer.start);
  return {
    start,
    end: Math.max(start, Date.parse(answer.end)),
    bucketMs: answer.bucketMs,
    buckets: answer.buckets.map(({ time, bytes }) => ({ at: Date.parse(time), bytes })),
    marks: answer.marks.map(markOf),
  };
}

function markOf({ time, kind, label }: MarksAnswer["marks"][number]): Mark {
  const known = kind === "state" && label === "ready" ? "ready" : (KINDS[kind] ?? "other");
  return { at: Date.parse(time), kind: known, label: label ?? "" };
}
