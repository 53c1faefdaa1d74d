/**
 * Standard output belongs to the protocol. Everything that an extension prints goes to standard
 * error, which paned keeps as the extension's log.
 */
import { Console } from "node:console";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const STDOUT = 1;
/** Waits for a full pipe: `Atomics.wait` is the only pause that blocks. */
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Sends what is printed to standard error. Runs before any code of an extension is loaded. */
export function rerouteOutput(): void {
  const errors = process.stderr;
  // The real one is never opened, so its pipe stays blocking and `writeLine` writes whole lines.
  Object.defineProperty(process, "stdout", { configurable: true, enumerable: true, get: () => errors });
  // Also for `import { stdout } from "node:process"`.
  syncBuiltinESMExports();
  globalThis.console = new Console(errors, errors);
}

/** Writes a line of the protocol. Returns when the pipe has it. */
export function writeLine(line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(STDOUT, bytes, written);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") process.exit(0);
      if (code !== "EAGAIN") throw error;
      Atomics.wait(pause, 0, 0, 1);
    }
  }
}
