/**
 * The only WebSocket of the page. It authenticates, reconnects, and carries requests, channels and
 * events. It never sends input again: what was not confirmed is reported as such.
 */
import type { Actions, PaneActivity, WsRequest } from "../api/generated";
import { backoffMs } from "./backoff";
import { Channel, type ChannelOptions, type ChannelPort, type ChannelReader } from "./channel";
import type { Connection, SocketEnvironment } from "./connection";
import { callError, offline } from "./errors";
import { Liveness } from "./liveness";
import {
  parseBinary,
  type Refusal,
  type ServerEvent,
  type ServerFrame,
  type Welcome,
} from "./protocol";
import { Requests } from "./requests";

const WELCOME_MS = 5_000;
const CHECK_MS = 500;
/** Messages that a living server answers at once. */
const PROBES = new Set(["ping", "input"]);

/** Takes the events that were subscribed to. */
export interface EventReader {
  event(event: ServerEvent): void;
  /** Events before `first` are not stored. */
  gap(first: number, last: number): void;
  /** These panes have printed. */
  activity(panes: readonly PaneActivity[]): void;
}

export class Socket implements ChannelPort {
  readonly #env: SocketEnvironment;
  readonly #channels = new Set<Channel>();
  readonly #bound = new Map<number, Channel>();
  readonly #listeners = new Set<(connection: Connection) => void>();
  #connection: Connection = { state: "signed-out" };
  #ws: WebSocket | null = null;
  #requests = new Requests();
  #liveness = new Liveness(0);
  #attempt = 0;
  #retry: number | undefined;
  #check: number | undefined;
  #events: { include: string; since: number | null; reader: EventReader } | null = null;

  constructor(env: SocketEnvironment) {
    this.#env = env;
  }

  get connection(): Connection {
    return this.#connection;
  }

  isOpen(): boolean {
    return this.#connection.state === "open";
  }

