import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { fixture, HostProcess, makePackage, refused, run } from "./support.mjs";

test("typescript with enums, decorators, JSX, `using`, types that do not exist and top-level await runs", async (t) => {
  const host = await run(t, fixture("typescript"));
  assert.deepEqual(await host.run("typescript:show"), {
    version: "2.0.0",
    shade: 1,
    shades: "Dark",
    kinds: ["a", "b"],
    counted: 8,
    element: { kind: "box", props: { wide: true }, inside: ["text"] },
    closed: ["second", "first"],
  });
});

test("compiled files are kept in the data folder and nowhere else", async (t) => {
  const folder = makePackage(t, { "index.ts": "export const name: string = 'a'; export default () => {};" });
  const before = readdirSync(folder);
  const host = await run(t, folder);
  assert.ok(readdirSync(join(host.dataFolder, ".cache")).length > 0);
  assert.deepEqual(readdirSync(folder), before);
  assert.ok(!existsSync(join(folder, "node_modules")));
});

const MODULES = {
  "CommonJS with fields": ["index.js", "exports.name = 'mine'; exports.default = (paned) => REGISTER;"],
  "CommonJS with an object": ["index.cjs", "module.exports = { name: 'mine', default: (paned) => REGISTER };"],
  "what a TypeScript compiler makes": [
    "lib/index.js",
    "'use strict'; Object.defineProperty(exports, '__esModule', { value: true }); exports.name = 'mine';" +
      " exports.default = async function (paned) { REGISTER };",
  ],
  "an ES module": ["index.mjs", "export const name = 'mine'; export default (paned) => { REGISTER };"],
  "a JavaScript file with imports": [
    "index.js",
    "import { join } from 'node:path'; export const name = join('mine'); export default (paned) => { REGISTER };",
  ],
};
for (const [what, [path, text]] of Object.entries(MODULES)) {
  test(`${what} is an extension`, async (t) => {
    const register = "paned.registerAction({ name: 'hello', execute: () => 'hi' })";
    const host = await run(t, makePackage(t, { [path]: text.replace("REGISTER", register) }));
    assert.equal(host.asked("registerAction")[0].name, "mine:hello");
    assert.equal(await host.run("mine:hello"), "hi");
  });
}

test("an ES package loads its own dependencies, also those in another format", async (t) => {
  const files = {
    "index.js": "import two from 'two'; import { three } from 'three'; export const name = 'own';" +
      "export default (paned) => { paned.registerAction({ name: 'sum', execute: () => two.two + three }); };",
    "node_modules/two/package.json": JSON.stringify({ name: "two", main: "main.js" }),
    "node_modules/two/main.js": "module.exports = { two: 2 };",
    "node_modules/three/package.json": JSON.stringify({ name: "three", type: "module", exports: "./main.js" }),
    "node_modules/three/main.js": "export const three = await Promise.resolve(3);",
  };
  const host = await run(t, makePackage(t, files, { type: "module" }));
  assert.equal(await host.run("own:sum"), 5);
});

const FAULTS = {
  "a module without a name": ["export default () => {};", /index\.ts has no name: `export const name = "…"` is missing/],
  "a module without a factory": ["export const name = 'a';", /index\.ts has no default export/],
  "a name with capitals": ["export const name = 'Logger'; export default () => {};", /invalid name "Logger"/],
  "a name of paned's own": ["export const name = 'pane'; export default () => {};", /"pane" in index\.ts is reserved/],
  "a syntax error": ["export const = ;", /^ParseError: .* \S+index\.ts:1:13$/],
  "a missing dependency": ["import 'not-installed'; export const name = 'a'; export default () => {};", /^Cannot find module 'not-installed'$/],
  "a factory that throws": [
    "export const name = 'a'; export default () => { throw new Error('no network'); };",
    /no network/,
  ],
  "a factory that rejects": [
    "export const name = 'a'; export default async () => { throw new Error('no network'); };",
    /no network/,
  ],
};
for (const [what, [text, sentence]] of Object.entries(FAULTS)) {
  test(`${what} is refused with a sentence, and the host ends`, async (t) => {
    const host = new HostProcess(t, makePackage(t, { "index.ts": text }));
    await refused(host.initialize(), "internal", sentence);
    assert.equal(await host.exit, 1);
    assert.match(host.log, /paned: the extension cannot be started/);
  });
}

test("a package without `main` is refused", async (t) => {
  const host = new HostProcess(t, makePackage(t, { "index.ts": "" }, { main: undefined }));
  await refused(host.initialize(), "internal", /"main" in .*package\.json must be the path/);
});

test("a registration that paned refuses ends the start", async (t) => {
  const text = "export const name = 'a'; export default (paned) => { paned.registerAction({ name: 'b', execute() {} }); };";
  const answer = (method) => {
    if (method === "registerAction") throw { code: "conflict", message: "action `a:b` already exists" };
  };
  const host = new HostProcess(t, makePackage(t, { "index.ts": text }), { answer });
  await refused(host.initialize(), "conflict", /already exists/);
  assert.equal(await host.exit, 1);
});

test("another version of the protocol is refused", async (t) => {
  const host = new HostProcess(t, makePackage(t, { "index.ts": "" }));
  await refused(host.initialize("a", { protocol: 2 }), "unavailable", /version 1 .* version 2/);
});
