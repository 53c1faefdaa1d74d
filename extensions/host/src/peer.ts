/** JSON-RPC 2.0 over lines, both ways. It knows no method. */
import { messageOf, Refusal, type RpcError, toRpcError, UnknownMethod } from "./errors.js";

/** The longest line that paned reads. */
const LONGEST_LINE = 8 * 1024 * 1024;

type Id = number | string;

interface Message {
  id?: Id | null;
  method?: string;
  params?: any;
  result?: unknown;
  error?: RpcError;
}

/** A request from the other side. */
export class IncomingCall {
  #controller?: AbortController;
  canceled = false;

  constructor(readonly id: Id | undefined) {}

  /** Aborted when the other side no longer waits for the answer. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.canceled) this.#controller.abort();
    return this.#controller.signal;
  }

  cancel(): void {
    this.canceled = true;
    this.#controller?.abort();
  }
}

/** Answers a request; what it throws is the error. */
export type Method = (params: any, call: IncomingCall) => unknown;

interface PendingCall {
  resolve(result: any): void;
  reject(error: Error): void;
}

export class Peer {
  #nextId = 1;
  #closed = false;
  readonly #pending = new Map<Id, PendingCall>();
  readonly #running = new Map<Id, IncomingCall>();

  constructor(
    private readonly write: (line: string) => void,
    private readonly methods: Readonly<Record<string, Method>>,
  ) {}

  /** Sends a request; rejects with a `Refusal` when it is refused. */
  request(method: string, params: unknown): Promise<any> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(connectionClosed());
      const id = this.#nextId++;
      const line = encode({ id, method, params }, `the parameters of \`${method}\``);
      this.#pending.set(id, { resolve, reject });
      this.write(line);
    });
  }

  /** Takes a line from the other side. */
  receive(line: string): void {
    const message = parse(line);
    if (!message) return;
    if (message.method !== undefined) {
      void this.#run(message.method, message);
    } else if (message.id !== undefined && message.id !== null) {
      this.#settle(message.id, message);
    }
  }

  /** Rejects what is not answered: the other side is gone. */
  close(): void {
    this.#closed = true;
    for (const call of this.#pending.values()) call.reject(connectionClosed());
    this.#pending.clear();
  }

  #settle(id: Id, { result, error }: Message): void {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (error) call?.reject(Refusal.of(error));
    else call?.resolve(result);
  }

  async #run(method: string, message: Message): Promise<void> {
    const id = message.id ?? undefined;
    if (method === "cancel") return this.#cancel(message.params?.id);
    const call = new IncomingCall(id);
    if (id !== undefined) this.#running.set(id, call);
    let answer: string | undefined;
    try {
      const run = Object.hasOwn(this.methods, method) ? this.methods[method] : undefined;
      if (!run) throw new UnknownMethod(`the extension host has no method \`${method}\``);
      const result = await run(message.params ?? {}, call);
      if (id !== undefined) answer = encode({ id, result: result === undefined ? {} : result }, "the answer");
    } catch (thrown) {
      if (id === undefined) console.error(`paned: \`${method}\` failed: ${messageOf(thrown)}`);
      else answer = JSON.stringify({ jsonrpc: "2.0", id, error: toRpcError(thrown) });
    }
    if (id !== undefined) this.#running.delete(id);
    if (answer !== undefined && !call.canceled) this.write(answer);
  }

  #cancel(id: Id | undefined): void {
    if (id !== undefined) this.#running.get(id)?.cancel();
  }
}

function parse(line: string): Message | undefined {
  try {
    const message: unknown = JSON.parse(line);
    if (message !== null && typeof message === "object" && !Array.isArray(message)) return message;
  } catch {
    // Reported below, like a value that is not a message.
  }
  console.error(`paned: the server sent a line that is not a message: ${line.slice(0, 200)}`);
  return undefined;
}

function encode(message: Message, what: string): string {
  let line: string;
  try {
    line = JSON.stringify({ jsonrpc: "2.0", ...message });
  } catch (error) {
    throw new Refusal("internal", `${what} cannot be written as JSON: ${messageOf(error)}`);
  }
  // A character has at most three bytes in UTF-8 for each unit here, so short lines need no count.
  if (line.length * 3 > LONGEST_LINE && Buffer.byteLength(line) > LONGEST_LINE) {
    throw new Refusal("limit", `${what} has more than 8 MiB as JSON; pass a path instead`);
  }
  return line;
}

function connectionClosed(): Refusal {
  return new Refusal("unavailable", "paned has closed the connection to this extension");
}
