import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { HostProcess, refused, run, temporaryFolder } from "../../host/test/support.mjs";

const SAMPLES = join(dirname(fileURLToPath(import.meta.url)), "..");
const sample = (name) => join(SAMPLES, name);
const lines = (path) => readFileSync(path, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

test("logger writes each event as a line, and begins a new file when one is full", async (t) => {
  const host = await run(t, sample("logger"), { name: "logger", options: '{"events": "pane:*", "maxBytes": 150}' });
  assert.deepEqual(host.asked("subscribe"), [{ events: ["pane:*"] }]);
  for (const id of [1, 2, 3]) await host.handle(id, "pane:exited", { paneId: "web", exitCode: id });
  const file = join(host.dataFolder, "events.jsonl");
  assert.deepEqual(lines(`${file}.1`).map(({ id }) => id), [1, 2]);
  assert.deepEqual(lines(file), [host.event(3, "pane:exited", { paneId: "web", exitCode: 3 })]);
  assert.deepEqual(await host.run("logger:status"), { file, events: "pane:*", written: 3 });
});

/** A program that writes its arguments to a file, for `command` in options.json. */
function recorder(t) {
  const folder = temporaryFolder(t);
  const script = join(folder, "recorder.mjs");
  const file = join(folder, "notes");
  writeFileSync(script, 'import { appendFileSync } from "node:fs"; const [, , file, ...words] = process.argv;' +
    'appendFileSync(file, JSON.stringify(words) + "\\n");');
  writeFileSync(file, "");
  return { command: [process.execPath, script, file, "{title}", "{text}"], notes: () => lines(file) };
}

const agentState = (from, to, more = {}) => ({ paneId: "fix", profile: "codex", from, to, ...more });

/** An event that happened just now. */
const handleNow = (host, id, name, payload) =>
  host.call("handleEvent", { ...host.event(id, name, payload), time: new Date().toISOString() });

/** Waits until a recorder has so many notes. */
async function noted(notes, count) {
  for (const deadline = Date.now() + 60_000; notes().length < count; await setTimeout(20)) {
    assert.ok(Date.now() < deadline, `${count} notifications; so far ${JSON.stringify(notes())}`);
  }
  return notes();
}

test("notify-desktop reports questions and the ends of turns, with texts as they are", async (t) => {
  const { command, notes } = recorder(t);
  const host = await run(t, sample("notify-desktop"), { options: JSON.stringify({ command }) });
  const text = "Run\n  $(touch /tmp/x) `id` {title} $& ?";
  const dialog = { id: "1", kind: "permission", text, options: [] };
  const question = ["fix asks (permission)", "Run $(touch /tmp/x) `id` {title} $& ?"];
  await handleNow(host, 1, "agent:state", agentState("starting", "ready"));
  await handleNow(host, 2, "agent:state", agentState("ready", "busy"));
  await handleNow(host, 3, "agent:state", agentState("busy", "blocked", { kind: "permission", dialog }));
  assert.deepEqual(await noted(notes, 1), [question]);
  await handleNow(host, 4, "agent:state", agentState("blocked", "ready"));
  assert.deepEqual(await noted(notes, 2), [question, ["fix is ready", "Its turn is over."]]);
});

test("notify-desktop shows a question once, with its text, and nothing that is old or over", async (t) => {
  const { command, notes } = recorder(t);
  const host = await run(t, sample("notify-desktop"), { options: JSON.stringify({ command }) });
  const dialog = { id: "1", kind: "trust", text: "Trust it?", options: [] };
  const answered = { ...agentState("busy", "blocked", { kind: "trust", dialog }), paneId: "answered" };
  await host.handle(1, "agent:state", { ...agentState("busy", "ready"), paneId: "old" });
  await handleNow(host, 2, "agent:state", answered);
  await handleNow(host, 3, "agent:state", { ...answered, from: "blocked", to: "busy" });
  await handleNow(host, 4, "agent:state", agentState("starting", "blocked", { kind: "permission" }));
  await handleNow(host, 5, "agent:state", agentState("blocked", "blocked", { kind: "trust", dialog }));
  assert.deepEqual(await noted(notes, 1), [["fix asks (trust)", "Trust it?"]]);
});

test("notify-desktop survives a program that is missing", async (t) => {
  const host = await run(t, sample("notify-desktop"), { options: '{"command": ["/no/such/program"]}' });
  await handleNow(host, 1, "agent:state", agentState("busy", "ready"));
  await host.until(() => host.log.includes("/no/such/program failed"), "the log line");
});

/** auto-answer with one rule for a folder, and an agent in another. */
async function autoAnswer(t, rule, cwd, refusal) {
  const answer = (method, { action }) => {
    if (action === "pane:get") return { id: "fix", cwd };
    if (action === "agent:answer" && refusal) throw refusal;
    return action === "agent:answer" ? { pressed: ["1"], answered: true, agent: {} } : undefined;
  };
  const host = await run(t, sample("auto-answer"), { answer, options: JSON.stringify({ rules: [rule] }) });
  host.ask = async (id, kind, dialogId) => {
    const dialog = { id: dialogId, kind, text: "?", options: [] };
    await host.handle(id, "agent:state", agentState("busy", "blocked", { kind, dialog }));
    return host.asked("executeAction").filter(({ action }) => action === "agent:answer").map(({ params }) => params);
  };
  return host;
}

test("auto-answer answers the question of a rule once, by its id", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "below"));
  const host = await autoAnswer(t, { folders: [folder], profile: "codex" }, join(folder, "below"));
  assert.deepEqual(await host.ask(1, "permission", "d1"), [], "the kind of the rule is trust");
  assert.deepEqual(await host.ask(2, "trust", "d2"), [{ paneId: "fix", dialogId: "d2", option: "yes" }]);
  assert.deepEqual(host.asked("emit")[0].payload, { paneId: "fix", kind: "trust", option: "yes", answered: true });
});

