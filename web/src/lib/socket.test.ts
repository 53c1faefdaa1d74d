// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { ChannelReader } from "./channel";
import { FakeWebSocket } from "./fake-websocket";
import { Socket } from "./socket";

const latest = () => FakeWebSocket.latest();
let token: string | null = "secret";
let refused = false;
let socket: Socket;

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  vi.stubGlobal("WebSocket", FakeWebSocket);
  FakeWebSocket.all = [];
  token = "secret";
  refused = false;
  socket = new Socket({
    url: "ws://paned/ws",
    token: () => token,
    forgetToken: () => {
      token = null;
    },
    isRefused: async () => refused,
    random: () => 0,
  });
});

afterEach(() => {
  socket.disconnect();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

async function open(): Promise<FakeWebSocket> {
  socket.connect();
  await latest().welcome();
  return latest();
}

/** A reader that writes down what happens to it. */
function recorder() {
  const seen: string[] = [];
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const reader: ChannelReader = {
    opened: ({ resumed }) => seen.push(resumed ? "resumed" : "opened"),
    screen: (bytes, offset) => seen.push(`screen ${offset} ${text(bytes)}`),
    output: (bytes, offset) => seen.push(`output ${offset} ${text(bytes)}`),
    gap: (from, to) => seen.push(`gap ${from}-${to}`),
    exit: () => seen.push("exit"),
    gone: () => seen.push("gone"),
    failed: (error) => seen.push(error.message),
  };
  return { seen, reader };
}

async function subscribed(ws: FakeWebSocket, channel: number, offset: number): Promise<void> {
  const { id } = ws.lastSent("subscribe");
  const size = { cols: 80, rows: 24 };
  const status = "running";
  await ws.text({
    type: "subscribed",
    id,
    channel,
    pane: "ui",
    offset,
    size,
    status,
    createdAt: "T",
  });
}

test("it authenticates by a subprotocol", async () => {
  const ws = await open();
  expect(ws.protocols).toEqual(["paned.v1", "paned.bearer.secret"]);
  expect(socket.connection.state).toBe("open");
});

test("without a token it does not connect", () => {
  token = null;
  socket.connect();
  expect(FakeWebSocket.all).toHaveLength(0);
  expect(socket.connection.state).toBe("signed-out");
});

test("answers find their request, and refusals carry code and details", async () => {
  const ws = await open();
  const good = socket.call("pane:get", { paneId: "a" });
  const bad = socket.call("pane:get", { paneId: "b" });
  const [first, second] = ws.sent.filter((message) => message.type === "action");
  await ws.text({ type: "error", id: second?.id, error: "no pane `b`", code: "not_found" });
  await ws.text({ type: "ok", id: first?.id, answer: { id: "a" } });
  await expect(good).resolves.toEqual({ id: "a" });
  await expect(bad).rejects.toMatchObject({ code: "not_found", message: "no pane `b`" });
});

test("a request without a connection is refused and never sent later", async () => {
  await expect(socket.call("pane:list", {})).rejects.toMatchObject({ code: "offline" });
  const ws = await open();
  expect(ws.sent.filter((message) => message.type === "action")).toEqual([]);
});

test("a request whose connection is lost is unconfirmed", async () => {
  const ws = await open();
  const typed = socket.request({ type: "input", pane: "ui", text: "x" });
  ws.drop();
  await expect(typed).rejects.toMatchObject({ code: "unconfirmed" });
});

test("it reconnects after a growing delay", async () => {
  const ws = await open();
  ws.drop();
  expect(socket.connection).toMatchObject({ state: "waiting", retryAt: 200 });
  vi.advanceTimersByTime(200);
  latest().drop();
  expect(socket.connection).toMatchObject({ state: "waiting", retryAt: 600 });
  vi.advanceTimersByTime(399);
  expect(FakeWebSocket.all).toHaveLength(2);
  vi.advanceTimersByTime(1);
  expect(FakeWebSocket.all).toHaveLength(3);
});

test("waking connects at once", async () => {
  const ws = await open();
  ws.drop();
  socket.wake();
  expect(FakeWebSocket.all).toHaveLength(2);
});

test("a revoked token ends the session", async () => {
  const ws = await open();
  ws.drop(4401);
  expect(socket.connection).toEqual({ state: "signed-out", refused: true });
  expect(token).toBeNull();
  vi.advanceTimersByTime(60_000);
  expect(FakeWebSocket.all).toHaveLength(1);
});

test("a token that is refused at the upgrade ends the session", async () => {
  refused = true;
  socket.connect();
  latest().drop();
  await vi.advanceTimersByTimeAsync(0);
  expect(socket.connection).toEqual({ state: "signed-out", refused: true });
});

test("input without an answer for four seconds means a new connection", async () => {
  const ws = await open();
  await ws.text({ type: "pong", id: ws.lastSent("ping").id });
  await vi.advanceTimersByTimeAsync(1_000);
  const typed = socket.request({ type: "input", pane: "ui", text: "x" });
  const outcome = expect(typed).rejects.toMatchObject({ code: "unconfirmed" });
  await vi.advanceTimersByTimeAsync(4_500);
  await outcome;
  expect(ws.isClosed).toBe(true);
});

test("a pong tells the latency", async () => {
  const ws = await open();
  await vi.advanceTimersByTimeAsync(12);
  await ws.text({ type: "pong", id: ws.lastSent("ping").id });
  expect(socket.connection).toMatchObject({ state: "open", latencyMs: 12 });
});

test("events resume after the last one", async () => {
  const ws = await open();
  const events: number[] = [];
  socket.follow("pane:*", 3, {
    event: ({ id }) => events.push(id),
    gap: () => {},
    activity: () => {},
  });
  expect(ws.lastSent("events")).toMatchObject({ include: "pane:*", since: 3 });
  await ws.text({ type: "event", id: 7, time: "T", name: "pane:bell", payload: {} });
  ws.drop();
  vi.advanceTimersByTime(200);
  await latest().welcome();
  expect(latest().lastSent("events")).toMatchObject({ since: 7 });
  expect(events).toEqual([7]);
});

test("a channel resumes after what was consumed, with the life of its pane", async () => {
  const ws = await open();
  const { seen, reader } = recorder();
  const channel = socket.open("ui", reader);
  expect(ws.lastSent("subscribe")).toMatchObject({ pane: "ui", since: "screen" });
  await subscribed(ws, 4, 100);
  ws.binary(2, 4, 100, "S");
  ws.binary(1, 4, 100, "abc");
  channel.consumed(100);
  channel.consumed(103);
  expect(ws.lastSent("ack")).toMatchObject({ channel: 4, offset: 103 });
  ws.binary(1, 4, 103, "lost");
  ws.drop();
  vi.advanceTimersByTime(200);
  await latest().welcome();
  expect(latest().lastSent("subscribe")).toMatchObject({ since: 103, createdAt: "T" });
  await subscribed(latest(), 9, 103);
  latest().binary(1, 9, 103, "lost");
  const order = [
    "opened",
    "screen 100 S",
    "output 100 abc",
    "output 103 lost",
    "resumed",
    "output 103 lost",
  ];
  expect(seen).toEqual(order);
});

test("a screen that was not consumed is asked for again", async () => {
  const ws = await open();
  socket.open("ui", recorder().reader);
  await subscribed(ws, 4, 100);
  ws.binary(2, 4, 100, "S");
  ws.drop();
  vi.advanceTimersByTime(200);
  await latest().welcome();
  expect(latest().lastSent("subscribe")).toMatchObject({ since: "screen" });
});

test("a gap is reported, and a screen follows", async () => {
  const ws = await open();
  const { seen, reader } = recorder();
  socket.open("ui", reader);
  await subscribed(ws, 4, 100);
  await ws.text({ type: "gap", channel: 4, from: 100, to: 900 });
  expect(seen).toEqual(["opened", "gap 100-900"]);
  expect(ws.lastSent("unsubscribe")).toMatchObject({ channel: 4 });
  expect(ws.lastSent("subscribe")).toMatchObject({ since: "screen", createdAt: "T" });
  ws.binary(1, 4, 900, "stale");
  expect(seen).toHaveLength(2);
});

test("a newer pane of the same name is never mixed with the old one", async () => {
  const ws = await open();
  const { seen, reader } = recorder();
  const channel = socket.open("ui", reader);
  await subscribed(ws, 4, 100);
  channel.consumed(100);
  ws.drop();
  vi.advanceTimersByTime(200);
  await latest().welcome();
  const { id } = latest().lastSent("subscribe");
  await latest().text({ type: "error", id, error: "a newer pane has this name", code: "gone" });
  expect(seen).toEqual(["opened", "gone"]);
});

test("a server without scrollback in `subscribe` is asked without it", async () => {
  const ws = await open();
  socket.open("ui", recorder().reader, { history: 500 });
  const { id, history } = ws.lastSent("subscribe");
  expect(history).toBe(500);
  await ws.text({ type: "error", id, error: "unknown field `history`", code: "invalid" });
  expect(ws.lastSent("subscribe")).not.toHaveProperty("history");
});
