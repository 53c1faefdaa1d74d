/** What the rest of the page knows of the terminal emulator. `terminal-view.tsx` implements it. */
import type { Size } from "../../api/generated";

/** A link under the pointer or the finger. */
export interface TerminalLink {
  address: string;
  /** The text on the screen; it may claim another address. */
  label: string;
}

export interface SearchOptions {
  caseSensitive: boolean;
  /** From the present match on, as while typing. */
  incremental?: boolean;
}

export interface SearchResult {
  index: number;
  count: number;
}

export interface Emulator {
  /** `parsed` is called when the emulator has taken the bytes in. */
  write(bytes: Uint8Array, parsed: () => void): void;
  /** Makes a new terminal of what is written next, without an empty frame in between. */
  restart(bytes: Uint8Array, parsed: () => void): void;
  resize(size: Size): void;
  focus(): void;
  /** The columns and rows that fit here at the preferred font size. */
  fitting(): Size | null;
  isBracketedPaste(): boolean;
  scrollToBottom(): void;
  search(text: string, direction: "next" | "previous", options: SearchOptions): Promise<void>;
  endSearch(): void;
}

export interface EmulatorEvents {
  input(text: string): void;
  /** Bytes that are not UTF-8: mouse reports of old programs. */
  binary(base64: string): void;
  /** How many lines were printed below what is shown; 0 at the bottom. */
  below(lines: number): void;
  open(link: TerminalLink): void;
  hover(link: TerminalLink | null): void;
  found(result: SearchResult): void;
}
