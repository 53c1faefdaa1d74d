/** The log of an extension: lines on standard error, which paned keeps and shows. */
import { inspect } from "node:util";

import type { Log } from "../../sdk/src/index.js";

export function createLog(): Log {
  return { debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error") };
}

function writer(level: string): (...values: unknown[]) => void {
  return (...values) => {
    const words = values.map((value) => (typeof value === "string" ? value : inspect(value, { breakLength: Infinity })));
    process.stderr.write(`${level}: ${words.join(" ")}\n`);
  };
}
