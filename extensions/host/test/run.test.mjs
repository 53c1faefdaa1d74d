import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { HostProcess, makePackage, refused, run, within } from "./support.mjs";

/** An extension called `test` with this body of its factory. */
const extension = (t, body) =>
  makePackage(
    t,
    { "index.mjs": `export const name = "test"; export default async (paned) => { ${body} };` },
    { version: "3.2.1" },
  );

/** A promise and what settles it, for the extension's side. */
const GATE = "const gate = () => { let open; const opened = new Promise((go) => (open = go)); return { opened, open }; };";

test("an action answers with what `execute` returns, and knows its caller", async (t) => {
  const body = `paned.registerAction({ name: "who", description: "Says who.", scope: "read", kind: "question",
    answer: { type: "object" }, secrets: ["a"], execute: (params, { caller }) => ({ params, caller }) });
    paned.registerAction({ name: "test:nothing", execute() {} });
    paned.registerAction({ name: "later", async execute() { return [1, null, "ä"]; } });`;
  const host = await run(t, extension(t, body));
  const spec = { name: "test:who", description: "Says who.", scope: "read", kind: "question", secrets: ["a"] };
  const parameters = { type: "object" };
  assert.deepEqual(host.asked("registerAction")[0], { ...spec, answer: { type: "object" }, parameters });
  const caller = { label: "owner", pane: "web" };
  assert.deepEqual(await host.run("test:who", { a: 1 }, caller), { params: { a: 1 }, caller });
  assert.deepEqual(await host.run("test:nothing"), {});
  assert.deepEqual(await host.run("test:later"), [1, null, "ä"]);
  await refused(host.run("test:missing"), "not_found", /no action `test:missing`/);
});

test("an error of `execute` is the answer, with its code if it is one of paned's", async (t) => {
  const body = `
    paned.registerAction({ name: "plain", execute() { throw new Error("no such file"); } });
    paned.registerAction({ name: "coded", async execute() { throw Object.assign(new Error("gone"), { code: "gone" }); } });
    paned.registerAction({ name: "system", async execute() { throw Object.assign(new Error("x"), { code: "ENOENT" }); } });
    paned.registerAction({ name: "odd", execute() { throw 7; } });
    paned.registerAction({ name: "circle", execute() { const a = {}; a.a = a; return a; } });
    paned.registerAction({ name: "large", execute: () => "x".repeat(9 << 20) });`;
  const host = await run(t, extension(t, body));
  await refused(host.run("test:plain"), "internal", /^no such file$/);
  await refused(host.run("test:coded"), "gone", /^gone$/);
  await refused(host.run("test:system"), "internal", /^x$/);
  await refused(host.run("test:odd"), "internal", /a value was thrown that is not an error: 7/);
  await refused(host.run("test:circle"), "internal", /cannot be written as JSON/);
  await refused(host.run("test:large"), "limit", /more than 8 MiB/);
  assert.equal(await host.run("test:plain").catch(() => "still there"), "still there");
});

test("actions run side by side, and one that is cancelled is not answered", async (t) => {
  const body = `${GATE} const first = gate();
    paned.registerAction({ name: "wait", async execute() { await first.opened; return "waited"; } });
    paned.registerAction({ name: "open", execute() { first.open(); return "opened"; } });
    paned.registerAction({ name: "hang", execute: (_, { signal }) => new Promise((_, reject) =>
      signal.addEventListener("abort", () => { console.log("aborted"); reject(signal.reason); })) });`;
  const host = await run(t, extension(t, body));
  const waiting = host.run("test:wait");
  const hanging = host.start("runAction", { action: "test:hang", params: {}, caller: { label: "owner" } });
  assert.equal(await host.run("test:open"), "opened");
  assert.equal(await waiting, "waited");
  host.notify("cancel", { id: hanging.id });
  await host.until(() => host.log.includes("aborted"), "the signal");
  assert.equal(await host.run("test:open"), "opened");
  assert.equal(hanging.answer, undefined);
});

