/** What a pane has printed over time, and the moments to go to. Pure. */

export type MarkKind = "prompt" | "question" | "ready" | "state" | "exit" | "restart" | "other";

export interface Mark {
  at: number;
  kind: MarkKind;
  label: string;
}

/** Bytes that were printed from `at` on for the length of a bucket. */
export interface Bucket {
  at: number;
  bytes: number;
}

/** Times are milliseconds since 1970. */
export interface Timeline {
  start: number;
  end: number;
  bucketMs: number;
  /** The buckets with output, in the order of time. */
  buckets: readonly Bucket[];
  /** In the order of time. */
  marks: readonly Mark[];
}

/** How finely the tape is stamped. */
export const TENTH = 100;

/**
 * The moment within the timeline, in milliseconds. It is shown in tenths, but asked for exactly:
 * a hit or a mark is on the screen of its own time, and not yet on that of the tenth before.
 */
export function clamp({ start, end }: Timeline, at: number): number {
  return Math.min(end, Math.max(start, Math.round(at)));
}

/** Where a moment is, from 0 to 1. */
export function fraction({ start, end }: Timeline, at: number): number {
  return end > start ? Math.min(1, Math.max(0, (at - start) / (end - start))) : 1;
}

/** The next or previous mark; the end or the start when there is none. */
export function neighbourMark({ marks, start, end }: Timeline, at: number, step: 1 | -1): number {
  if (step === 1) return marks.find((mark) => mark.at > at + TENTH)?.at ?? end;
  return marks.findLast((mark) => mark.at < at - TENTH)?.at ?? start;
}

/** The latest mark at or before a moment. */
export function markBefore({ marks }: Timeline, at: number): Mark | null {
  return marks.findLast((mark) => mark.at <= at) ?? null;
}

/** When output begins or goes on after a moment; nothing when that was all. */
export function nextOutput({ buckets, bucketMs }: Timeline, at: number): number | null {
  const bucket = buckets.find((it) => it.at + bucketMs > at);
  return bucket ? Math.max(at, bucket.at) : null;
}

/** Whether anything was printed after `from` up to `to`. */
export function hasOutput({ buckets, bucketMs }: Timeline, from: number, to: number): boolean {
  return buckets.some((it) => it.at + bucketMs > from && it.at <= to);
}

/** The rate around a moment, in bytes per second. */
export function rateAt({ buckets, bucketMs }: Timeline, at: number): number {
  const bucket = buckets.find((it) => it.at <= at && at < it.at + bucketMs);
  return bucket ? (bucket.bytes * 1000) / bucketMs : 0;
}

const MOST_COLUMNS = 300;

/** The output as heights from 0 to 1, in columns as wide as a bucket. Little stays visible. */
export function heights(timeline: Timeline): number[] {
  const { start, end, bucketMs, buckets } = timeline;
  const columns = Math.min(MOST_COLUMNS, Math.max(1, Math.ceil((end - start) / bucketMs)));
  const sums = new Array<number>(columns).fill(0);
  for (const { at, bytes } of buckets) {
    const column = Math.min(columns - 1, Math.floor(fraction(timeline, at) * columns));
    sums[column] = (sums[column] ?? 0) + bytes;
  }
  const most = Math.max(1, ...sums);
  return sums.map((sum) => (sum === 0 ? 0 : Math.max(0.06, Math.sqrt(sum / most))));
}
