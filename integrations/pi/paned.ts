// written by `paned hooks install pi`; `paned hooks remove pi` deletes it
//
// Reports what pi does to the paned server of the pane that it runs in. Elsewhere it does nothing.
import { spawn } from "node:child_process";

const PANED = "paned";
const EVENTS = ["session_start", "agent_start", "turn_start", "agent_end", "agent_settled"];
/** How long a report may take, in milliseconds. */
const TIMEOUT = 5000;

/** Runs one report to its end; a report that fails is lost, and pi goes on. */
function report(event, sessionId) {
  return new Promise((done) => {
    const args = ["agent", "hook", "--agent", "pi"];
    const stdio = ["pipe", "ignore", "ignore"];
    const child = spawn(PANED, args, { stdio, timeout: TIMEOUT });
    child.on("error", done);
    child.on("close", done);
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify({ type: event, sessionId }));
  });
}

/** The id of the session, where this version of pi tells it. */
function sessionOf(ctx) {
  try {
    return ctx?.sessionManager?.getSessionId?.();
  } catch {
    return undefined;
  }
}

export default function (pi) {
  if (!process.env.PANED_PANE) return;
  // One after the other, so that they arrive in the order in which they happened.
  let last = Promise.resolve();
  for (const event of EVENTS) {
    pi.on(event, (_event, ctx) => {
      const sessionId = sessionOf(ctx);
      last = last.then(() => report(event, sessionId));
    });
  }
}
