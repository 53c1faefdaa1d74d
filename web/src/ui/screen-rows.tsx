/** The screen of a pane as text with colours, without an emulator: it can be selected as usual. */
import { type CSSProperties, useMemo } from "react";
import { type AnsiRow, parseScreen } from "../lib/ansi";
import { TERMINAL_THEMES } from "../lib/terminal-theme";
import { useTheme } from "../lib/use-theme";
import { AnsiRowView } from "./ansi-screen";
import styles from "./screen-rows.module.css";

const EMPTY: AnsiRow = { key: "", runs: [] };

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
  const parsed = useMemo(() => parseScreen(ansi), [ansi]);
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
        {Array.from({ length: Math.max(rows, parsed.length) }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a row of a screen is its position
          <AnsiRowView key={index} row={parsed[index] ?? EMPTY} theme={theme} />
        ))}
        {at && <span className={styles.cursor} style={{ ...at, background: theme.cursor }} />}
      </section>
    </div>
  );
}
