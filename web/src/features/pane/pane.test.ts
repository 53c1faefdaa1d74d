import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Channel } from "../../lib/channel";
import type { Emulator } from "./emulator";
import { Feed, type Skip } from "./feed";
import { fitFont } from "./font-fit";
import { isMisleading, webAddress } from "./link-guard";
import { guardPaste } from "./paste-guard";
import { isColourQuery } from "./queries";
import { acquire, forget, touch } from "./webgl-pool";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const opening = {
  size: { cols: 80, rows: 24 },
  status: "running" as const,
  createdAt: "T",
  offset: 100,
  resumed: false,
};

/** A feed whose emulator writes down what it is given and parses when it is told to. */
function setUp() {
  const done: string[] = [];
  const parse: (() => void)[] = [];
  const skips: Skip[] = [];
  const channel = { behind: 0, consumed: vi.fn(), restart: vi.fn() };
  const taken = (name: string) => (bytes: Uint8Array, parsed: () => void) => {
    done.push(`${name} ${bytes.length}`);
    parse.push(parsed);
  };
  const emulator = {
    write: taken("write"),
    restart: taken("restart"),
    resize: ({ cols }: { cols: number }) => done.push(`resize ${cols}`),
  } as unknown as Emulator;
  const events = {
    opened: () => {},
    skipped: (skip: Skip) => skips.push(skip),
    exited: () => {},
    gone: () => {},
    failed: () => {},
  };
  let now = 0;
  const feed = new Feed(emulator, events, () => now);
  feed.follow(channel as unknown as Channel);
  const wait = (ms: number) => {
    now += ms;
  };
  return { feed, done, parse, skips, channel, wait };
}

test("writes are small and acknowledged when they are parsed", () => {
  const { feed, done, parse, channel } = setUp();
  feed.opened(opening);
  feed.output(new Uint8Array(70_000), 100);
  expect(done).toEqual(["resize 80", "write 32768", "write 32768", "write 4464"]);
  expect(channel.consumed).not.toHaveBeenCalled();
  for (const parsed of parse) parsed();
  expect(channel.consumed.mock.calls.flat()).toEqual([32_868, 65_636, 70_100]);
});

test("a screen begins the terminal anew, and older writes acknowledge nothing", () => {
  const { feed, done, parse, channel } = setUp();
  feed.opened(opening);
  feed.output(new Uint8Array(10), 100);
  feed.opened({ ...opening, offset: 900 });
  feed.screen(new Uint8Array(5), 900);
  for (const parsed of parse) parsed();
  expect(done.at(-1)).toBe("restart 5");
  expect(channel.consumed.mock.calls.flat()).toEqual([900]);
});

test("a resize takes effect at its place in the output", () => {
  const { feed, done, parse } = setUp();
  feed.opened(opening);
  feed.resized({ cols: 120, rows: 40 }, 104);
  feed.output(new Uint8Array(10), 100);
  expect(done).toEqual(["resize 80", "write 4", "write 0", "write 6"]);
  parse[1]?.();
  expect(done.at(-1)).toBe("resize 120");
});

test("after a resize the screen of the server is shown", () => {
  const { feed, channel } = setUp();
  feed.opened(opening);
  feed.resized({ cols: 120, rows: 40 }, 100);
  feed.resized({ cols: 121, rows: 40 }, 100);
  vi.advanceTimersByTime(300);
  expect(channel.restart).toHaveBeenCalledTimes(1);
});

test("a flood of half a second is skipped, and says how much", () => {
  const { feed, parse, skips, channel, wait } = setUp();
  feed.opened(opening);
  feed.output(new Uint8Array(10), 100);
  parse[0]?.();
  channel.behind = 1_200_000;
  feed.output(new Uint8Array(10), 110);
  wait(499);
  feed.output(new Uint8Array(10), 120);
  expect(channel.restart).not.toHaveBeenCalled();
  wait(1);
  feed.output(new Uint8Array(10), 130);
  expect(channel.restart).toHaveBeenCalledTimes(1);
  feed.opened({ ...opening, offset: 9_000_110 });
  expect(skips).toEqual([{ from: 110, lostTo: 0, to: 9_000_110 }]);
});

test("a moment of much output is no flood", () => {
  const { feed, channel, wait } = setUp();
  feed.opened(opening);
  for (const behind of [1_200_000, 10, 1_200_000]) {
    channel.behind = behind;
    feed.output(new Uint8Array(1), 100);
    wait(400);
  }
  expect(channel.restart).not.toHaveBeenCalled();
});

test("a gap says what is lost", () => {
  const { feed, skips } = setUp();
  feed.opened(opening);
  feed.gap(100, 500);
  feed.opened({ ...opening, offset: 800 });
  expect(skips).toEqual([{ from: 100, lostTo: 500, to: 800 }]);
});

test("the font shrinks in half pixels down to nine", () => {
  const cells = (size: number) => ({ width: 120 * size * 0.6, height: 40 * size * 1.2 });
  const fit = (width: number) => fitFont({ width, height: 2_000 }, 13, 13, cells);
  expect([1_000, 900, 870, 100].map(fit)).toEqual([13, 12.5, 12, 9]);
  expect(fitFont({ width: 10, height: 10 }, 8, 8, cells)).toBe(8);
});

test("a paste of several lines asks, unless the program takes it as one", () => {
  expect(guardPaste("a\nb\nc", false)).toMatchObject({ lines: 3 });
  expect(guardPaste("a\r\nb\r\n", false)).toMatchObject({ lines: 2 });
  expect(guardPaste("one line\n", false)).toBeNull();
  expect(guardPaste("a\nb", true)).toBeNull();
});

test("only colour sequences that ask are swallowed", () => {
  expect(["?", "4;?", "#112233", "4;#fff"].map(isColourQuery)).toEqual([true, true, false, false]);
});

test("links to the web open; those whose text names another host ask", () => {
  expect(webAddress({ address: "javascript:alert(1)", label: "x" })).toBeNull();
  expect(webAddress({ address: "https://a.example/x", label: "x" })?.hostname).toBe("a.example");
  const misleading = (label: string) => isMisleading({ address: "https://evil.example/", label });
  expect(misleading("https://good.example/login")).toBe(true);
  expect(misleading("https://evil.example/login")).toBe(false);
  expect(misleading("the docs")).toBe(false);
});

test("the terminal that was not used for longest gives up its context", () => {
  const released: number[] = [];
  const terminals = Array.from({ length: 9 }, (_, index) => ({ index }));
  for (const terminal of terminals.slice(0, 8)) {
    acquire(terminal, () => released.push(terminal.index));
  }
  touch(terminals[0] as object);
  acquire(terminals[8] as object, () => {});
  expect(released).toEqual([1]);
  for (const terminal of terminals) forget(terminal);
});
