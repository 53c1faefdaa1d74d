/** Errors as the protocol has them, and as extensions throw and catch them. */
import type { ErrorCode } from "../../sdk/src/index.js";

/** The codes of refusals; see `docs/http.md`. */
const CODES: readonly ErrorCode[] = [
  "not_found",
  "invalid",
  "unauthorized",
  "forbidden",
  "vetoed",
  "denied",
  "conflict",
  "busy",
  "gone",
  "limit",
  "timeout",
  "unavailable",
  "internal",
];

/** JSON-RPC's codes. */
export const RPC = { notJson: -32700, notAMessage: -32600, unknownMethod: -32601, badParams: -32602, refused: -32000 };

/** An error of JSON-RPC. */
export interface RpcError {
  code: number;
  message: string;
  data?: { code?: string; details?: unknown };
}

/** A refusal: from paned, where an extension catches it, or to paned. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly code: ErrorCode;
  readonly details?: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown) {
    super(message);
    this.code = code;
    if (details !== undefined) this.details = details;
  }

  /** Of an error that paned answered. `Error.captureStackTrace` is left to the constructor. */
  static of(error: RpcError): Refusal {
    const code = error.data?.code;
    return new Refusal(isCode(code) ? code : "internal", error.message, error.data?.details);
  }
}

function isCode(code: unknown): code is ErrorCode {
  return (CODES as readonly unknown[]).includes(code);
}

/** A method that this side does not have. */
export class UnknownMethod extends Error {}

/** Anything thrown, as an error of the protocol. Its `code` counts if it is one of paned's codes. */
export function toRpcError(thrown: unknown): RpcError {
  if (thrown instanceof UnknownMethod) return { code: RPC.unknownMethod, message: thrown.message };
  const { code, details } = (thrown ?? {}) as { code?: unknown; details?: unknown };
  const data = { code: isCode(code) ? code : "internal", ...(details === undefined ? {} : { details }) };
  return { code: RPC.refused, message: messageOf(thrown), data };
}

/** Why an extension cannot be started, in one line: lists show it. The log has the whole of it. */
export function toStartRefusal(thrown: unknown): Refusal {
  const error = toRpcError(thrown);
  // Node lists the modules that required a missing one.
  const message = error.message.replace(/\nRequire stack:[^]*/, "").replace(/\s*\n\s*/g, " ");
  return Refusal.of({ ...error, message });
}

/** The sentence of anything thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || thrown.name;
  return typeof thrown === "string" ? thrown : `a value was thrown that is not an error: ${String(thrown)}`;
}

/** The same with the place where it happened, for the log. */
export function stackOf(thrown: unknown): string {
  return thrown instanceof Error && thrown.stack ? thrown.stack : messageOf(thrown);
}
