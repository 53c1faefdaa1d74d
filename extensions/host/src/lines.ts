/** Splits a stream of bytes into lines. */

const NEWLINE = 10;

/** Returns a function that takes chunks and calls `onLine` for each complete line that is not empty. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Buffer) => void {
  /** The beginning of a line whose end has not come yet. */
  let parts: Buffer[] = [];
  return (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, end));
      const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
      parts = [];
      from = end + 1;
      if (bytes.length > 0) onLine(bytes.toString("utf8"));
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  };
}
