/** The sixteen colours of terminals, dark and light. */

export interface TerminalTheme {
  background: string;
  foreground: string;
  cursor: string;
  selection: string;
  /** 0–7, then the bright 8–15. */
  colours: readonly string[];
  hit: string;
  hitInk: string;
}

const list = (text: string) => text.split(" ").map((colour) => `#${colour}`);

export const TERMINAL_THEMES: Record<"dark" | "light", TerminalTheme> = {
  dark: {
    background: "#0B0E12",
    foreground: "#D9E0E8",
    cursor: "#F2B643",
    selection: "#2A4A6E",
    colours: [
      ...list("3B4552 FF7B72 5FCB8E E3B341 6DB3F8 C9A0F5 4FC3C9 C3CDD8"),
      ...list("7D8A9A FF9C94 7FDDA8 F2CC60 93C9FB DBBDFA 74D9DE F3F6F9"),
    ],
    hit: "#F2B643",
    hitInk: "#12171D",
  },
  light: {
    background: "#FFFFFF",
    foreground: "#1B2129",
    cursor: "#8A5200",
    selection: "#BBD9FB",
    colours: [
      ...list("1B2129 B4231C 17703F 7A5200 0A5BC4 7A35B5 0B6B72 5C6773"),
      ...list("4A5562 C9302A 1B834A 8F6100 1F6FD6 9247CF 0E7F87 2E3742"),
    ],
    hit: "#FFD98A",
    hitInk: "#12171D",
  },
};

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** The theme under the names that the emulator has for its colours. */
export function namedColours({
  background,
  foreground,
  cursor,
  selection,
  colours,
}: TerminalTheme) {
  const named: Record<string, string> = {
    background,
    foreground,
    cursor,
    cursorAccent: background,
    selectionBackground: selection,
  };
  for (const [index, name] of NAMES.entries()) {
    named[name] = colours[index] ?? foreground;
    const bright = `bright${name[0]?.toUpperCase()}${name.slice(1)}`;
    named[bright] = colours[index + 8] ?? foreground;
  }
  return named;
}
