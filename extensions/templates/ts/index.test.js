// Run it with `node --test`, on Node before 22.18 after `npm install`. paned is not needed: the
// test plays its part.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

test("hello greets and counts the programs that ended", async (t) => {
  const extension = await load();
  if (extension === undefined) {
    return t.skip("node before 22.18 reads TypeScript only after `npm install`");
  }
  const paned = fakePaned();
  extension.default(paned);
  paned.handlers.get("pane:exited")({ paneId: "web" });

  const hello = paned.actions.get("hello");
  assert.deepEqual(hello.execute({ who: "you" }), { greeting: "hello, you", ended: 1 });
  assert.deepEqual(hello.execute({}), { greeting: "hello, world", ended: 1 });
});

/** What the extension uses of paned. */
function fakePaned() {
  const actions = new Map();
  const handlers = new Map();
  return {
    actions,
    handlers,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    on: (event, handler) => handlers.set(event, handler),
    registerAction: (action) => actions.set(action.name, action),
  };
}

/** The extension; nothing if this node cannot read TypeScript. */
async function load() {
  try {
    return await import("./index.ts");
  } catch (error) {
    if (error.code !== "ERR_UNKNOWN_FILE_EXTENSION") throw error;
  }
  const typescript = await import("typescript").catch(() => undefined);
  if (typescript === undefined) return undefined;
  const { transpileModule, ModuleKind, ScriptTarget } = typescript.default;
  const source = readFileSync(new URL("index.ts", import.meta.url), "utf8");
  const options = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  const { outputText } = transpileModule(source, { compilerOptions: options });
  return import(`data:text/javascript,${encodeURIComponent(outputText)}`);
}
