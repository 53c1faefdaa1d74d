/** Runs the commands of the key map, before terminals and fields see the keys. */
import { useEffect } from "react";
import { run } from "../lib/commands";
import { isTyping, matches } from "../lib/keys";
import { usePreferences } from "../lib/preferences";
import { KEY_MAP, type KeyBinding } from "./keymap";

/** How long the first of two keys waits for the second. */
const PREFIX_MS = 1_200;

/** What a key means: a command, the first of two keys, or nothing. Pure. */
export function lookUp(
  event: KeyboardEvent,
  context: { isTyping: boolean; singleKeys: boolean; hasPrefix: boolean },
): KeyBinding | "prefix" | null {
  const isFree = !context.isTyping && context.singleKeys;
  for (const binding of KEY_MAP) {
    if (binding.place === "outside" && !isFree) continue;
    const [first, second] = binding.keys;
    if (context.hasPrefix && second && matches(event, second)) return binding;
    if (!context.hasPrefix && !second && matches(event, first)) return binding;
  }
  if (isFree && !context.hasPrefix && matches(event, "g")) return "prefix";
  return null;
}

export function useKeys(): void {
  useEffect(() => {
    let prefixAt = Number.NEGATIVE_INFINITY;
    const pressed = (event: KeyboardEvent) => {
      if (event.isComposing || event.defaultPrevented) return;
      const { singleKeys } = usePreferences.getState();
      const hasPrefix = event.timeStamp - prefixAt < PREFIX_MS;
      const found = lookUp(event, { isTyping: isTyping(event.target), singleKeys, hasPrefix });
      if (!["Shift", "Control", "Alt", "Meta"].includes(event.key))
        prefixAt = Number.NEGATIVE_INFINITY;
      if (found === "prefix") {
        prefixAt = event.timeStamp;
        return;
      }
      // Enter on a focused button is that button.
      if (!found || (event.key === "Enter" && isActivatable(event))) return;
      if (!run(found.command)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener("keydown", pressed, { capture: true });
    return () => window.removeEventListener("keydown", pressed, { capture: true });
  }, []);
}

function isActivatable(event: KeyboardEvent): boolean {
  const isPlain = !event.ctrlKey && !event.metaKey;
  return isPlain && event.target instanceof Element && event.target.matches("button, a, summary");
}
