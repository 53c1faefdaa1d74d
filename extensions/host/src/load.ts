/** Loads an extension: TypeScript or JavaScript, ES modules or CommonJS, without a build step. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
// Bundled as files of their own: the package's entry points look for Babel by its path.
import createJiti from "jiti/dist/jiti.cjs";

import type { Extension } from "../../sdk/src/index.js";
import { messageOf } from "./errors.js";

/** Names that paned uses itself. */
const RESERVED = new Set(
  ("action agent approval audit event ext extensions gap grant handler journal layout notify pane permission " +
    "server session shell subagent tmux").split(" "),
);

/** What a module exports, and the version of its package. */
export interface ExtensionModule {
  name: string;
  version: string;
  factory: Extension;
}

interface PackageManifest {
  main: string;
  version: string;
}

/** Loads the package in a folder. Compiled files are kept below `cacheFolder`. */
export async function loadExtension(folder: string, cacheFolder: string): Promise<ExtensionModule> {
  const { main, version } = readManifest(folder);
  const jiti = createJiti(
    pathToFileURL(join(folder, "package.json")).href,
    // A package that needs another runtime of JSX says so in a comment of its file.
    { fsCache: cacheFolder, jsx: true, interopDefault: false, tryNative: false, transform: compile },
    { onError, nativeImport: (id: string) => import(id), createRequire },
  );
  return { version, ...checkModule(await jiti.import(join(folder, main)), main) };
}

function readManifest(folder: string): PackageManifest {
  const path = join(folder, "package.json");
  let manifest: { main?: unknown; version?: unknown };
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`cannot read ${path}: ${messageOf(error)}`);
  }
  const { main, version } = manifest;
  if (typeof main === "string" && main !== "") return { main, version: typeof version === "string" ? version : "" };
  throw new Error(`"main" in ${path} must be the path of the extension's module, as in "index.ts"`);
}

/** What the module exports as `name` and as default, however it was compiled. */
function checkModule(exported: any, main: string): Omit<ExtensionModule, "version"> {
  const inner = exported?.default;
  // CommonJS: `module.exports = { name, default }`, or what a compiler made of ES exports.
  const nested = inner !== null && typeof inner === "object" ? inner : {};
  const factory = typeof inner === "function" ? inner : nested.default;
  // Each function has a `name`; one that was exported by that name is found here first.
  const name = ownString(exported) ?? ownString(nested);
  if (typeof factory !== "function") {
    throw new Error(`${main} has no default export: \`export default function (paned) { … }\` is missing`);
  }
  return { name: checkName(name, main), factory };
}

function ownString(module: any): unknown {
  return module !== null && typeof module === "object" && "name" in module ? module.name : undefined;
}

function checkName(name: unknown, main: string): string {
  if (name === undefined) throw new Error(`${main} has no name: \`export const name = "…"\` is missing`);
  if (typeof name !== "string" || !/^[a-z0-9][a-z0-9-]*$/.test(name)) {
    throw new Error(`invalid name ${JSON.stringify(name)} in ${main}: use a-z, 0-9 and \`-\`, as in "my-tools"`);
  }
  if (RESERVED.has(name)) throw new Error(`the name "${name}" in ${main} is reserved for paned; use another one`);
  return name;
}

/** Babel takes time to start, so it starts when a file is not in the cache. */
function compile(options: unknown): Compiled {
  const babel: (options: unknown) => Compiled = require("jiti/dist/babel.cjs");
  const compiled = babel(options);
  // What stands in for a missing `Reflect.metadata` would replace a method's descriptor by its class.
  return { ...compiled, code: compiled.code.replaceAll(" || ((t) => t)", " || (() => undefined)") };
}

interface Compiled {
  code: string;
}

function onError(error: unknown): never {
  throw error;
}