test("events are handled one after the other, by each handler in order", async (t) => {
  const body = `${GATE} const first = gate(); const seen = [];
    paned.on("pane:*", async ({ paneId }, event) => {
      seen.push("a" + event.id); if (event.id === 1) await first.opened; seen.push("b" + event.id + paneId); });
    paned.on("pane:exited", (_, event) => { seen.push("c" + event.id); });
    paned.on("server:started, pane:created", (_, event) => { seen.push("d" + event.name); });
    paned.registerAction({ name: "seen", execute: () => seen });
    paned.registerAction({ name: "open", execute: () => first.open() });`;
  const host = await run(t, extension(t, body));
  const patterns = host.asked("subscribe").flatMap(({ events }) => events);
  assert.deepEqual(patterns, ["pane:*", "pane:exited", "server:started", "pane:created"]);
  const events = [host.handle(1, "pane:exited", { paneId: "x" }), host.handle(2, "pane:exited", { paneId: "y" })];
  assert.deepEqual(await host.run("test:seen"), ["a1"], "actions do not wait for events");
  await host.run("test:open");
  await Promise.all(events);
  await host.handle(3, "server:started");
  await host.handle(4, "other:event");
  assert.deepEqual(await host.run("test:seen"), ["a1", "b1x", "c1", "a2", "b2y", "c2", "dserver:started"]);
});

test("a handler that throws is reported, and the others still run", async (t) => {
  const body = `const seen = [];
    paned.on("a:b", () => { throw new Error("first"); });
    paned.on("a:b", async () => { throw new Error("second"); });
    paned.on("a:b", () => seen.push("third"));
    paned.registerAction({ name: "seen", execute: () => seen });`;
  const host = await run(t, extension(t, body));
  await refused(host.handle(1, "a:b"), "internal", /^first; second$/);
  assert.deepEqual(await host.run("test:seen"), ["third"]);
  assert.match(host.log, /a handler of `a:b` failed: Error: first\n\s+at /);
});

test("a handler that hangs does not stop the next event once paned gives it up", async (t) => {
  const body = `const seen = [];
    paned.on("a:b", (_, event) => { seen.push(event.id); return event.id === 1 ? new Promise(() => {}) : undefined; });
    paned.on("a:b", (_, event) => { seen.push("late" + event.id); });
    paned.registerAction({ name: "seen", execute: () => seen });`;
  const host = await run(t, extension(t, body));
  const first = host.start("handleEvent", host.event(1, "a:b"));
  const second = host.handle(2, "a:b");
  assert.deepEqual(await host.run("test:seen"), [1]);
  host.notify("cancel", { id: first.id });
  await second;
  assert.deepEqual(await host.run("test:seen"), [1, "late1", 2, "late2"]);
  assert.equal(first.answer, undefined);
  assert.match(host.log, /event 1 was not handled in time/);
});

test("a subscription ends when its function is called", async (t) => {
  const body = `const seen = []; const off = paned.on("a:b", () => seen.push("event"));
    const allow = paned.beforeAction("pane:new", () => ({ cancel: true }));
    paned.registerAction({ name: "off", execute: () => { off(); allow(); } });
    paned.registerAction({ name: "seen", execute: () => seen });`;
  const host = await run(t, extension(t, body));
  await host.run("test:off");
  await host.handle(1, "a:b");
  assert.deepEqual(await host.run("test:seen"), []);
  assert.deepEqual(await host.call("beforeAction", { action: "pane:new", params: {}, caller: {} }), {});
});

test("`action:start` is a veto of all actions with Poly's payload, and is not delivered as an event, too", async (t) => {
  const body = `const seen = [];
    paned.on("action:start", ({ actionName, params }) => {
      seen.push(actionName); if (params.cwd === "/") return { cancel: true, reason: "not there" }; });
    paned.registerAction({ name: "seen", execute: () => seen });`;
  const host = await run(t, extension(t, body));
  assert.deepEqual(host.asked("subscribe"), [{ veto: ["*"] }]);
  const before = (params) => host.call("beforeAction", { action: "pane:new", params, caller: { label: "owner" } });
  assert.deepEqual(await before({}), {});
  assert.deepEqual(await before({ cwd: "/" }), { cancel: true, reason: "not there" });
  await host.handle(1, "action:start", { actionName: "pane:new", params: {} });
  assert.deepEqual(await host.run("test:seen"), ["pane:new", "pane:new"]);
});

