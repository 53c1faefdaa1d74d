/** QR codes of texts up to 412 bytes, with error correction level M. Pure. */
import { codewords, versionFor } from "./codewords";
import { drawn, frameOf, type Matrix, masked } from "./matrix";
import { penalty } from "./penalty";

/** The modules, `true` for dark, without the quiet zone; nothing if the text is too long. */
export function qrMatrix(text: string): Matrix | null {
  const bytes = new TextEncoder().encode(text);
  const version = versionFor(bytes.length);
  if (version === null) return null;
  const frame = frameOf(version);
  const data = drawn(frame, codewords(bytes, version));
  let best: Matrix | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (let mask = 0; mask < 8; mask += 1) {
    const matrix = masked(frame, data, mask);
    const cost = penalty(matrix);
    if (cost < least) [best, least] = [matrix, cost];
  }
  return best;
}

/** The dark modules as the path of an SVG whose unit is a module. */
export function qrPath(matrix: Matrix): string {
  return matrix
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : "")))
    .join("");
}