test("auto-answer leaves questions in other folders and of other programs", async (t) => {
  const folder = temporaryFolder(t);
  const outside = temporaryFolder(t);
  symlinkSync(outside, join(folder, "link"));
  for (const [rule, cwd] of [
    [{ folders: [folder] }, outside],
    [{ folders: [folder] }, join(folder, "link")],
    [{ folders: [folder] }, `${folder}-other`],
    [{ folders: [folder], profile: "claude" }, folder],
  ]) {
    const host = await autoAnswer(t, rule, cwd);
    assert.deepEqual(await host.ask(1, "trust", "d1"), [], JSON.stringify(rule));
  }
});

test("auto-answer goes on when the question has changed", async (t) => {
  const folder = temporaryFolder(t);
  const refusal = { code: "conflict", message: "another question is on the screen" };
  const host = await autoAnswer(t, { folders: [folder], kind: "plan", answer: 2 }, folder, refusal);
  assert.deepEqual(await host.ask(1, "plan", "d1"), [{ paneId: "fix", dialogId: "d1", option: 2 }]);
  await host.until(() => host.log.includes("stays open: another question"), "the log line");
});

test("auto-answer refuses rules without folders", async (t) => {
  const host = new HostProcess(t, sample("auto-answer"), { options: '{"rules": [{"kind": "trust"}]}' });
  await refused(host.initialize(), "internal", /needs `folders`/);
});

test("guard lets programs start in its folders only", async (t) => {
  const folder = temporaryFolder(t);
  const outside = temporaryFolder(t);
  mkdirSync(join(folder, "below"));
  symlinkSync(outside, join(folder, "link"));
  const answer = (_, { params }) => params && { id: params.paneId, cwd: params.paneId === "in" ? folder : outside };
  const host = await run(t, sample("guard"), { answer, options: JSON.stringify({ folders: [folder] }) });
  const isRefused = async (action, params) =>
    (await host.call("beforeAction", { action, params, caller: { label: "owner" } })).cancel === true;
  for (const [params, expected] of [
    [{ cwd: folder }, false],
    [{ cwd: join(folder, "below") }, false],
    [{ cwd: join(folder, "link") }, true],
    [{ cwd: `${folder}-other` }, true],
    [{ cwd: join(folder, "..") }, true],
    [{ cwd: "/" }, true],
    [{}, true],
    [{ env: { HOME: folder } }, false],
    [{ paneId: "in" }, false],
    [{ paneId: "out" }, true],
  ]) {
    assert.equal(await isRefused("pane:new", params), expected, JSON.stringify(params));
    assert.equal(await isRefused("agent:create", params), expected, JSON.stringify(params));
  }
  assert.equal(await isRefused("pane:list", {}), false);
});

test("guard allows the folder of the server when there are no options", async (t) => {
  const host = await run(t, sample("guard"), { env: { PWD: "/usr" } });
  const before = (cwd) => host.call("beforeAction", { action: "pane:run", params: { cwd }, caller: { label: "owner" } });
  assert.deepEqual(await before("/usr/bin"), {});
  assert.match((await before("/etc")).reason, /^\/etc is outside of \/usr; set `cwd`$/);
});

test("clock, in Python, tells the time and remembers what ended", async (t) => {
  const host = new HostProcess(t, sample("clock"), { argv: ["python3", "main.py"] });
  await host.initialize("clock");
  const [{ name, kind }] = host.asked("registerAction");
  assert.deepEqual({ name, kind }, { name: "now", kind: "question" });
  await host.handle(1, "pane:exited", { paneId: "web" });
  const { time, ended } = await host.run("clock:now", { zone: "local" });
  assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60_000, time);
  assert.deepEqual(Object.keys(ended), ["web"]);
  await refused(host.run("clock:now", { zone: "mars" }), "invalid", /`zone` must be "utc" or "local"/);
  host.notify("shutdown");
  assert.equal(await host.exit, 0);
});

test("the page of the protocol prints clock as it is", () => {
  const page = readFileSync(join(SAMPLES, "../../docs/extensions-protocol.md"), "utf8");
  for (const file of ["main.py", "paned.toml"]) {
    assert.ok(page.includes(readFileSync(join(SAMPLES, "clock", file), "utf8")), `${file} in docs/extensions-protocol.md is stale`);
  }
});
