import { expect, test } from "vitest";
import { advance, type Clock, seek, toggle } from "./clock";
import { timelineOf } from "./read-marks";
import { hasOutput, heights, markBefore, neighbourMark, rateAt, type Timeline } from "./timeline";

const timeline: Timeline = {
  start: 10_000,
  end: 70_000,
  bucketMs: 1_000,
  buckets: [
    { at: 10_000, bytes: 100 },
    { at: 12_000, bytes: 400 },
    { at: 60_000, bytes: 100 },
  ],
  marks: [
    { at: 11_000, kind: "prompt", label: "Say hello" },
    { at: 60_500, kind: "question", label: "Run it?" },
  ],
};
const clock: Clock = { at: 10_000, isPlaying: true, speed: 1, skipsIdle: false };

test("time passes at the chosen speed and stops at the end", () => {
  expect(advance(clock, 100, timeline).at).toBe(10_100);
  expect(advance({ ...clock, speed: 4 }, 100, timeline).at).toBe(10_400);
  expect(advance({ ...clock, at: 69_950 }, 100, timeline)).toMatchObject({
    at: 70_000,
    isPlaying: false,
  });
  expect(advance({ ...clock, isPlaying: false }, 100, timeline).at).toBe(10_000);
});

test("silence is skipped up to a moment before the next output", () => {
  const skipping = { ...clock, skipsIdle: true };
  expect(advance({ ...skipping, at: 13_000 }, 100, timeline).at).toBe(59_600);
  expect(advance({ ...skipping, at: 10_500 }, 100, timeline).at).toBe(10_600);
  expect(advance({ ...skipping, at: 61_000 }, 100, timeline).at).toBe(69_600);
});

test("a seek stays within the timeline", () => {
  expect(seek(clock, 0, timeline).at).toBe(10_000);
  expect(seek(clock, 99_000, timeline).at).toBe(70_000);
  expect(seek(clock, 12_345.4, timeline).at).toBe(12_345);
});

test("playing at the end begins anew", () => {
  const ended = { ...clock, at: 70_000, isPlaying: false };
  expect(toggle(ended, timeline)).toMatchObject({ at: 10_000, isPlaying: true });
  expect(toggle(clock, timeline).isPlaying).toBe(false);
});

test("marks are found in both directions", () => {
  expect(neighbourMark(timeline, 10_000, 1)).toBe(11_000);
  expect(neighbourMark(timeline, 11_000, 1)).toBe(60_500);
  expect(neighbourMark(timeline, 60_500, 1)).toBe(70_000);
  expect(neighbourMark(timeline, 60_500, -1)).toBe(11_000);
  expect(markBefore(timeline, 60_499)?.label).toBe("Say hello");
  expect(markBefore(timeline, 10_500)).toBeNull();
});

test("output is known by time", () => {
  expect(hasOutput(timeline, 13_000, 59_000)).toBe(false);
  expect(hasOutput(timeline, 13_000, 60_000)).toBe(true);
  expect(rateAt(timeline, 12_999)).toBe(400);
  expect(rateAt(timeline, 13_000)).toBe(0);
});

test("the sparkline has a column for each span, and little output stays visible", () => {
  const columns = heights(timeline);
  expect(columns).toHaveLength(60);
  expect(columns[2]).toBe(1);
  expect(columns[1]).toBe(0);
  expect(columns[50]).toBeCloseTo(0.5);
  expect(heights({ ...timeline, bucketMs: 1 })).toHaveLength(300);
});

test("the server's marks become a timeline", () => {
  const time = (second: number) => new Date(Date.UTC(2026, 10, 18, 12, 0, second)).toISOString();
  const answer = {
    firstTime: time(10),
    endTime: time(30),
    spanMs: 100,
    output: [{ time: time(10), bytes: 7 }],
    marks: [
      { kind: "prompt", time: time(5), detail: "submitted" },
      { kind: "question", time: time(12), detail: "permission" },
      { kind: "state", time: time(20), detail: "ready" },
      { kind: "exit", time: time(31) },
    ],
  };
  const found = timelineOf(answer);
  expect(found?.marks.map(({ kind, label }) => [kind, label])).toEqual([
    ["question", "Question: permission"],
    ["ready", "Ready"],
    ["exit", "End"],
  ]);
  expect(found?.end).toBe(Date.parse(time(31)));
  expect(timelineOf({ ...answer, firstTime: null, output: [] })).toBeNull();
});
