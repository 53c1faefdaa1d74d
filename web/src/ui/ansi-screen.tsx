/** A screen as the server renders it, drawn as rows of text: no emulator, no canvas. */
import { type CSSProperties, memo, useMemo } from "react";
import { type AnsiRow, type AnsiStyle, parseScreen } from "../lib/ansi";
import { hexOf, readable } from "../lib/colour";
import { TERMINAL_THEMES, type TerminalTheme } from "../lib/terminal-theme";
import { useTheme } from "../lib/use-theme";
import styles from "./ansi-screen.module.css";
import { cx } from "./class-names";

export interface AnsiScreenProps {
  ansi: string;
  size: { cols: number; rows: number };
  cursor: { row: number; col: number; visible: boolean } | null;
  /** `whole` shows every cell; `readable` keeps the text legible and cuts it at the right and top. */
  fit: "whole" | "readable";
}

export function AnsiScreen({ ansi, size, cursor, fit }: AnsiScreenProps) {
  const theme = TERMINAL_THEMES[useTheme()];
  const rows = useMemo(() => parseScreen(ansi), [ansi]);
  const shape = { "--cols": size.cols, "--rows": size.rows } as CSSProperties;
  // What is empty below the last row says nothing.
  const last = rows.findLastIndex((row) => row.runs.length > 0);
  const end = fit === "whole" ? rows.length : Math.max(last, cursor?.row ?? 0) + 1;
  return (
    <div className={cx(styles.screen, styles[fit])} style={shape} aria-hidden="true">
      <div className={styles.clip}>
        <div className={styles.rows}>
          {rows.slice(0, end).map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a row of a screen is its place
            <AnsiRowView key={index} row={row} theme={theme} />
          ))}
          {cursor?.visible && cursor.row < end && (
            <span
              className={styles.cursor}
              style={{ left: `${cursor.col}ch`, top: `${cursor.row * 1.2}em` }}
            />
          )}
        </div>
      </div>
    </div>
  );
}

interface AnsiRowProps {
  row: AnsiRow;
  theme: TerminalTheme;
}

/** Rows that have not changed are not drawn again. */
export const AnsiRowView = memo(
  function AnsiRowView({ row, theme }: AnsiRowProps) {
    return (
      <div className={styles.row}>
        {row.runs.map(({ text, style }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run of a row is its place
          <span key={index} style={cssOf(style, theme)}>
            {text}
          </span>
        ))}
      </div>
    );
  },
  (before, after) => before.row.key === after.row.key && before.theme === after.theme,
);

const PLAIN: CSSProperties = {};

function cssOf(style: AnsiStyle, theme: TerminalTheme): CSSProperties {
  const { bold, dim, italic, underline, strike, inverse, hidden } = style;
  if (Object.keys(style).length === 0) return PLAIN;
  const own = style.fg === undefined ? theme.foreground : hexOf(style.fg, theme.colours);
  const behind = style.bg === undefined ? theme.background : hexOf(style.bg, theme.colours);
  const [fg, bg] = inverse ? [behind, own] : [own, behind];
  const lines = [underline && "underline", strike && "line-through"].filter(Boolean).join(" ");
  return {
    color: hidden ? "transparent" : readable(fg, bg),
    ...(bg === theme.background ? {} : { backgroundColor: bg }),
    ...(bold ? { fontWeight: 600 } : {}),
    ...(dim ? { opacity: 0.65 } : {}),
    ...(italic ? { fontStyle: "italic" } : {}),
    ...(lines ? { textDecoration: lines } : {}),
  };
}
