/** Error correction of QR codes: remainders of polynomials over the field of 256 elements. Pure. */

/** The field's polynomial, x⁸ + x⁴ + x³ + x² + 1. */
const FIELD = 0x11d;

const powers = new Uint8Array(255);
const logarithms = new Uint8Array(256);
for (let index = 0, value = 1; index < 255; index += 1) {
  powers[index] = value;
  logarithms[value] = index;
  value <<= 1;
  if (value & 0x100) value ^= FIELD;
}

function multiply(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  return powers[((logarithms[a] ?? 0) + (logarithms[b] ?? 0)) % 255] ?? 0;
}

/** The product of (x - 2⁰) … (x - 2ⁿ⁻¹), without its leading 1. */
function generator(length: number): number[] {
  let polynomial = [1];
  for (let root = 0; root < length; root += 1) {
    const next = [...polynomial, 0];
    for (const [index, factor] of polynomial.entries()) {
      next[index + 1] = (next[index + 1] ?? 0) ^ multiply(factor, powers[root] ?? 0);
    }
    polynomial = next;
  }
  return polynomial.slice(1);
}

/** The codewords that protect a block of data. */
export function errorCorrection(data: readonly number[], length: number): number[] {
  const divisor = generator(length);
  const rest = new Array<number>(length).fill(0);
  for (const value of data) {
    const factor = value ^ (rest.shift() ?? 0);
    rest.push(0);
    for (const [index, term] of divisor.entries())
      rest[index] = (rest[index] ?? 0) ^ multiply(term, factor);
  }
  return rest;
}
