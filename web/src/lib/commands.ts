/** Commands by name: the key map and the palette run them, the part that is shown handles them. */
import { useEffect, useRef } from "react";

type Handler = () => void;

const handlers = new Map<string, Handler[]>();

/** Handles a command until the returned function is called; the latest handler wins. */
export function handle(command: string, handler: Handler): () => void {
  const stack = handlers.get(command) ?? [];
  handlers.set(command, [...stack, handler]);
  return () => {
    const rest = (handlers.get(command) ?? []).filter((other) => other !== handler);
    handlers.set(command, rest);
  };
}

/** Runs a command; false when nothing handles it now. */
export function run(command: string): boolean {
  const handler = handlers.get(command)?.at(-1);
  handler?.();
  return handler !== undefined;
}

/** Handles a command while the component is shown. */
export function useCommand(command: string, handler: Handler): void {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => handle(command, () => latest.current()), [command]);
}
