/** The terminal emulator on the page: the only file that knows xterm. */
import { FitAddon } from "@xterm/addon-fit";
import type { SearchAddon } from "@xterm/addon-search";
import { Unicode11Addon } from "@xterm/addon-unicode11";
import { WebLinksAddon } from "@xterm/addon-web-links";
import { type IBufferRange, type ITheme, Terminal } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";
import { useEffect, useRef } from "react";
import type { Size } from "../../api/generated";
import { namedColours, TERMINAL_THEMES, type TerminalTheme } from "../../lib/terminal-theme";
import type { Emulator, EmulatorEvents, SearchOptions } from "./emulator";
import { firstGuess, fitFont } from "./font-fit";
import { CSI_QUERIES, DCS_QUERIES, isColourQuery, OSC_COLOURS } from "./queries";
import styles from "./terminal.module.css";
import { acquire, forget, touch } from "./webgl-pool";

const FAMILY = '"Geist Mono Variable", ui-monospace, monospace';
const SCROLLBACK = 5_000;
const SCROLL_BAR = 14;
/** Makes a terminal new: RIS. */
const RESET = new Uint8Array([0x1b, 0x63]);

export interface TerminalViewProps {
  theme: "dark" | "light";
  /** The preferred size of the font. */
  fontSize: number;
  screenReader: boolean;
  /** Whether keys are typed into the pane. */
  canType: boolean;
  label: string;
  /** Whether it may draw by WebGL; tiles of a grid draw by DOM. */
  webgl: boolean;
  events: EmulatorEvents;
  onReady: (emulator: Emulator) => () => void;
}

/** Fonts have to be there before the emulator measures them. */
async function loadFonts(): Promise<void> {
  const late = new Promise((resolve) => setTimeout(resolve, 1_000));
  const loaded = document.fonts?.load(`13px ${FAMILY}`, "W─█");
  await Promise.race([loaded, late]).catch(() => {});
}

export default function TerminalView(props: TerminalViewProps) {
  const { theme, fontSize, screenReader, canType, label } = props;
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<XtermEmulator | null>(null);
  const latest = useRef(props);
  latest.current = props;

  useEffect(() => {
    let end: (() => void) | undefined;
    let isOver = false;
    void loadFonts().then(() => {
      if (isOver || !box.current) return;
      const emulator = new XtermEmulator(box.current, () => latest.current);
      view.current = emulator;
      const stop = latest.current.onReady(emulator);
      end = () => {
        stop();
        view.current = null;
        emulator.dispose();
      };
    });
    return () => {
      isOver = true;
      end?.();
    };
  }, []);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the emulator reads the properties itself
  useEffect(() => view.current?.configure(), [theme, fontSize, screenReader, canType, label]);

  return <div ref={box} className={styles.box} data-testid="terminal" />;
}

class XtermEmulator implements Emulator {
  readonly #box: HTMLElement;
  readonly #props: () => TerminalViewProps;
  readonly #term: Terminal;
  readonly #fit = new FitAddon();
  readonly #observer: ResizeObserver;
  #search: Promise<SearchAddon> | null = null;
  #releaseWebgl: (() => void) | null = null;
  #below = 0;

  constructor(box: HTMLElement, props: () => TerminalViewProps) {
    this.#box = box;
    this.#props = props;
    const term = new Terminal({
      allowProposedApi: true,
      fontFamily: FAMILY,
      fontSize: props().fontSize,
      lineHeight: 1.2,
      scrollback: SCROLLBACK,
      minimumContrastRatio: 4.5,
      macOptionIsMeta: true,
      linkHandler: {
        activate: (_, address, range) => this.#events.open(this.#link(address, range)),
        hover: (_, address, range) => this.#events.hover(this.#link(address, range)),
        leave: () => this.#events.hover(null),
      },
    });
    this.#term = term;
    term.loadAddon(this.#fit);
    term.loadAddon(new Unicode11Addon());
    term.unicode.activeVersion = "11";
    term.loadAddon(
      new WebLinksAddon((_, address) => this.#events.open({ address, label: address }), {
        hover: (_, address) => this.#events.hover({ address, label: address }),
        leave: () => this.#events.hover(null),
      }),
    );
    this.#swallowQueries();
    this.configure();
    term.open(box);
    this.#observer = new ResizeObserver(() => this.#fitFont());
    this.#observer.observe(box);
    this.#listen();
  }

