/** The screen of a pane as text with colours, without an emulator: it can be selected as usual. */
import { type CSSProperties, memo, useMemo } from "react";
import { type AnsiColour, type AnsiRun, ansiRows } from "../lib/ansi";
import { TERMINAL_THEMES, type TerminalTheme } from "../lib/terminal-theme";
import { useTheme } from "../lib/use-theme";
import styles from "./screen-rows.module.css";

export interface ScreenRowsProps {
  /** Rows with SGR sequences, separated by line feeds. */
  ansi: string;
  cols: number;
  rows: number;
  cursor?: { row: number; col: number; visible: boolean } | null;
  label: string;
  /** Pixels of the font, at most. It is fitted to the box, but never below 9. */
  fontSize: number;
}

export function ScreenRows({ ansi, cols, rows, cursor, label, fontSize }: ScreenRowsProps) {
  const theme = TERMINAL_THEMES[useTheme()];
  const lines = useMemo(() => ansi.split("\n"), [ansi]);
  // A style can hold over rows, so rows are parsed together and drawn apart.
  const parsed = useMemo(() => ansiRows(ansi), [ansi]);
  const style = {
    "--cols": cols,
    "--rows": rows,
    "--most": `${fontSize}px`,
    background: theme.background,
    color: theme.foreground,
  } as CSSProperties;
  const at = cursor?.visible ? { left: `${cursor.col}ch`, top: `${cursor.row * 1.2}em` } : null;
  return (
    <div className={styles.box} style={style}>
      <section className={styles.screen} aria-label={label}>
        {Array.from({ length: Math.max(rows, lines.length) }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row of a screen is its position
          <Row key={index} runs={parsed[index] ?? []} theme={theme} />
        ))}
        {at && <span className={styles.cursor} style={{ ...at, background: theme.cursor }} />}
      </section>
    </div>
  );
}

const Row = memo(
  function Row({ runs, theme }: { runs: readonly AnsiRun[]; theme: TerminalTheme }) {
    let at = 0;
    return (
      <div className={styles.row}>
        {runs.map((run) => {
          const key = at;
          at += run.text.length;
          return (
            <span key={key} style={look(run, theme)}>
              {run.text}
            </span>
          );
        })}
      </div>
    );
  },
  (before, after) =>
    before.theme === after.theme && JSON.stringify(before.runs) === JSON.stringify(after.runs),
);

function look(run: AnsiRun, theme: TerminalTheme): CSSProperties {
  const css = (colour: AnsiColour, own: string) =>
    typeof colour === "number" ? (theme.colours[colour] ?? own) : (colour ?? own);
  const fg = css(run.fg, theme.foreground);
  const bg = css(run.bg, theme.background);
  const style: CSSProperties = {};
  if (run.fg !== null || run.inverse) style.color = run.inverse ? bg : fg;
  if (run.bg !== null || run.inverse) style.backgroundColor = run.inverse ? fg : bg;
  if (run.bold) style.fontWeight = 600;
  if (run.dim) style.opacity = 0.65;
  if (run.italic) style.fontStyle = "italic";
  if (run.hidden) style.visibility = "hidden";
  const lines = [run.underline && "underline", run.strike && "line-through"].filter(Boolean);
  if (lines.length > 0) style.textDecoration = lines.join(" ");
  return style;
}