  onChange(listener: (connection: Connection) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Connects now, unless it is connected: at start, after sign-in, and when the user asks. */
  connect(): void {
    if (this.#ws) return;
    window.clearTimeout(this.#retry);
    const token = this.#env.token();
    if (!token) return this.#set({ state: "signed-out" });
    this.#set({ state: "connecting", attempt: this.#attempt });
    const ws = new WebSocket(this.#env.url, ["paned.v1", `paned.bearer.${token}`]);
    ws.binaryType = "arraybuffer";
    ws.onmessage = (message) => this.#ws === ws && this.#received(message.data);
    ws.onclose = (close) => this.#ws === ws && this.#lost(close.code);
    this.#ws = ws;
    this.#requests = new Requests();
    this.#retry = window.setTimeout(() => this.#drop(), WELCOME_MS);
  }

  /** Closes the connection and stays closed. */
  disconnect(): void {
    this.#discard();
    this.#attempt = 0;
    this.#set({ state: "signed-out" });
  }

  /** The network or the tab is back: connect at once, or test the connection. */
  wake(): void {
    if (this.#connection.state === "waiting") return this.connect();
    if (!this.isOpen()) return;
    this.#liveness.doubt(Date.now());
    this.#tick();
  }

  /** Runs an action. It is refused with `offline` without a connection, and never sent later. */
  call<N extends keyof Actions>(
    name: N,
    params: Actions[N]["params"],
  ): Promise<Actions[N]["answer"]> {
    return this.request({ type: "action", name, params }) as Promise<Actions[N]["answer"]>;
  }

  /** Runs an action that is not in the generated types: one of an extension. */
  callAny(name: string, params: unknown): Promise<unknown> {
    return this.request({ type: "action", name, params });
  }

  /** Sends any message; `subscribed` is answered whole, `ok` with its answer. */
  request(message: WsRequest): Promise<unknown> {
    if (!this.isOpen()) return Promise.reject(offline());
    const { id, answer } = this.#requests.add(Date.now(), PROBES.has(message.type));
    this.#ws?.send(JSON.stringify({ ...message, id }));
    return answer;
  }

  /** Follows a pane until the channel is closed. */
  open(pane: string, reader: ChannelReader, options: ChannelOptions = {}): Channel {
    const channel = new Channel(this, pane, reader, options);
    this.#channels.add(channel);
    if (this.isOpen()) channel.attach();
    return channel;
  }

  /** Streams these events from now on; from `since` on if it is given. */
  follow(include: string, since: number | null, reader: EventReader): void {
    this.#events = { include, since, reader };
    if (this.isOpen()) this.#subscribeEvents();
  }

  bind(id: number, channel: Channel): void {
    this.#bound.set(id, channel);
  }

  release(id: number): void {
    this.#bound.delete(id);
  }

  forget(channel: Channel): void {
    this.#channels.delete(channel);
  }

  #received(data: unknown): void {
    this.#liveness.received(Date.now());
    if (data instanceof ArrayBuffer) {
      const frame = parseBinary(data);
      if (frame) this.#bound.get(frame.channel)?.frame(frame);
      return;
    }
    this.#handle(JSON.parse(String(data)) as ServerFrame);
  }

  #handle(frame: ServerFrame): void {
    switch (frame.type) {
      case "welcome":
        return this.#welcomed(frame);
      case "ok":
        return this.#requests.resolve(frame.id, frame.answer);
      case "subscribed":
        return this.#requests.resolve(frame.id, frame);
      case "pong":
        return this.#requests.resolve(frame.id, undefined);
      case "error":
        return this.#refused(frame);
      case "event":
        return this.#event(frame);
      case "activity":
        return this.#events?.reader.activity(frame.panes);
      case "gap":
        if ("first" in frame) return this.#events?.reader.gap(frame.first, frame.last);
        return this.#bound.get(frame.channel)?.gap(frame.from, frame.to);
      case "exit":
        this.#bound.get(frame.channel)?.exit(frame);
        return this.release(frame.channel);
    }
  }

  #welcomed(welcome: Welcome): void {
    window.clearTimeout(this.#retry);
    this.#attempt = 0;
    this.#liveness = new Liveness(Date.now());
    const { version, scopes } = welcome;
    this.#set({ state: "open", version, scopes, latencyMs: null });
    this.#subscribeEvents();
    for (const channel of this.#channels) channel.attach();
    this.#check = window.setInterval(() => this.#tick(), CHECK_MS);
    this.#tick();
  }

  #subscribeEvents(): void {
    if (!this.#events) return;
    const { include, since } = this.#events;
    const from = since === null ? {} : { since };
    this.request({ type: "events", include, ...from }).catch(() => {});
    // An older server refuses this; its lists show no last lines.
    this.request({ type: "activity", on: true }).catch(() => {});
  }

  #event({ id, time, name, payload }: ServerEvent): void {
    if (!this.#events) return;
    this.#events.since = id;
    this.#events.reader.event({ id, time, name, payload });
  }

  #refused(refusal: Refusal): void {
    if (typeof refusal.channel === "number") {
      this.#bound.get(refusal.channel)?.refused(callError(refusal));
      this.release(refusal.channel);
    }
    this.#requests.refuse(refusal);
  }

  #tick(): void {
    const now = Date.now();
    const verdict = this.#liveness.judge(now, this.#requests.oldestProbe());
    if (verdict === "dead") return this.#drop();
    if (verdict === "wait") return;
    this.#liveness.pinged(now);
    const sent = performance.now();
    this.request({ type: "ping" }).then(
      () => this.#measured(performance.now() - sent),
      () => {},
    );
  }

  #measured(latencyMs: number): void {
    if (this.#connection.state !== "open") return;
    this.#set({ ...this.#connection, latencyMs: Math.round(latencyMs) });
  }

  /** Gives up a connection that does not respond. */
  #drop(): void {
    this.#discard();
    this.#lost(0);
  }

  #discard(): void {
    const ws = this.#ws;
    this.#ws = null;
    window.clearTimeout(this.#retry);
    window.clearInterval(this.#check);
    ws?.close();
  }

  #lost(code: number): void {
    const wasOpen = this.isOpen();
    this.#discard();
    this.#bound.clear();
    const retryAt = Date.now() + this.#schedule();
    if (code === 4401) this.#refuseToken();
    else this.#set({ state: "waiting", attempt: this.#attempt, retryAt });
    this.#requests.failAll();
    if (!wasOpen && code !== 4401) void this.#probe();
  }

  #schedule(): number {
    const delay = backoffMs(this.#attempt, this.#env.random());
    this.#attempt += 1;
    this.#retry = window.setTimeout(() => this.connect(), delay);
    return delay;
  }

  /** A browser does not tell a refused token from a server that is away, so ask. */
  async #probe(): Promise<void> {
    if (await this.#env.isRefused()) this.#refuseToken();
  }

  #refuseToken(): void {
    this.#discard();
    this.#env.forgetToken();
    this.#set({ state: "signed-out", refused: true });
  }

  #set(connection: Connection): void {
    this.#connection = connection;
    for (const listener of this.#listeners) listener(connection);
  }
}
