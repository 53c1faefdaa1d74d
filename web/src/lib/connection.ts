/** The state of the connection to the server, and what the socket needs to know. */
import type { Scope } from "../api/generated";

export type Connection =
  | { state: "signed-out"; refused?: boolean }
  | { state: "connecting"; attempt: number }
  | { state: "open"; version: string; scopes: Scope[]; latencyMs: number | null }
  | { state: "waiting"; attempt: number; retryAt: number };

export interface SocketEnvironment {
  url: string;
  token(): string | null;
  forgetToken(): void;
  /** Asks the server over HTTP whether it refuses the token; false when it cannot be reached. */
  isRefused(): Promise<boolean>;
  random(): number;
}

/** The address of `/ws` beside this page. */
export function socketUrl(page: string): string {
  const url = new URL("ws", page);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  url.hash = "";
  url.search = "";
  return url.href;
}
