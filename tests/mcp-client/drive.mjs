// Drives every tool of paned's MCP server with the official SDK, over one of its transports:
//
//   node drive.mjs stdio PANED STATE_DIR     node drive.mjs http URL TOKEN
//
// Prints `ok` at the end; anything unexpected is an exception.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

const [mode, where, secret] = process.argv.slice(2);
const TIMEOUT = { timeout: 120_000 };

function transport() {
  if (mode === "stdio") {
    const env = { ...process.env, PANED_STATE_DIR: secret, PANED_NO_AUTOSTART: "1" };
    return new StdioClientTransport({ command: where, args: ["mcp"], env, cwd: "/" });
  }
  const headers = { authorization: `Bearer ${secret}` };
  return new StreamableHTTPClientTransport(new URL(`${where}/mcp?cwd=/`), { requestInit: { headers } });
}

const client = new Client({ name: "paned-test", version: "1" });
await client.connect(transport());
assert.equal(client.getServerVersion().name, "paned");
assert.match(client.getInstructions(), /pty_wait/);

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
assert.deepEqual(names, [
  "pty_spawn", "pty_wait", "pty_read", "pty_write", "pty_screen", "pty_search", "pty_list", "pty_kill",
  "agent_spawn", "agent_message", "agent_state", "action_list", "action_call",
]);
const byName = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
assert.equal(byName.pty_read.annotations.readOnlyHint, true);
assert.equal(byName.pty_kill.annotations.destructiveHint, true);
assert.equal(byName.pty_spawn.annotations.destructiveHint, false);
const called = new Set();

async function call(name, args = {}, options = TIMEOUT) {
  called.add(name);
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  return { text: result.content[0].text, facts: result.structuredContent, result };
}
async function ok(name, args, options) {
  const answer = await call(name, args, options);
  assert.ok(!answer.result.isError, `${name}: ${answer.text}`);
  return answer;
}
async function refused(name, args, sentence) {
  const answer = await call(name, args);
  assert.ok(answer.result.isError, `${name}: ${answer.text}`);
  assert.match(answer.text, sentence);
}

// A server process: its port line, its input, its output.
const script = 'echo starting; sleep 0.2; echo "listening on port 4321"; while read line; do echo "got <$line>"; done';
const spawned = await ok("pty_spawn", {
  command: "sh", args: ["-c", script], description: "a server", timeoutSeconds: 300,
});
assert.match(spawned.text, /^<pty_spawned>\nID: \S+\nTitle: a server\nCommand: sh -c .*\nWorkdir: \/\nPID: \d+\nStatus: running\nNotifyOnExit: false\nTimeoutSeconds: 300\n<\/pty_spawned>$/);
const id = spawned.facts.id;
const notes = [];
const port = await ok("pty_wait", { id, pattern: "listening on port (\\d+)", stop: ["error"] }, {
  ...TIMEOUT, onprogress: (note) => notes.push(note),
});
assert.match(port.text, /^<pty_waited>\nID: /);
assert.match(port.text, /\nMet: pattern\nMatch: 00002\| listening on port 4321\n/);
assert.equal(port.facts.met, "pattern");
assert.equal(port.facts.match, "00002| listening on port 4321");

const read = await ok("pty_read", { id });
assert.match(read.text, new RegExp(`^<pty_output id="${id}" status="running">\n00001\\| starting\n00002\\| listening on port 4321\n\n\\(End of buffer - total 2 lines\\. cursor=\\d+\\)\n</pty_output>$`));
const written = await ok("pty_write", { id, data: "h\\x65llo\\n" });
assert.equal(written.text, `Sent 10 bytes to ${id}: "hello\\n"`);
const reply = await ok("pty_wait", { id, pattern: "got <hello>" });
assert.equal(reply.facts.met, "pattern");
const fresh = await ok("pty_read", { id, since: read.facts.cursor });
assert.deepEqual(fresh.facts.lines, ["00003| hello", "00004| got <hello>"]);
const tail = await ok("pty_read", { id, offset: -1 });
assert.deepEqual(tail.facts.lines, ["00004| got <hello>"]);
const page = await ok("pty_read", { id, limit: 1, offset: 1 });
assert.match(page.text, /00002\| listening on port 4321\n\n\(More lines follow, 4 in total\. Use offset=2 to read beyond line 2\.\)/);
const matching = await ok("pty_read", { id, pattern: "(?i)HELLO", limit: 1 });
assert.match(matching.text, /\(1 of 2 matches shown\. Use offset=3 to see more\.\)/);
const none = await ok("pty_read", { id, pattern: "nothing like it" });
assert.match(none.text, /No lines matched the pattern 'nothing like it'\.\nTotal lines: 4/);
const found = await ok("pty_search", { pattern: "port \\d+", ids: [id] });
assert.match(found.text, new RegExp(`\\[${id}\\] 00002\\| listening on port 4321\n\\(1 match in 1 session\\)`));
const screen = await ok("pty_screen", { id });
assert.match(screen.text, /^<pty_screen id="\S+" size="120x40" cursor="5:1"/);
assert.deepEqual(screen.facts.rows.slice(0, 2), ["starting", "listening on port 4321"]);
const picture = await ok("pty_screen", { id, format: "png" });
assert.equal(picture.result.content[1].type, "image");
assert.equal(picture.result.content[1].mimeType, "image/png");
assert.equal(Buffer.from(picture.result.content[1].data, "base64").subarray(1, 4).toString(), "PNG");
const listed = await ok("pty_list");
assert.match(listed.text, new RegExp(`^<pty_list>[^]*\\[${id}\\] a server\n`));
assert.match(listed.text, /\nTotal: \d+ session\(s\)\n<\/pty_list>$/);

