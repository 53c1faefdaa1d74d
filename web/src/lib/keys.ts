/** Key chords: parsing, matching and showing them. Pure. */

/** A chord such as `C+K`, `Shift+Alt+ArrowLeft` or `?`; `C` is ⌘ on macOS, Ctrl+Shift elsewhere. */
export type Chord = string;

type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "shiftKey">;

export const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** Keys that Shift changes on common layouts, as pressed with `C` outside macOS. */
const SHIFTED: Record<string, string> = { ">": ".", "<": ",", "?": "/", ":": ".", ";": "," };

export function matches(event: KeyPress, chord: Chord, mac = isMac): boolean {
  const parts = chord.split("+");
  const key = parts.pop() ?? "";
  const wants = (name: string) => parts.includes(name);
  const command = wants("C");
  const ctrl = wants("Ctrl") || (command && !mac);
  const meta = command && mac;
  if (event.ctrlKey !== ctrl || event.metaKey !== meta) return false;
  if (event.altKey !== wants("Alt")) return false;
  const shift = wants("Shift") || (command && !mac);
  // `?` and the like need Shift on one layout and not on another.
  const isSymbol = key.length === 1 && !/[a-z0-9]/i.test(key) && !command;
  if (!isSymbol && event.shiftKey !== shift) return false;
  const pressed = command ? (SHIFTED[event.key] ?? event.key) : event.key;
  return pressed.toLowerCase() === key.toLowerCase();
}

const NAMES: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Enter: "Enter",
  " ": "Space",
};

/** The chord as its keys are labelled, one text for each key. */
export function labels(chord: Chord, mac = isMac): string[] {
  return chord.split("+").flatMap((part) => {
    if (part === "C") return mac ? ["⌘"] : ["Ctrl", "Shift"];
    if (part === "Alt") return [mac ? "⌥" : "Alt"];
    return [NAMES[part] ?? (part.length === 1 ? part.toUpperCase() : part)];
  });
}

/** Whether keys typed here are text: fields and terminals. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
