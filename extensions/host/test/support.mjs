/** Speaks the extension protocol to the built host, as paned does. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
export const HOST = process.env.PANED_HOST_BUNDLE ?? join(HERE, "../dist/host.mjs");
export const fixture = (name) => join(HERE, "fixtures", name);

/** How long anything may take: the machine may be busy with other tests. */
const PATIENCE = 60_000;

/** A promise that fails with a sentence when it takes too long. */
export function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not happen within ${PATIENCE} ms`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** A folder that is removed at the end of the test. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), "paned-host-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A package of these files; `main` is the first of them. */
export function makePackage(t, files, manifest = {}) {
  const folder = temporaryFolder(t);
  const main = Object.keys(files)[0];
  for (const [path, text] of Object.entries({ "package.json": JSON.stringify({ main, ...manifest }), ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** The host with an extension, and this side of the connection. */
export class HostProcess {
  /** Requests of the extension that came, in order. */
  requests = [];
  log = "";
  /** Lines on standard output that are not messages. */
  noise = [];
  #nextId = 1;
  #pending = new Map();
  #watchers = new Set();

  /** `answer(method, params)` answers requests of the extension; it may throw `{ code, message }`. */
  constructor(t, folder, { answer = () => undefined, env = {}, options, argv } = {}) {
    this.answer = answer;
    this.dataFolder = temporaryFolder(t);
    if (options) writeFileSync(join(this.dataFolder, "options.json"), options);
    if (!argv) assert.ok(existsSync(HOST), `${HOST} is missing: run scripts/host-bundle`);
    const [program, ...args] = argv ?? [process.execPath, HOST, folder];
    this.child = spawn(program, args, {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    });
    this.folder = folder;
    this.exit = new Promise((resolve) => this.child.on("close", (code, signal) => resolve(code ?? signal)));
    this.exit.then(() => this.#changed());
    this.child.stdin.on("error", () => undefined);
    this.child.stderr.setEncoding("utf8").on("data", (text) => {
      this.log += text;
      this.#changed();
    });
    createInterface({ input: this.child.stdout }).on("line", (line) => this.#receive(line));
    t.after(() => this.child.kill("SIGKILL"));
  }

  /** The answer to `initialize`. */
  initialize(name = "test", params = {}) {
    const { folder, dataFolder } = this;
    const fixed = { protocol: 1, name, version: "1.0.0", folder, dataFolder, scopes: ["read"], timeoutMs: 5000 };
    return this.call("initialize", { ...fixed, ...params });
  }

  call(method, params) {
    const id = this.#nextId++;
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.send({ jsonrpc: "2.0", id, method, params });
    return within(Object.assign(answer, { id }), `an answer to ${method}`);
  }

  /** A call whose answer is not awaited; returns its id and what came, if anything. */
  start(method, params) {
    const id = this.#nextId++;
    const state = { id, answer: undefined };
    const resolve = (result) => (state.answer = { result });
    this.#pending.set(id, { resolve, reject: (error) => (state.answer = { error }) });
    this.send({ jsonrpc: "2.0", id, method, params });
    return state;
  }

  notify(method, params = {}) {
    this.send({ jsonrpc: "2.0", method, params });
  }

  send(message) {
    this.child.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
  }

  run(action, params = {}, caller = { label: "owner" }) {
    return this.call("runAction", { action, params, caller });
  }

  event(id, name, payload = {}) {
    return { id, name, time: "2026-11-18T20:42:23.690Z", payload };
  }

  handle(id, name, payload) {
    return this.call("handleEvent", this.event(id, name, payload));
  }

  /** The parameters of the requests of a method. */
  asked(method) {
    return this.requests.filter((request) => request.method === method).map(({ params }) => params);
  }

  /** Waits until something is true. */
  async until(condition, what) {
    const met = new Promise((resolve) => {
      const check = () => {
        if (condition()) {
          this.#watchers.delete(check);
          resolve();
        }
      };
      this.#watchers.add(check);
      check();
    });
    try {
      await within(met, what);
    } catch (error) {
      throw new Error(`${error.message}; log:\n${this.log}`);
    }
  }

  #changed() {
    for (const check of [...this.#watchers]) check();
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.noise.push(line);
      return this.#changed();
    }
    if (message.method !== undefined) this.#serve(message);
    else if (this.#pending.has(message.id)) {
      const { resolve, reject } = this.#pending.get(message.id);
      this.#pending.delete(message.id);
      if (message.error) reject(Object.assign(new Error(message.error.message), message.error));
      else resolve(message.result);
    }
    this.#changed();
  }

  async #serve({ id, method, params }) {
    this.requests.push({ method, params });
    let outcome;
    try {
      const result = (await this.answer(method, params)) ?? (method === "emit" ? { id: this.requests.length } : {});
      outcome = { result };
    } catch ({ code, message, details }) {
      outcome = { error: { code: -32000, message, data: { code, details } } };
    }
    if (id !== undefined) this.send({ jsonrpc: "2.0", id, ...outcome });
  }
}

/** An extension that is running. */
export async function run(t, folder, { name, ...options } = {}) {
  const host = new HostProcess(t, folder, options);
  await host.initialize(name);
  return host;
}

/** Checks that a call is refused with this code and a sentence like this one. */
export async function refused(promise, code, sentence) {
  const error = await promise.then(
    (result) => assert.fail(`it was not refused: ${JSON.stringify(result)}`),
    (error) => error,
  );
  assert.match(error.message, sentence);
  if (code !== undefined) assert.equal(error.data?.code, code);
  return error;
}
