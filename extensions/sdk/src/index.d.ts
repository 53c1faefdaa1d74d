/**
 * Types for extensions of paned. Nothing here runs: import it with `import type`, and the extension
 * has no dependency at run time.
 */
import type { Actions } from "./actions.js";
import type { Events } from "./events.js";

export type * from "./actions.js";
export type * from "./events.js";

/** What a module exports as default; it also exports its `name`. */
export type Extension = (paned: ExtensionAPI) => unknown;

/** Settings of the user, from `options.json` in the extension's data folder. */
export type Options = Record<string, unknown>;

/** The codes of refusals; see `docs/http.md`. */
export type ErrorCode =
  | "not_found"
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "vetoed"
  | "denied"
  | "conflict"
  | "busy"
  | "gone"
  | "limit"
  | "timeout"
  | "unavailable"
  | "internal";

/**
 * What `executeAction` and `emit` reject with. An error that `execute` throws may have such a `code`,
 * too; without one it is `internal`.
 */
export interface RefusalError extends Error {
  readonly code: ErrorCode;
  readonly details?: unknown;
}

/** A fact that happened. */
export interface Event<Payload = any> {
  /** Rises by one from event to event, also across restarts. */
  readonly id: number;
  readonly name: string;
  /** As in `2026-11-18T20:42:23.690Z`. */
  readonly time: string;
  readonly payload: Payload;
}

/** Who calls an action. */
export interface ActionCaller {
  /** The label of the caller's token. */
  readonly label: string;
  /** The pane that the call came from. */
  readonly pane?: string;
  /** The extension that made the call. */
  readonly extension?: string;
}

/** What `execute` gets beside the parameters. */
export interface ActionContext {
  readonly caller: ActionCaller;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
}

/** An action that is about to run. Secrets, such as prompts, are left out of the parameters. */
export interface ActionStart<Params = any> {
  readonly actionName: string;
  readonly params: Params;
  readonly caller: ActionCaller;
}

/** Refuses an action, or has no objection. */
export interface VetoAnswer {
  cancel?: boolean;
  /** A sentence for the caller. */
  reason?: string;
}

type MaybePromise<T> = T | Promise<T>;

/** A schema of zod 3 or 4, or of another library that follows Standard Schema. */
export interface LibrarySchema<Output = any> {
  readonly "~standard": { readonly types?: { readonly output: Output } | undefined };
}

/** A schema of zod 3 before version 3.24. */
export interface OldZodSchema<Output = any> {
  readonly _output: Output;
  readonly _def: object;
}

/** A JSON Schema of an object, with the keywords that `docs/extensions.md` lists. */
export type JsonSchema = { readonly type?: "object"; readonly [keyword: string]: unknown };

/** The parameters that a schema describes, after defaults and transforms. */
export type Parsed<S> = S extends LibrarySchema<infer Output>
  ? Output
  : S extends OldZodSchema<infer Output>
    ? Output
    : Record<string, any>;

/** An action that an extension adds. */
export interface ActionSpec<S = JsonSchema> {
  /** `hello`; in the extension `guard` its full name is `guard:hello`. */
  name: string;
  /** One sentence, for lists and help. */
  description?: string;
  /** Its parameters: zod or JSON Schema. */
  parameters?: S;
  /** The JSON Schema of its answer, for clients. It is not checked. */
  answer?: JsonSchema;
  /** What a caller needs. Default: `read` for a question, else `input`. */
  scope?: "read" | "input" | "spawn" | "kill" | "approve" | "admin";
  /** Whether it changes anything. Default: `change`. */
  kind?: "question" | "input" | "change";
  /** Fields of parameters and answer that no event or log may show. */
  secrets?: string[];
  execute(params: Parsed<S>, context: ActionContext): unknown;
}

/** Writes to the extension's log, which `paned ext logs NAME` shows. */
export interface Log {
  debug(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
}

/** A name that has no types of its own here, such as that of another extension. */
type OtherName<Name extends string, Known> = Name extends Known ? never : Name;

type EventHandler<Payload> = (payload: Payload, event: Event<Payload>) => unknown;

export interface ExtensionAPI {
  /** What the module exports as `name`. */
  readonly name: string;
  /** Of its `package.json`. */
  readonly version: string;
  /** Where the extension is. An update replaces it. */
  readonly folder: string;
  /** A private folder that is kept. */
  readonly dataFolder: string;
  /** What its calls may do. */
  readonly scopes: readonly string[];
  /** How long it may take over an event or a veto. */
  readonly timeoutMs: number;
  /** The folder in which the server was started. */
  readonly cwd: string;
  /** From `options.json` in the data folder; empty if there is none. */
  readonly options: Options;
  readonly log: Log;

  /** Adds an action. Resolves when every interface has it. */
  registerAction<const S = JsonSchema>(action: ActionSpec<S>): Promise<void>;

  /**
   * Is asked before each action runs, and may refuse it: as `beforeAction("*", …)` with the payload of
   * the event `action:start`. Returns a function that ends it.
   */
  on(event: "action:start", handler: (start: ActionStart) => MaybePromise<VetoAnswer | void>): () => void;
  /** Handles an event. Returns a function that ends it. */
  on<Name extends keyof Events>(event: Name, handler: EventHandler<Events[Name]>): () => void;
  /** Handles the events of a pattern: `pane:*`, `*`, or several with commas between them. */
  on<Pattern extends string>(
    pattern: OtherName<Pattern, keyof Events>,
    handler: EventHandler<any>,
  ): () => void;

  /** Is asked before these actions run, and may refuse them. Returns a function that ends it. */
  beforeAction<Name extends keyof Actions>(
    action: Name,
    handler: (start: ActionStart<Actions[Name]["params"]>) => MaybePromise<VetoAnswer | void>,
  ): () => void;
  beforeAction<Pattern extends string>(
    pattern: OtherName<Pattern, keyof Actions>,
    handler: (start: ActionStart) => MaybePromise<VetoAnswer | void>,
  ): () => void;

  /** Records an event; its noun is the extension's name. */
  emit(event: string, payload?: unknown): Promise<{ id: number }>;

  /** Runs an action with the scopes of the extension. Rejects with a {@link RefusalError}. */
  executeAction<Name extends keyof Actions>(
    action: Name,
    ...params: {} extends Actions[Name]["params"] ? [params?: Actions[Name]["params"]] : [params: Actions[Name]["params"]]
  ): Promise<Actions[Name]["answer"]>;
  executeAction<Name extends string>(action: OtherName<Name, keyof Actions>, params?: unknown): Promise<any>;

  /** Runs when the extension ends. There are two seconds for it. */
  onDispose(handler: () => unknown): void;
}