// A wait that is not met, with progress; and one that the client cancels.
const missed = await ok("pty_wait", { id, pattern: "never", timeoutSeconds: 2 }, {
  ...TIMEOUT, onprogress: (note) => notes.push(note),
});
assert.match(missed.text, /^<pty_wait_timeout>\n/);
assert.match(missed.text, /Not met within 2 s; the program still runs\. Call pty_wait again/);
assert.equal(missed.facts.timedOut, true);
assert.ok(notes.length > 0, "no notice of progress");
assert.match(notes.at(-1).message, /still waiting after \d+ s/);
const cancel = new AbortController();
const waiting = call("pty_wait", { id, pattern: "never", timeoutSeconds: 600 }, { ...TIMEOUT, signal: cancel.signal });
setTimeout(() => cancel.abort(), 300);
await assert.rejects(waiting);

// Screens as resources.
const uri = `paned://pane/${id}/screen`;
const { resources } = await client.listResources();
assert.ok(resources.some((resource) => resource.uri === uri));
assert.equal((await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, "paned://pane/{id}/screen");
const { contents } = await client.readResource({ uri });
assert.match(contents[0].text, /listening on port 4321/);
const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (notice) => resolve(notice.params.uri));
});
await client.subscribeResource({ uri });
await ok("pty_write", { id, data: "changed\\n" });
assert.equal(await updated, uri);
await client.unsubscribeResource({ uri });
await assert.rejects(client.readResource({ uri: "paned://pane/none/screen" }));

// Everything else.
const actions = await ok("action_list", { filter: "resize" });
assert.match(actions.text, /pane:resize: /);
const schema = await ok("action_list", { name: "pane:resize" });
assert.ok(schema.facts.params.properties.paneId);
const resized = await ok("action_call", { name: "pane:resize", params: { paneId: id, size: { cols: 100, rows: 30 } } });
assert.ok(resized.facts);
await refused("action_call", { name: "grant:list" }, /needs the scope `admin`, which the tier standard does not have/);
await refused("action_call", { name: "pane:resise" }, /no action `pane:resise`/);

// Mistakes get sentences that help.
await refused("pty_read", { id: "none" }, /^PTY session 'none' not found\. Use pty_list to see active sessions\.$/);
await refused("pty_read", { id: "" }, /^PTY session '' not found\./);
await refused("pty_read", { id, pattern: "(" }, /pattern/);
await refused("pty_read", {}, /^pty_read: missing parameter `id`\. It takes id, offset\?, limit\?/);
await refused("pty_read", { id, lines: 3 }, /unknown parameter `lines`/);
await refused("pty_spawn", { command: "npm run dev" }, /"command": "npm", "args": \["run","dev"\]/);
await refused("pty_spawn", { command: "no-such-program-anywhere" }, /no-such-program-anywhere/);
await refused("pty_wait", { id, timeoutSeconds: 0 }, /`timeoutSeconds` must be more than 0/);
await assert.rejects(client.callTool({ name: "pty_spwan" }, undefined, TIMEOUT), /`pty_spwan` is unknown; the tools are pty_spawn/);

// Agents: one is started, takes a task and answers.
const agent = await ok("agent_spawn", { agent: "fake-agent", prompt: "first task", workdir: "/tmp" });
assert.match(agent.text, /^<agent_spawned>\nID: /);
const agentId = agent.facts.id;
const ready = await ok("agent_state", { id: agentId, until: "ready", timeoutSeconds: 60 });
assert.equal(ready.facts.agent.state, "ready");
const sent = await ok("agent_message", { id: agentId, text: "second task", wait: "done", timeoutSeconds: 60 });
assert.equal(sent.facts.outcome, "submitted");
assert.match(sent.text, /Outcome: submitted/);
const agents = await ok("agent_state");
assert.match(agents.text, new RegExp(`\\[${agentId}\\] fake-agent: `));
await refused("agent_message", { id: agentId, text: "x", notify: true }, /does not come from a pane/);
await ok("pty_kill", { id: agentId, cleanup: true });

const killed = await ok("pty_kill", { id });
assert.match(killed.text, new RegExp(`^<pty_killed>\nKilled: ${id} \\(session retained for log access\\)\nTitle: a server\n`));
await refused("pty_write", { id, data: "x" }, /^Cannot write to PTY '\S+' - session status is 'killed'\.$/);
const cleaned = await ok("pty_kill", { id, cleanup: true });
assert.match(cleaned.text, new RegExp(`Cleaned up: ${id} \\(session removed\\)`));
await refused("pty_kill", { id }, /not found\. Use pty_list/);

assert.deepEqual([...called].sort(), [...names].sort(), "not every tool was called");
await client.close();
console.log("ok");
process.exit(0);
