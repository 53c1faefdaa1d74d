import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChannelReader } from "../../lib/channel";
import { CallError } from "../../lib/errors";
import { columnsFor, moved, neighbour, parseIds, toggled } from "./order";
import { type Screen, ScreenWatch } from "./screen-watch";

test("ids are read from the address, each once and sixteen at most", () => {
  expect(parseIds(null)).toEqual([]);
  expect(parseIds("a,b,,a")).toEqual(["a", "b"]);
  expect(parseIds(Array.from({ length: 20 }, (_, n) => `p${n}`).join(","))).toHaveLength(16);
});

test("columns follow the number of tiles and the width", () => {
  const at = (width: number) => [1, 2, 4, 5, 9, 10, 16].map((n) => columnsFor(n, width));
  expect(at(1440)).toEqual([1, 2, 2, 3, 3, 4, 4]);
  expect(at(1024)).toEqual([1, 2, 2, 3, 3, 3, 3]);
  expect(at(800)).toEqual([1, 2, 2, 2, 2, 2, 2]);
});

test("arrows lead to the tile beside, and stay at the edges", () => {
  // 0 1 2
  // 3 4
  const from = (at: number) =>
    (["left", "right", "up", "down"] as const).map((way) => neighbour(at, way, 5, 3));
  expect(from(0)).toEqual([0, 1, 0, 3]);
  expect(from(2)).toEqual([1, 2, 2, 2]);
  expect(from(3)).toEqual([3, 4, 0, 3]);
  expect(from(4)).toEqual([3, 4, 1, 4]);
});

test("a tile moves to another place, and the others make room", () => {
  expect(moved(["a", "b", "c"], "a", 2)).toEqual(["b", "c", "a"]);
  expect(moved(["a", "b", "c"], "c", 0)).toEqual(["c", "a", "b"]);
  expect(toggled(["a", "b"], "a")).toEqual(["b"]);
  expect(toggled(["a"], "b")).toEqual(["a", "b"]);
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watch on a pane whose screen has the revision `now.revision`. */
function watched() {
  const now = { revision: 1, fails: null as CallError | null };
  const log: string[] = [];
  let reader: ChannelReader | undefined;
  const opening = {} as Parameters<ChannelReader["opened"]>[0];
  const channel = {
    restart: () => {
      log.push("restart");
      reader?.opened(opening);
    },
    close: () => log.push("close"),
  };
  const port = {
    open: (_: string, it: ChannelReader) => {
      reader = it;
      return channel;
    },
    read: () => {
      log.push("read");
      const { revision, fails } = now;
      return fails ? Promise.reject(fails) : Promise.resolve({ revision } as Screen);
    },
  };
  const watch = new ScreenWatch(port, "ui", {
    screen: (screen) => log.push(`show ${screen.revision}`),
    failed: (error) => log.push(error.code),
  });
  const printed = () => reader?.output(new Uint8Array(1), 0);
  const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);
  return { now, log, watch, printed, settle, opened: () => reader?.opened(opening) };
}

test("a screen is read when the channel opens, and again after output", async () => {
  const { now, log, printed, settle, opened } = watched();
  opened();
  await settle();
  now.revision = 2;
  printed();
  await settle(100);
  expect(log).toEqual(["read", "show 1", "restart", "read", "show 2"]);
});

test("a flood is read ten times a second at most", async () => {
  const { now, log, printed, settle, opened } = watched();
  opened();
  await settle();
  for (let at = 0; at < 100; at += 1) {
    now.revision += 1;
    printed();
    await settle(10);
  }
  // Each byte of a flood comes after the channel was opened again.
  expect(log.filter((it) => it === "read").length).toBeLessThanOrEqual(11);
});

test("a screen that looks the same is not drawn again", async () => {
  const { log, printed, settle, opened } = watched();
  opened();
  await settle();
  printed();
  await settle(100);
  expect(log).toEqual(["read", "show 1", "restart", "read"]);
});

test("a lost connection is no problem of the tile, a refusal is", async () => {
  const { now, log, settle, opened } = watched();
  now.fails = new CallError("unconfirmed", "lost");
  opened();
  await settle();
  expect(log).toEqual(["read"]);
  now.fails = new CallError("forbidden", "no");
  opened();
  await settle();
  expect(log).toEqual(["read", "read", "forbidden"]);
});

test("nothing is drawn after the tile has gone", async () => {
  const { log, watch, printed, settle, opened } = watched();
  opened();
  watch.close();
  printed();
  await settle(0);
  expect(log).toEqual(["read", "close"]);
});
