/** The key map: which chord runs which command, and where. Settings and help list it. */
import type { Chord } from "../lib/keys";

/** `outside`: not in terminals and fields; can be switched off. */
export type KeyPlace = "anywhere" | "outside";

export interface KeyBinding {
  command: string;
  label: string;
  /** One chord, or two keys pressed one after the other. */
  keys: readonly [Chord] | readonly [Chord, Chord];
  place: KeyPlace;
}

const anywhere = (chord: Chord, command: string, label: string): KeyBinding => ({
  command,
  label,
  keys: [chord],
  place: "anywhere",
});

const outside = (key: Chord, command: string, label: string): KeyBinding => ({
  command,
  label,
  keys: [key],
  place: "outside",
});

const goTo = (key: Chord, command: string, label: string): KeyBinding => ({
  command,
  label,
  keys: ["g", key],
  place: "outside",
});

export const KEY_MAP: readonly KeyBinding[] = [
  anywhere("C+K", "palette", "Command palette"),
  anywhere("C+.", "next-need", "Next pane that needs you"),
  anywhere("C+L", "focus-list", "Leave the terminal for the list"),
  anywhere("C+F", "find-in-pane", "Find in this pane"),
  anywhere("C+Enter", "composer", "Write a prompt"),
  anywhere("C+G", "grid", "Grid"),
  anywhere("Alt+Shift+ArrowLeft", "grid-left", "Grid: tile to the left"),
  anywhere("Alt+Shift+ArrowRight", "grid-right", "Grid: tile to the right"),
  anywhere("Alt+Shift+ArrowUp", "grid-up", "Grid: tile above"),
  anywhere("Alt+Shift+ArrowDown", "grid-down", "Grid: tile below"),
  anywhere("Ctrl+Alt+Shift+ArrowLeft", "grid-move-left", "Grid: move the tile left"),
  anywhere("Ctrl+Alt+Shift+ArrowRight", "grid-move-right", "Grid: move the tile right"),
  anywhere("Ctrl+Alt+Shift+ArrowUp", "grid-move-up", "Grid: move the tile up"),
  anywhere("Ctrl+Alt+Shift+ArrowDown", "grid-move-down", "Grid: move the tile down"),
  anywhere("Alt+Shift+Enter", "grid-zoom", "Grid: zoom the tile, or back"),
  outside("j", "row-next", "Next row"),
  outside("k", "row-previous", "Previous row"),
  outside("Enter", "row-open", "Open the row"),
  outside("/", "filter", "Filter"),
  outside("n", "new", "New pane or agent"),
  outside("p", "composer", "Write a prompt"),
  outside("e", "why", "Why this state"),
  outside("r", "replay", "Replay"),
  outside("u", "unread", "Mark as unread"),
  outside("m", "mute", "Mute"),
  outside("x", "select", "Select"),
  outside("?", "help", "Keys"),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) =>
    outside(`${n}`, `answer-${n}`, `Answer with option ${n}`),
  ),
  goTo("h", "go-home", "Home"),
  goTo("g", "grid", "Grid"),
  goTo("f", "go-find", "Find"),
  goTo("t", "go-timeline", "Timeline"),
  goTo("c", "go-console", "Console"),
];

/** The chord of a command, for tooltips and menus. */
export function chordOf(command: string): Chord | undefined {
  return KEY_MAP.find((binding) => binding.command === command && binding.keys.length === 1)
    ?.keys[0];
}
