/** What the user has chosen on this device: the look, the size of the terminal, single keys. */
import { create } from "zustand";

export type Theme = "system" | "dark" | "light";
export type Grouping = "need" | "tag" | "session";

export interface Preferences {
  theme: Theme;
  /** Pixels of the terminal's font. */
  fontSize: number;
  grouping: Grouping;
  /** Pixels of the list. */
  listWidth: number;
  /** Whether single letters are commands outside terminals and fields. */
  singleKeys: boolean;
  screenReader: boolean;
  /** Whether long lines of the history continue on the next row. */
  wrapLines: boolean;
  /** Whether the list shows one line per pane. */
  compact: boolean;
  /** Whether questions that wait show notifications. */
  alerts: boolean;
  /** Whether these contain the question. */
  alertText: boolean;
}

const KEY = "paned.preferences";

const DEFAULTS: Preferences = {
  theme: "system",
  fontSize: 13,
  grouping: "need",
  listWidth: 360,
  singleKeys: true,
  screenReader: false,
  wrapLines: true,
  compact: false,
  alerts: false,
  alertText: false,
};

function stored(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

export const usePreferences = create<Preferences>(() => ({ ...DEFAULTS, ...stored() }));

/** Changes and keeps some preferences. */
export function prefer(change: Partial<Preferences>): void {
  usePreferences.setState(change);
  localStorage.setItem(KEY, JSON.stringify(usePreferences.getState()));
}

/** Other tabs of this device. */
export function followPreferences(): void {
  window.addEventListener("storage", (event) => {
    if (event.key === KEY) usePreferences.setState(stored());
  });
}
