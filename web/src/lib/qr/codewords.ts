/** The codewords of a QR code: the text as bytes, padded, in blocks with error correction. Pure. */
import { errorCorrection } from "./reed-solomon";

/** For each version, error correction level M: codewords of correction per block, and blocks. */
const LEVEL_M: readonly (readonly [number, number])[] = [
  [10, 1],
  [16, 1],
  [26, 1],
  [18, 2],
  [24, 2],
  [16, 4],
  [18, 4],
  [22, 4],
  [22, 5],
  [26, 5],
  [30, 5],
  [22, 8],
  [22, 9],
  [24, 9],
  [24, 10],
];

/** The largest version that is made: 412 bytes. */
export const MOST_VERSION = LEVEL_M.length;

/** The modules of a version that carry codewords, in bits. */
function capacity(version: number): number {
  const side = version * 4 + 17;
  const finders = 3 * 64;
  const timing = 2 * (side - 16);
  const format = 31;
  const patterns = version === 1 ? 0 : Math.floor(version / 7) + 2;
  // Patterns in the row and column of the timing lines share five modules with them.
  const alignment = version === 1 ? 0 : (patterns * patterns - 3) * 25 - (patterns - 2) * 2 * 5;
  const information = version >= 7 ? 36 : 0;
  return side * side - finders - timing - format - alignment - information;
}

function dataLength(version: number): number {
  const [correction, blocks] = LEVEL_M[version - 1] ?? [0, 0];
  return Math.floor(capacity(version) / 8) - correction * blocks;
}

/** The smallest version that holds so many bytes; nothing if they are too many. */
export function versionFor(bytes: number): number | null {
  for (let version = 1; version <= MOST_VERSION; version += 1) {
    const head = version < 10 ? 12 : 20;
    if (head + bytes * 8 <= dataLength(version) * 8) return version;
  }
  return null;
}

/** All codewords in the order in which they are drawn. */
export function codewords(bytes: Uint8Array, version: number): number[] {
  const [correction, count] = LEVEL_M[version - 1] ?? [0, 1];
  const data = padded(bytes, version);
  const short = Math.floor(data.length / count);
  const longer = data.length % count;
  const blocks: number[][] = [];
  for (let index = 0, from = 0; index < count; index += 1) {
    const length = short + (index >= count - longer ? 1 : 0);
    blocks.push(data.slice(from, from + length));
    from += length;
  }
  const checks = blocks.map((block) => errorCorrection(block, correction));
  return [...interleaved(blocks), ...interleaved(checks)];
}

/** Mode, length, bytes, end and padding. */
function padded(bytes: Uint8Array, version: number): number[] {
  const bits: number[] = [];
  const add = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  add(0b0100, 4);
  add(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) add(byte, 8);
  const length = dataLength(version);
  add(0, Math.min(4, length * 8 - bits.length));
  add(0, (8 - (bits.length % 8)) % 8);
  const data: number[] = [];
  for (let at = 0; at < bits.length; at += 8)
    data.push(bits.slice(at, at + 8).reduce((value, bit) => value * 2 + bit, 0));
  for (let pad = 0xec; data.length < length; pad ^= 0xec ^ 0x11) data.push(pad);
  return data;
}

function interleaved(blocks: readonly (readonly number[])[]): number[] {
  const longest = Math.max(...blocks.map((block) => block.length));
  const order: number[] = [];
  for (let index = 0; index < longest; index += 1)
    for (const block of blocks) if (index < block.length) order.push(block[index] ?? 0);
  return order;
}
