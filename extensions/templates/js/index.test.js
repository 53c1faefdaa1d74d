// Run it with `node --test`. paned is not needed: the test plays its part.
import assert from "node:assert/strict";
import { test } from "node:test";

import start from "./index.js";

test("hello greets and counts the programs that ended", () => {
  const paned = fakePaned();
  start(paned);
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
