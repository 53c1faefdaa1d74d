/** The rules of the folders: arrows point one way, and some things are in one file only. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname);
const files = (readdirSync(root, { recursive: true }) as string[])
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => /\.tsx?$/.test(path) && path !== "structure.test.ts");
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** What each folder may import besides itself. */
const ALLOWED: Record<string, readonly string[]> = {
  api: [],
  lib: ["api"],
  ui: ["lib", "api"],
  state: ["lib", "api"],
  features: ["api", "lib", "ui", "state"],
  app: ["api", "lib", "ui", "state", "features"],
};

/** The folders of relative imports, from the root of the sources. */
function imported(path: string): string[] {
  const folder = path.split("/").slice(0, -1);
  const specifiers = [...read(path).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)];
  return specifiers.map(([, specifier = ""]) => {
    const parts = [...folder];
    for (const part of specifier.split("/")) {
      if (part === "..") parts.pop();
      else if (part !== ".") parts.push(part);
    }
    return parts.join("/");
  });
}

test("folders point one way", () => {
  const wrong = files.flatMap((path) => {
    const [own = ""] = path.split("/");
    const allowed = ALLOWED[own];
    if (!allowed) return [];
    return imported(path)
      .filter((target) => ![own, ...allowed].includes(target.split("/")[0] ?? ""))
      .map((target) => `${path} imports ${target}`);
  });
  expect(wrong).toEqual([]);
});

test("features do not import each other", () => {
  const wrong = files
    .filter((path) => path.startsWith("features/"))
    .flatMap((path) => {
      const own = path.split("/").slice(0, 2).join("/");
      return imported(path)
        .filter((target) => target.startsWith("features/") && !target.startsWith(own))
        .map((target) => `${path} imports ${target}`);
    });
  expect(wrong).toEqual([]);
});

test("only one file knows the WebSocket, and only one the terminal emulator", () => {
  const of = (pattern: RegExp) =>
    files.filter((path) => !/test|fake|generated/.test(path) && pattern.test(read(path)));
  expect(of(/new WebSocket\(/)).toEqual(["lib/socket.ts"]);
  const terminal = of(/"@xterm\//);
  expect(terminal.filter((path) => path !== "features/pane/terminal-view.tsx")).toEqual([]);
});

test("names are in kebab case, and files are short", () => {
  expect(files.filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([]);
  const lines = (path: string) => read(path).split("\n").length;
  const isCounted = (path: string) => !/generated|test/.test(path);
  expect(files.filter((path) => isCounted(path) && lines(path) > 350)).toEqual([]);
});