test("vetoes ask the handlers whose pattern matches, until one cancels", async (t) => {
  const body = `const seen = [];
    paned.beforeAction("pane:new,pane:run", ({ actionName, caller }) => { seen.push("a" + caller.label); });
    paned.beforeAction("pane:*", async ({ actionName }) => { seen.push("b"); return { cancel: actionName === "pane:run" }; });
    paned.beforeAction("pane:run", () => { seen.push("c"); });
    paned.beforeAction("agent:*", () => { throw new Error("broken"); });
    paned.registerAction({ name: "seen", execute: () => seen });`;
  const host = await run(t, extension(t, body));
  assert.deepEqual(host.asked("subscribe").flatMap(({ veto }) => veto), ["pane:new", "pane:run", "pane:*", "agent:*"]);
  const before = (action) => host.call("beforeAction", { action, params: {}, caller: { label: "owner" } });
  assert.deepEqual(await before("pane:new"), {});
  assert.deepEqual(await before("pane:run"), { cancel: true, reason: "" });
  assert.deepEqual(await host.run("test:seen"), ["aowner", "b", "aowner", "b"]);
  await refused(before("agent:create"), "internal", /^broken$/);
});

test("`emit` and `executeAction` ask paned, and a refusal is an error with its code", async (t) => {
  const body = `paned.registerAction({ name: "go", async execute() {
      const { id } = await paned.emit("done", { a: 1 });
      await paned.emit("empty");
      const panes = await paned.executeAction("pane:list");
      const error = await paned.executeAction("pane:get", { paneId: "web" }).catch((error) => error);
      return { id, panes, error: [error instanceof Error, error.code, error.message, error.details] }; } });
    paned.registerAction({ name: "pass", execute: () => paned.executeAction("pane:get", { paneId: "web" }) });`;
  const answer = (method, { action }) => {
    if (action === "pane:get") throw { code: "not_found", message: "no pane `web`", details: { names: [] } };
    return action === "pane:list" ? [] : undefined;
  };
  const host = await run(t, extension(t, body), { answer });
  const { id, panes, error } = await host.run("test:go");
  assert.equal(typeof id, "number");
  assert.deepEqual({ panes, error }, { panes: [], error: [true, "not_found", "no pane `web`", { names: [] }] });
  assert.deepEqual(host.asked("emit"), [{ name: "test:done", payload: { a: 1 } }, { name: "test:empty", payload: {} }]);
  assert.deepEqual(host.asked("executeAction")[0], { action: "pane:list", params: {} });
  const passed = await refused(host.run("test:pass"), "not_found", /no pane `web`/);
  assert.deepEqual(passed.data.details, { names: [] });
});

test("a refusal that no code waits for is logged, and the extension keeps running", async (t) => {
  const body = `paned.registerAction({ name: "go", execute() { paned.emit("x"); } });`;
  const answer = (method) => {
    if (method === "emit") throw { code: "limit", message: "too many events" };
  };
  const host = await run(t, extension(t, body), { answer });
  await host.run("test:go");
  await host.until(() => host.log.includes("paned: refused: too many events"), "the log line");
  assert.deepEqual(await host.run("test:go"), {});
});

test("what an extension prints goes to the log, whatever it prints with", async (t) => {
  const body = `const { stdout } = await import("node:process");
    console.log("one"); console.error("two"); console.table([[3]]); process.stdout.write("four\\n"); stdout.write("five\\n");
    paned.log.info("six", { a: 1 }); paned.log.warn("seven"); paned.log.error(new Error("eight")); paned.log.debug("nine");`;
  const host = await run(t, extension(t, body));
  for (const line of ["one", "two", "four", "five", "info: six { a: 1 }", "warn: seven", "error: Error: eight", "debug: nine"]) {
    await host.until(() => `\n${host.log}`.includes(`\n${line}`), line);
  }
  assert.deepEqual(host.noise, []);
});

test("the API has the folders, the user's options and what paned says of the extension", async (t) => {
  const body = `const { registerAction, on, beforeAction, emit, executeAction, onDispose, log, ...rest } = paned;
    registerAction({ name: "rest", execute: () => ({ ...rest, folderNow: process.cwd() }) });`;
  const folder = extension(t, body);
  const host = await run(t, folder, { options: '{"level": 3}', env: { PWD: "/usr" }, name: "other-name" });
  assert.deepEqual(await host.run("test:rest"), {
    ...{ name: "test", version: "3.2.1", folder, dataFolder: host.dataFolder, scopes: ["read"], timeoutMs: 5000 },
    ...{ cwd: "/usr", options: { level: 3 }, folderNow: folder },
  });
});

