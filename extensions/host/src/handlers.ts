/**
 * The handlers of an extension: actions, events, vetoes, clean-up.
 *
 * Events are handled one after the other, and the handlers of an event in the order in which they
 * were added. So a handler never sees an event before the one that happened earlier. Actions and
 * vetoes do not wait for events.
 */
import type { ActionCaller, ActionContext, ActionStart, Event, VetoAnswer } from "../../sdk/src/index.js";
import { messageOf, Refusal, stackOf } from "./errors.js";
import type { Matcher } from "./patterns.js";
import type { IncomingCall } from "./peer.js";
import type { Parameters } from "./schema.js";

/** The event that Poly's extensions veto actions with. */
export const ACTION_START = "action:start";

export interface RegisteredAction {
  parameters: Parameters;
  execute(params: any, context: ActionContext): unknown;
}

interface EventHandler {
  matches: Matcher;
  handle(payload: any, event: Event): unknown;
}

interface VetoHandler {
  matches: Matcher;
  decide(start: ActionStart): unknown;
}

/** A question about an action that is about to run. */
interface BeforeAction {
  action: string;
  params: unknown;
  caller: ActionCaller;
}

export class Handlers {
  readonly actions = new Map<string, RegisteredAction>();
  readonly events = new Set<EventHandler>();
  readonly vetoes = new Set<VetoHandler>();
  readonly disposers: (() => unknown)[] = [];
  /** Settles when the last event that came is handled. */
  #lastEvent: Promise<unknown> = Promise.resolve();

  /** Runs an action with the parameters that its schema makes of these. */
  async runAction(name: string, params: unknown, context: ActionContext): Promise<unknown> {
    const action = this.actions.get(name);
    if (!action) throw new Refusal("not_found", `this extension has no action \`${name}\``);
    return action.execute(await action.parameters.parse(params), context);
  }

  /** Asks the veto handlers one after the other until one cancels. */
  async beforeAction({ action, params, caller }: BeforeAction): Promise<VetoAnswer> {
    for (const handler of [...this.vetoes]) {
      if (!handler.matches(action)) continue;
      const answer = (await handler.decide({ actionName: action, params, caller })) as VetoAnswer | undefined;
      if (answer?.cancel) return { cancel: true, reason: String(answer.reason ?? "") };
    }
    return {};
  }

  /** Handles an event after all that came before it. */
  handleEvent(event: Event, call: IncomingCall): Promise<void> {
    const handled = this.#lastEvent.then(() => this.#runEventHandlers(event, call));
    this.#lastEvent = handled.catch(() => undefined);
    return handled;
  }

  async #runEventHandlers(event: Event, call: IncomingCall): Promise<void> {
    const errors: unknown[] = [];
    for (const handler of [...this.events]) {
      if (!handler.matches(event.name)) continue;
      try {
        await unlessCanceled(handler.handle(event.payload, event), call, event);
      } catch (thrown) {
        console.error(`paned: a handler of \`${event.name}\` failed: ${stackOf(thrown)}`);
        errors.push(thrown);
      }
    }
    if (errors.length > 0) throw new Error(errors.map(messageOf).join("; "));
  }

  /** Runs what `onDispose` was given, the last first. */
  async dispose(): Promise<void> {
    for (const dispose of this.disposers.splice(0).reverse()) {
      try {
        await dispose();
      } catch (thrown) {
        console.error(`paned: clean-up failed: ${stackOf(thrown)}`);
      }
    }
  }
}

/** Waits for a handler until paned gives the event up; a handler that hangs must not stop the next event. */
async function unlessCanceled(result: unknown, call: IncomingCall, event: Event): Promise<void> {
  if (!(result instanceof Object) || !("then" in result)) return;
  const canceled = new Promise<never>((_, reject) => {
    const stop = () => reject(new Error(`event ${event.id} was not handled in time`));
    if (call.canceled) stop();
    else call.signal.addEventListener("abort", stop, { once: true });
  });
  // Of the two, the one that is late may still reject.
  canceled.catch(() => undefined);
  const running = Promise.resolve(result);
  running.catch(() => undefined);
  await Promise.race([running, canceled]);
}
