/** Colours of terminals: the palette of 256, and text that can be read on its background. Pure. */
import type { AnsiColour } from "./ansi";

const STEPS = [0, 95, 135, 175, 215, 255];
/** WCAG's contrast for text. */
const ENOUGH = 4.5;

/** A colour as `#rrggbb`; the first sixteen are those of the theme. */
export function hexOf(colour: AnsiColour, theme: readonly string[]): string {
  if (typeof colour === "string") return colour;
  if (colour < 16) return theme[colour] ?? "#000000";
  if (colour >= 232) return rgb(Array(3).fill(8 + (colour - 232) * 10));
  const at = colour - 16;
  const parts = [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6];
  return rgb(parts.map((part) => STEPS[part] ?? 0));
}

function rgb(parts: readonly number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}

const partsOf = (hex: string) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = partsOf(hex).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The ratio of contrast of two colours, 1 to 21. */
export function contrast(a: string, b: string): number {
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const known = new Map<string, string>();

/** The colour itself, or one nearer to white or black that can be read on the background. */
export function readable(fg: string, bg: string): string {
  const key = fg + bg;
  const found = known.get(key);
  if (found) return found;
  const target = luminance(bg) < 0.18 ? 255 : 0;
  let result = fg;
  for (let share = 0.1; contrast(result, bg) < ENOUGH && share <= 1; share += 0.1) {
    result = rgb(partsOf(fg).map((part) => part + (target - part) * share));
  }
  known.set(key, result);
  return result;
}
