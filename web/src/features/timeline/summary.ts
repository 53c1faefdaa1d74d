/** One line about an event: what changed. Pure. */
import type { ServerEvent } from "../../lib/protocol";

export function summary({ name, payload }: ServerEvent): string {
  switch (name) {
    case "agent:state": {
      const kind = payload.kind ? ` (${payload.kind})` : "";
      return `${payload.from} → ${payload.to}${kind}`;
    }
    case "agent:delivered":
      return join([payload.outcome, payload.messageId]);
    case "pane:title":
      return String(payload.title ?? "");
    case "pane:exited":
      return payload.exitSignal ?? `exit ${payload.exitCode ?? "unknown"}`;
    case "action:start":
    case "action:success":
      return join([payload.actionName, caller(payload.caller)]);
    case "action:error":
      return join([payload.actionName, caller(payload.caller), payload.errorInfo?.error]);
    case "approval:asked":
      return join([payload.subject, caller(payload.caller)]);
    default:
      return fields(payload);
  }
}

const caller = (text: unknown) => (typeof text === "string" ? `by ${text}` : undefined);

const join = (parts: unknown[]) =>
  parts.filter((part) => part !== undefined && part !== null && part !== "").join(" · ");

/** Known from elsewhere in the row. */
const LEFT_OUT = new Set(["paneId", "instance"]);
const MOST_FIELDS = 4;

function fields(payload: unknown): string {
  if (typeof payload !== "object" || payload === null) return JSON.stringify(payload) ?? "";
  const entries = Object.entries(payload).filter(([key]) => !LEFT_OUT.has(key));
  const shown = entries.slice(0, MOST_FIELDS).map(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${key} ${text}`;
  });
  return shown.join(" · ");
}
