import { expect, test } from "vitest";
import { append, gap, MOST_EVENTS, noEvents } from "./events";
import { eventOf } from "./fixtures";

const ids = (log: typeof noEvents) =>
  log.entries.map((entry) =>
    entry.kind === "event" ? entry.event.id : `${entry.from}-${entry.to}`,
  );

test("an event that comes again after a reconnect is there once", () => {
  const log = append(noEvents, [eventOf(1, "x", "a"), eventOf(2, "x", "a")]);
  expect(ids(append(log, [eventOf(2, "x", "a"), eventOf(3, "x", "a")]))).toEqual([1, 2, 3]);
});

test("a gap has the range that is missing", () => {
  const log = gap(append(noEvents, [eventOf(4, "x", "a")]), 10);
  expect(ids(append(log, [eventOf(10, "x", "a")]))).toEqual([4, "5-9", 10]);
  expect(gap(log, 5)).toBe(log);
});

test("only the latest events are kept", () => {
  const many = Array.from({ length: MOST_EVENTS + 5 }, (_, index) => eventOf(index + 1, "x", "a"));
  const log = append(noEvents, many);
  expect(log.entries).toHaveLength(MOST_EVENTS);
  expect(ids(log)[0]).toBe(6);
});
