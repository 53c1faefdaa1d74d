/** What the token of this tab permits. */
import type { Scope } from "../api/generated";
import { useApp } from "./store";

/** Whether it has a scope; true without a connection, so that nothing disappears meanwhile. */
export function useScope(scope: Scope): boolean {
  return useApp(({ connection }) => {
    if (connection.state !== "open") return true;
    return connection.scopes.includes(scope) || connection.scopes.includes("admin");
  });
}
