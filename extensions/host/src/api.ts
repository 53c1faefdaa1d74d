/** The object that an extension's factory gets. */
import type { ExtensionAPI, Options } from "../../sdk/src/index.js";
import { ACTION_START, type Handlers, type RegisteredAction } from "./handlers.js";
import { createLog } from "./log.js";
import { readPattern } from "./patterns.js";
import type { Peer } from "./peer.js";
import { readParameters } from "./schema.js";

/** The longest description that paned takes. */
const LONGEST_DOC = 4000;

/** What paned sends with `initialize`, and what the host knows of the package. */
export interface Settings {
  /** What the module exports. */
  name: string;
  /** Of `package.json`. */
  version: string;
  folder: string;
  dataFolder: string;
  scopes: string[];
  timeoutMs: number;
  cwd: string;
  options: Options;
}

/** The API, and what the extension has asked of paned so far. */
export interface Connection {
  api: ExtensionAPI;
  /** Resolves when paned has accepted all registrations; rejects with the first refusal. */
  registered(): Promise<unknown>;
}

export function connect(settings: Settings, peer: Peer, handlers: Handlers): Connection {
  const { name, version, folder, dataFolder, scopes, timeoutMs, cwd, options } = settings;
  let requests: Promise<unknown>[] | undefined = [];
  const subscribed = new Set<string>();

  // The noun is what the module exports, which paned knows from full names only.
  const full = (given: string) => (given.includes(":") ? given : `${name}:${given}`);

  /** A request that `registered` waits for. */
  const register = (method: string, params: object): Promise<unknown> => {
    const request = peer.request(method, params);
    // A refusal that comes while the factory waits for something else is handled by `registered`.
    request.catch(() => undefined);
    requests?.push(request);
    return request;
  };
  const subscribe = (kind: "events" | "veto", list: string[]) => {
    const fresh = list.filter((entry) => !subscribed.has(`${kind} ${entry}`));
    for (const entry of fresh) subscribed.add(`${kind} ${entry}`);
    if (fresh.length > 0) void register("subscribe", { [kind]: fresh }).catch(logRefusal);
  };

  const api: ExtensionAPI = {
    name,
    version,
    folder,
    dataFolder,
    scopes,
    timeoutMs,
    cwd,
    options,
    log: createLog(),
    // Not `async`: a mistake in the call is thrown where the call is.
    registerAction(action: any) {
      const fullName = actionName(action?.name, name);
      if (typeof action.execute !== "function") throw new TypeError(`action \`${fullName}\` has no \`execute\``);
      if (handlers.actions.has(fullName)) throw new TypeError(`action \`${fullName}\` is registered twice`);
      const { execute, parameters: given, description, name: _, ...rest } = action;
      const parameters = readParameters(given, fullName, folder);
      const registered: RegisteredAction = { parameters, execute: execute.bind(action) };
      handlers.actions.set(fullName, registered);
      const doc = description || schemaDescription(parameters.schema) || `Action of the extension ${name}.`;
      const spec = { ...rest, name: fullName, description: String(doc).slice(0, LONGEST_DOC), parameters: parameters.schema };
      return register("registerAction", spec).then(() => undefined, (refusal) => {
        handlers.actions.delete(fullName);
        throw refusal;
      });
    },
    on(pattern: string, handler: any) {
      checkFunction(handler, `on("${pattern}", handler)`);
      if (pattern === ACTION_START) return api.beforeAction("*", (start) => handler(start, startEvent(start)));
      const { list, matches } = readPattern(pattern);
      const entry = { matches, handle: handler };
      handlers.events.add(entry);
      subscribe("events", list);
      return () => void handlers.events.delete(entry);
    },
    beforeAction(pattern: string, handler: any) {
      checkFunction(handler, `beforeAction("${pattern}", handler)`);
      const { list, matches } = readPattern(pattern);
      const entry = { matches, decide: handler };
      handlers.vetoes.add(entry);
      subscribe("veto", list);
      return () => void handlers.vetoes.delete(entry);
    },
    emit: (event: string, payload: unknown = {}) => peer.request("emit", { name: full(event), payload }),
    executeAction: (action: string, params: unknown = {}) =>
      peer.request("executeAction", { action: full(action), params }),
    onDispose(handler) {
      checkFunction(handler, "onDispose(handler)");
      handlers.disposers.push(handler);
    },
  };
  const registered = async () => {
    const all = requests ?? [];
    requests = undefined;
    await Promise.all(all);
  };
  return { api, registered };
}

/** `hello` and `guard:hello` are the same action of the extension `guard`. */
function actionName(given: unknown, extension: string): string {
  if (typeof given !== "string" || given === "") throw new TypeError("an action needs a `name`");
  const [noun, verb] = given.includes(":") ? given.split(":", 2) : [extension, given];
  if (noun === extension) return `${noun}:${verb}`;
  throw new TypeError(`action \`${given}\` has another noun than this extension; name it \`${verb}\``);
}

function schemaDescription(schema: object): string | undefined {
  return "description" in schema && typeof schema.description === "string" ? schema.description : undefined;
}

/** The event that a Poly extension expects of `action:start`. It is not in the journal yet. */
function startEvent(payload: unknown) {
  return { id: 0, name: ACTION_START, time: new Date().toISOString(), payload };
}

function logRefusal(refusal: Error): void {
  console.error(`paned: refused: ${refusal.message}`);
}

function checkFunction(handler: unknown, call: string): void {
  if (typeof handler !== "function") throw new TypeError(`the handler of \`${call}\` is not a function`);
}
