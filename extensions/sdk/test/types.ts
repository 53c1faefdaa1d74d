/** What the types accept and refuse. It is compiled by `npm run check` and never run. */
import { z } from "zod";

import type { Actions, Event, Extension, ExtensionAPI } from "@paned/extension";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const isTrue = <_T extends true>(): void => undefined;

export default (async (paned) => {
  // Parameters have the type of their schema after defaults and transforms.
  await paned.registerAction({
    name: "zod",
    parameters: z.object({ who: z.string(), times: z.number().default(1), n: z.string().transform(Number) }),
    execute(params, { caller, signal }) {
      isTrue<Equal<typeof params, { who: string; times: number; n: number }>>();
      isTrue<Equal<typeof caller.pane, string | undefined>>();
      return signal.aborted;
    },
  });
  await paned.registerAction({
    name: "json-schema",
    parameters: { type: "object", properties: { a: { type: "string" } } },
    execute: (params) => params.a,
  });
  await paned.registerAction({ name: "none", scope: "spawn", kind: "question", execute: () => undefined });
  // @ts-expect-error An action without code.
  await paned.registerAction({ name: "incomplete" });
  // @ts-expect-error A scope that does not exist.
  await paned.registerAction({ name: "x", scope: "write", execute: () => undefined });

  // Events of paned have their payload.
  paned.on("pane:exited", ({ paneId, exitCode }, event) => {
    isTrue<Equal<typeof paneId, string>>();
    isTrue<Equal<typeof exitCode, number | null>>();
    isTrue<Equal<typeof event.id, number>>();
  });
  paned.on("agent:state", ({ to, dialog }) => {
    isTrue<Equal<typeof to, "starting" | "ready" | "busy" | "blocked" | "limited" | "error" | "exited" | "unknown">>();
    return dialog?.options.map((option) => option.label);
  });
  // @ts-expect-error A field that this event does not have.
  paned.on("pane:exited", ({ signalName }) => signalName);
  paned.on("pane:*,build:finished", (payload, event: Event) => [payload.anything, event.name]);
  const off: () => void = paned.on("gap", ({ firstAvailable }) => firstAvailable + 1);
  off();

  // Vetoes.
  paned.on("action:start", ({ actionName, params, caller }) => {
    if (actionName === "pane:new" && params.cwd === "/") return { cancel: true, reason: caller.label };
  });
  paned.beforeAction("pane:new", async ({ params }) => {
    isTrue<Equal<typeof params, Actions["pane:new"]["params"]>>();
    return params.cwd ? {} : { cancel: true };
  });
  // @ts-expect-error A reason is a text.
  paned.beforeAction("pane:new", () => ({ cancel: true, reason: 7 }));

  // Calls.
  const panes = await paned.executeAction("pane:list");
  isTrue<Equal<(typeof panes)[number]["id"], string>>();
  const { cwd } = await paned.executeAction("pane:get", { paneId: panes[0]!.id });
  isTrue<Equal<typeof cwd, string>>();
  await paned.executeAction("build:run", { anything: 1 });
  // @ts-expect-error Without the parameter that it needs.
  await paned.executeAction("pane:get", {});
  const { id } = await paned.emit("done", { a: 1 });
  isTrue<Equal<typeof id, number>>();
}) satisfies Extension;

/** A package for Poly needs no types of ours. */
export function poly(paned: {
  cwd: string;
  registerAction(action: { name: string; parameters: unknown; execute(params: any, ctx: any): unknown }): void;
  on(event: string, handler: (payload: any) => unknown): void;
  emit(event: string, payload?: unknown): void;
  executeAction(name: string, params?: unknown): Promise<unknown>;
}): void {
  paned.emit(paned.cwd);
}
const polyRunsHere: Extension = poly;
const unchanged = (paned: ExtensionAPI) => [poly(paned), polyRunsHere];
void unchanged;
