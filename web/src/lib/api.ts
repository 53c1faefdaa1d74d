/** The HTTP interface, for what the socket does not have: the list of actions, and cancelled waits. */
import type { Code, Scope } from "../api/generated";
import { CallError, offline, unconfirmed } from "./errors";
import { token } from "./session";

/** An action as the server describes it. */
export interface ActionInfo {
  name: string;
  doc: string;
  scope: Scope;
  kind: string;
  /** JSON Schemas. */
  params: Record<string, unknown>;
  answer: Record<string, unknown>;
}

const address = (path: string) => new URL(path, document.baseURI);
const authorization = () => ({ authorization: `Bearer ${token() ?? ""}` });

/** Every action of the server, those of extensions too. */
export async function fetchActions(): Promise<ActionInfo[]> {
  const answer = await fetch(address("actions"), { headers: authorization() }).catch(() => null);
  if (!answer) throw offline();
  return (await read(answer)) as ActionInfo[];
}

/** Runs an action. Aborting `signal` ends a wait at the server too, which the socket cannot do. */
export async function runAction(
  name: string,
  params: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const headers = { ...authorization(), "content-type": "application/json" };
  const body = JSON.stringify(params);
  const path = `action/${encodeURIComponent(name)}`;
  const answer = await fetch(address(path), { method: "POST", headers, body, signal }).catch(() => {
    throw signal.aborted ? new CallError("timeout", "cancelled") : unconfirmed();
  });
  return read(answer);
}

async function read(answer: Response): Promise<unknown> {
  const text = await answer.text().catch(() => {
    throw unconfirmed();
  });
  try {
    const value: unknown = JSON.parse(text);
    if (answer.ok) return value;
    const refusal = value as { error?: string; code?: Code; details?: unknown };
    throw new CallError(refusal.code ?? "internal", refusal.error ?? text, refusal.details);
  } catch (error) {
    if (error instanceof CallError) throw error;
    // Something between this page and paned has answered.
    throw new CallError("unavailable", `an answer that is not JSON (HTTP ${answer.status})`);
  }
}
