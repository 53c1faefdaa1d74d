import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import http from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { test, type TestContext } from "node:test"

import { PanedError } from "../src/client.js"
import { Server } from "../src/server.js"
import { readSettings } from "../src/settings.js"
import { programEnvironment } from "../src/terminals.js"

const SETTINGS = { program: "paned", subagents: "auto" as const }

/** A paned server on a unix socket that knows some tokens, and a `paned` program that talks of it. */
async function world(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), "paned-server-"))
  const socket = path.join(folder, "s")
  const valid = new Set<string>()
  const runs: string[] = []
  const state = { isUp: false, tokens: 0 }
  const server = http.createServer((request, response) => {
    const token = request.headers.authorization?.replace("Bearer ", "") ?? ""
    response.statusCode = valid.has(token) ? 200 : 401
    response.end(valid.has(token) ? JSON.stringify({ token, lastEvent: 1 }) : '{"error":"wrong token","code":"unauthorized"}')
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  const run = async (program: string, args: string[]) => {
    runs.push([program, ...args].join(" "))
    if (args[0] === "server" && args[1] === "start") state.isUp = true
    else if (args[0] === "server") {
      if (!state.isUp) throw new PanedError("unavailable", "no server")
      return JSON.stringify({ socket })
    } else if (args[1] === "create") {
      state.tokens += 1
      valid.add(`t${state.tokens}`)
      return JSON.stringify({ grant: { id: `g${state.tokens}` }, token: `t${state.tokens}` })
    }
    return ""
  }
  return { run, runs, state, valid, socket }
}

test("it starts a server and asks for four scopes that expire", async (t) => {
  const { run, runs } = await world(t)
  const server = new Server(SETTINGS, {}, run)
  assert.deepEqual(await server.action("x", {}), { token: "t1", lastEvent: 1 })
  assert.deepEqual(runs, [
    "paned server status --json",
    "paned server start",
    "paned server status --json",
    "paned token create --scope read --scope input --scope spawn --scope kill --label opencode --expires 24h --json",
  ])
  await server.close()
  assert.equal(runs.at(-1), "paned token revoke g1")
})

test("looking for a running server starts none", async (t) => {
  const { run, runs } = await world(t)
  assert.equal(await new Server(SETTINGS, {}, run).runningClient(), undefined)
  assert.deepEqual(runs, ["paned server status --json"])
})

test("many calls at once make one token", async (t) => {
  const { run, state } = await world(t)
  const server = new Server(SETTINGS, {}, run)
  await Promise.all([1, 2, 3].map(() => server.action("x", {})))
  assert.equal(state.tokens, 1)
})

test("a token that is refused is replaced, and the action runs once more", async (t) => {
  const { run, valid, state } = await world(t)
  const server = new Server(SETTINGS, {}, run)
  await server.action("x", {})
  valid.clear()
  assert.deepEqual(await server.action("x", {}), { token: "t2", lastEvent: 1 })
  assert.equal(state.tokens, 2)
})

test("inside a pane it uses that pane's token and runs no program", async (t) => {
  const { run, runs, valid, socket } = await world(t)
  valid.add("own")
  const env = { PANED_TOKEN: "own", PANED_SOCKET: socket, PANED_PANE: "p" }
  const server = new Server(SETTINGS, env, run)
  assert.equal(server.pane, "p")
  assert.deepEqual(await server.action("x", {}), { token: "own", lastEvent: 1 })
  assert.equal(await server.ownerClient(), undefined)
  await server.close()
  assert.deepEqual(runs, [])
})

test("a missing program is named, with what to do", async () => {
  const server = new Server({ ...SETTINGS, program: "paned-that-is-not-there" }, {})
  await assert.rejects(server.client(), /`paned-that-is-not-there` is not on OpenCode's PATH; install paned/)
})

test("wrong options are refused by name", () => {
  assert.deepEqual(readSettings(), SETTINGS)
  assert.throws(() => readSettings({ port: 1 }), /unknown option `port`/)
  assert.throws(() => readSettings({ subagents: "yes" }), /`subagents` is/)
  assert.throws(() => readSettings({ program: 3 }), /`program` is/)
})

test("a program gets OpenCode's environment without OpenCode's own secrets and terminal", () => {
  const env = { PATH: "/bin", HOME: "/h", MY_KEY: "x", PANED_TOKEN: "t", OPENCODE_SERVER_PASSWORD: "p", TMUX: "s", TERM: "dumb", COLUMNS: "9" }
  assert.deepEqual(programEnvironment(env), { PATH: "/bin", HOME: "/h", MY_KEY: "x" })
})