  get #events(): EmulatorEvents {
    return this.#props().events;
  }

  #listen(): void {
    const term = this.#term;
    term.attachCustomKeyEventHandler((event) => !this.#copies(event));
    term.onData((text) => this.#events.input(text));
    term.onBinary((text) => this.#events.binary(btoa(text)));
    term.onLineFeed(() => this.#isAtBottom() || this.#setBelow(this.#below + 1));
    term.onScroll(() => this.#isAtBottom() && this.#setBelow(0));
    term.textarea?.addEventListener("focus", () => touch(this));
    const painted = term.onRender(() => {
      painted.dispose();
      if (this.#props().webgl) void this.#drawByWebgl();
    });
    // Scrolling by wheel is not reported by `onScroll`.
    const wheel = () => requestAnimationFrame(() => this.#isAtBottom() && this.#setBelow(0));
    this.#box.addEventListener("wheel", wheel, { passive: true });
    this.#box.addEventListener("touchmove", wheel, { passive: true });
  }

  /** Takes over the properties. */
  configure(): void {
    const { theme, screenReader, canType, label } = this.#props();
    const options = this.#term.options;
    options.theme = namedColours(TERMINAL_THEMES[theme]) as ITheme;
    options.screenReaderMode = screenReader;
    options.disableStdin = !canType;
    options.cursorInactiveStyle = canType ? "outline" : "none";
    this.#term.textarea?.setAttribute("aria-label", label);
    if (this.#term.element) this.#fitFont();
  }

  write(bytes: Uint8Array, parsed: () => void): void {
    this.#term.write(bytes, parsed);
  }

  restart(bytes: Uint8Array, parsed: () => void): void {
    const whole = new Uint8Array(RESET.length + bytes.length);
    whole.set(RESET);
    whole.set(bytes, RESET.length);
    this.#term.write(whole, parsed);
    this.#setBelow(0);
  }

  resize({ cols, rows }: Size): void {
    if (cols === this.#term.cols && rows === this.#term.rows) return;
    this.#term.resize(cols, rows);
    this.#fitFont();
  }

  focus(): void {
    this.#term.focus();
  }

  fitting(): Size | null {
    this.#term.options.fontSize = this.#props().fontSize;
    const size = this.#fit.proposeDimensions();
    this.#fitFont();
    return size ? { cols: Math.max(2, size.cols), rows: Math.max(1, size.rows) } : null;
  }

  isBracketedPaste(): boolean {
    return this.#term.modes.bracketedPasteMode;
  }

  scrollToBottom(): void {
    this.#term.scrollToBottom();
    this.#setBelow(0);
  }

  async search(
    text: string,
    direction: "next" | "previous",
    options: SearchOptions,
  ): Promise<void> {
    this.#search ??= this.#loadSearch();
    const addon = await this.#search;
    const { hit, hitInk } = this.#theme();
    const decorations = {
      matchBackground: hit,
      matchOverviewRuler: hit,
      activeMatchBackground: hit,
      activeMatchBorder: hitInk,
      activeMatchColorOverviewRuler: hit,
    };
    const incremental = options.incremental ?? false;
    const asked = { caseSensitive: options.caseSensitive, incremental, decorations };
    if (direction === "next") addon.findNext(text, asked);
    else addon.findPrevious(text, asked);
  }

  endSearch(): void {
    this.#term.clearSelection();
    void this.#search?.then((addon) => addon.clearDecorations());
  }

  dispose(): void {
    this.#observer.disconnect();
    forget(this);
    this.#term.dispose();
  }

  #theme(): TerminalTheme {
    return TERMINAL_THEMES[this.#props().theme];
  }

  async #loadSearch(): Promise<SearchAddon> {
    const { SearchAddon } = await import("@xterm/addon-search");
    const addon = new SearchAddon();
    this.#term.loadAddon(addon);
    addon.onDidChangeResults(({ resultIndex, resultCount }) =>
      this.#events.found({ index: resultIndex, count: resultCount }),
    );
    return addon;
  }

  #swallowQueries(): void {
    const { parser } = this.#term;
    for (const id of CSI_QUERIES) parser.registerCsiHandler(id, () => true);
    for (const id of DCS_QUERIES) parser.registerDcsHandler(id, () => true);
    for (const code of OSC_COLOURS) parser.registerOscHandler(code, isColourQuery);
  }

  async #drawByWebgl(): Promise<void> {
    const { WebglAddon } = await import("@xterm/addon-webgl");
    if (!this.#box.isConnected) return;
    try {
      const addon = new WebglAddon();
      this.#releaseWebgl = () => {
        this.#releaseWebgl = null;
        forget(this);
        addon.dispose();
        this.#fitFont();
      };
      addon.onContextLoss(() => this.#releaseWebgl?.());
      this.#term.loadAddon(addon);
      acquire(this, () => this.#releaseWebgl?.());
      this.#fitFont();
    } catch {
      // Without WebGL it goes on drawing by DOM.
      this.#releaseWebgl?.();
    }
  }

  /** Ctrl+Shift+C copies, as in other terminals; Ctrl+C is typed. */
  #copies(event: KeyboardEvent): boolean {
    const isChord = event.ctrlKey && event.shiftKey && event.code === "KeyC";
    if (!isChord || event.type !== "keydown" || !this.#term.hasSelection()) return isChord;
    event.preventDefault();
    void navigator.clipboard?.writeText(this.#term.getSelection());
    return true;
  }

  #isAtBottom(): boolean {
    const { viewportY, baseY } = this.#term.buffer.active;
    return viewportY >= baseY;
  }

  #setBelow(lines: number): void {
    if (lines === this.#below) return;
    this.#below = lines;
    this.#events.below(lines);
  }

  /** Makes the font as small as this terminal needs here; what still does not fit is panned. */
  #fitFont(): void {
    const box = { width: this.#box.clientWidth, height: this.#box.clientHeight };
    const current = this.#term.options.fontSize ?? 13;
    const screen = this.#screen();
    if (box.width === 0 || !screen) return;
    const preferred = this.#props().fontSize;
    const first = firstGuess(box, screen, current, preferred);
    fitFont(box, first, preferred, (size) => {
      if (this.#term.options.fontSize !== size) this.#term.options.fontSize = size;
      return this.#screen() ?? box;
    });
    this.#pan();
  }

  /** The pixels of the whole terminal, with the room of its scroll bar. */
  #screen(): { width: number; height: number } | null {
    const element = this.#term.element?.querySelector<HTMLElement>(".xterm-screen");
    if (!element) return null;
    return { width: element.offsetWidth, height: element.offsetHeight };
  }

  /** The element is as large as the terminal, so that its box scrolls. */
  #pan(): void {
    const screen = this.#screen();
    const element = this.#term.element;
    if (!screen || !element) return;
    const withScrollBar = Math.min(screen.width + SCROLL_BAR, this.#box.clientWidth);
    element.style.width = `${Math.max(screen.width, withScrollBar)}px`;
    element.style.height = `${screen.height}px`;
  }

  #link(address: string, range: IBufferRange): { address: string; label: string } {
    const line = this.#term.buffer.active.getLine(range.start.y - 1);
    const label = line?.translateToString(true, range.start.x - 1, range.end.x) ?? address;
    return { address, label };
  }
}
