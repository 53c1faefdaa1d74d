/**
 * Writes every event as a JSON line to a file in its data folder.
 *
 * options.json: { "events": "pane:*,agent:*", "file": "events.jsonl", "maxBytes": 10000000 }
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { resolve } from "node:path";

import type { ExtensionAPI } from "@paned/extension";

export const name = "logger";

export default function logger(paned: ExtensionAPI): void {
  const { events = "*", file = "events.jsonl", maxBytes = 10_000_000 } = paned.options as {
    events?: string;
    file?: string;
    maxBytes?: number;
  };
  const path = resolve(paned.dataFolder, file);
  const open = () => openSync(path, "a", 0o600);
  let log = open();
  let written = 0;

  paned.on(events, (_, event) => {
    // A full file becomes the one before, which it replaces.
    if (fstatSync(log).size >= maxBytes) {
      closeSync(log);
      renameSync(path, `${path}.1`);
      log = open();
    }
    writeSync(log, `${JSON.stringify(event)}\n`);
    written += 1;
  });

  paned.registerAction({
    name: "status",
    description: "Show where events are logged, and how many were since the start.",
    kind: "question",
    execute: () => ({ file: path, events, written }),
  });

  paned.onDispose(() => closeSync(log));
}