test("options that are not a JSON object are refused with the path of the file", async (t) => {
  for (const [options, sentence] of [["[1]", /options\.json must hold a JSON object/], ["{", /cannot read .*options\.json/]]) {
    await refused(new HostProcess(t, extension(t, ""), { options }).initialize(), "internal", sentence);
  }
});

const MISTAKES = {
  'paned.registerAction({ name: "x" })': /action `test:x` has no `execute`/,
  "paned.registerAction({ execute() {} })": /an action needs a `name`/,
  'paned.registerAction({ name: "pane:new", execute() {} })': /`pane:new` has another noun than this extension; name it `new`/,
  'paned.registerAction({ name: "x", execute() {} }); await paned.registerAction({ name: "test:x", execute() {} })': /registered twice/,
  'paned.on("pane:exited")': /the handler of `on\("pane:exited", handler\)` is not a function/,
  'paned.on("pa*ne", () => {})': /invalid pattern "pa\*ne"/,
  'paned.on("", () => {})': /the pattern is empty/,
  "paned.onDispose(7)": /is not a function/,
};
for (const [code, sentence] of Object.entries(MISTAKES)) {
  test(`${code} is refused`, async (t) => {
    await refused(new HostProcess(t, extension(t, code)).initialize(), undefined, sentence);
  });
}

const ENDS = {
  "shutdown": (host) => host.notify("shutdown"),
  "the end of standard input": (host) => host.child.stdin.end(),
};
for (const [what, end] of Object.entries(ENDS)) {
  test(`${what} runs the clean-up, the last first, and ends the host`, async (t) => {
    const body = `const { appendFileSync } = await import("node:fs"); const { join } = await import("node:path");
      const note = (word) => appendFileSync(join(paned.dataFolder, "notes"), word);
      paned.onDispose(async () => { await undefined; note("first."); });
      paned.onDispose(() => { throw new Error("broken"); });
      paned.onDispose(() => note("last;"));
      setInterval(() => {}, 1000);`;
    const host = await run(t, extension(t, body));
    end(host);
    assert.equal(await within(host.exit, "the exit"), 0);
    assert.equal(readFileSync(join(host.dataFolder, "notes"), "utf8"), "last;first.");
    assert.match(host.log, /clean-up failed: Error: broken/);
  });
}

const CRASHES = {
  "a rejection": ['Promise.reject(new Error("lost"))', /a promise was rejected, and no code handles it: Error: lost/],
  "an exception in a timer": ['setTimeout(() => { throw new Error("lost"); })', /an exception was not caught: Error: lost/],
};
for (const [what, [code, sentence]] of Object.entries(CRASHES)) {
  test(`${what} that no code handles is logged and ends the host with code 1`, async (t) => {
    const host = await run(t, extension(t, `paned.registerAction({ name: "go", execute() { ${code}; } });`));
    host.start("runAction", { action: "test:go", params: {}, caller: { label: "owner" } });
    assert.equal(await within(host.exit, "the exit"), 1);
    assert.match(host.log, sentence);
  });
}

test("lines that are not messages and methods that do not exist do no harm", async (t) => {
  const host = await run(t, extension(t, 'paned.registerAction({ name: "ok", execute: () => 1 });'));
  for (const line of ["", "{", "7", "null", "[]", '{"id":99,"result":1}', '{"id":null,"error":{"code":-32700,"message":"x"}}']) {
    host.send(line);
  }
  host.notify("unheard-of");
  const error = await refused(host.call("constructor", {}), undefined, /no method `constructor`/);
  assert.equal(error.code, -32601);
  assert.equal(await host.run("test:ok"), 1);
  assert.match(host.log, /the server sent a line that is not a message: \{/);
});

test("a message of 7 MiB arrives in both directions", async (t) => {
  const host = await run(t, extension(t, 'paned.registerAction({ name: "echo", execute: ({ text }) => text });'));
  const text = "ä".repeat((7 << 20) / 2);
  assert.equal(await host.run("test:echo", { text }), text);
  assert.ok(existsSync(host.dataFolder));
});

test("a thousand calls at once are all answered", async (t) => {
  const host = await run(t, extension(t, 'paned.registerAction({ name: "echo", execute: async ({ n }) => n });'));
  const answers = Array.from({ length: 1000 }, (_, n) => host.run("test:echo", { n }));
  assert.deepEqual(await Promise.all(answers), Array.from({ length: 1000 }, (_, n) => n));
});
