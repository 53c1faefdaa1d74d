/** Refusals of the server and failures of the connection, as one type of error. */
import type { Code } from "../api/generated";

/** A code of the server, or what happened to the connection meanwhile. */
export type CallCode = Code | "offline" | "unconfirmed";

/** A request that failed: a sentence for people, a code for programs. */
export class CallError extends Error {
  readonly code: CallCode;
  readonly details: unknown;

  constructor(code: CallCode, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** A refusal as the server sends it. */
export function callError(refusal: { code: Code; error: string; details?: unknown }): CallError {
  return new CallError(refusal.code, refusal.error, refusal.details);
}

/** The request was not sent, because there is no connection. */
export const offline = () => new CallError("offline", "not connected to paned");

/** The connection was lost before the answer came, so the outcome is not known. */
export const unconfirmed = () =>
  new CallError("unconfirmed", "the connection was lost before paned confirmed this");

/** A sentence for any thrown value. */
export function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a thrown value is a refusal with this code. */
export function hasCode(error: unknown, code: CallCode): boolean {
  return error instanceof CallError && error.code === code;
}
