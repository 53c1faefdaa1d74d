// What the plugin does with events, of paned and of OpenCode.

import assert from "node:assert/strict"
import { test } from "node:test"

import { META, type Json, type Pane, type PaneEvent } from "../src/api.js"
import { PanedError } from "../src/client.js"
import { type Chat, Notices } from "../src/notices.js"
import type { Server } from "../src/server.js"
import { Sessions } from "../src/sessions.js"
import { StateSync } from "../src/state.js"

/** Waits for what no promise says, with a deadline. */
async function until(what: string, look: () => boolean): Promise<void> {
  const end = Date.now() + 20_000
  while (!look()) {
    assert.ok(Date.now() < end, `never ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

function notice(id: number, over: Record<string, Json> = {}): PaneEvent {
  const data = { paneId: "pty_1", instance: "i1", text: `<pty_exited>${id}`, recipient: { sessionId: "ses_1", agent: "build" }, ...over }
  return { id, name: "pane:notice", time: Date.now() + 1000, data }
}

/** A server with these events and panes, and a chat; what came into the chat, in order. */
function setting(events: PaneEvent[], panes: Partial<Pane>[]) {
  const chat: { key: string; text: string; quiet: boolean }[] = []
  const calls: [string, object][] = []
  const since: number[] = []
  const trouble = { stream: 0, notify: 0, mark: 0, hidden: false }
  const client = {
    action: async () => ({ lastEvent: 5 }),
    events: async function* (_: string, from: number, signal: AbortSignal) {
      since.push(from)
      for (const event of events) {
        if (event.id !== undefined && event.id <= from) continue
        if (trouble.stream > 0 && trouble.stream-- > 0) throw new PanedError("unavailable", "gone")
        yield event
      }
      await new Promise((resolve) => signal.addEventListener("abort", resolve))
    },
  }
  const server = {
    runningClient: async () => client,
    failed: () => undefined,
    action: async (name: string, params: { value?: Json }) => {
      calls.push([name, params])
      if (trouble.mark > 0 && trouble.mark-- > 0) throw new PanedError("unavailable", "gone")
      const pane = panes[0]
      if (name === "pane:set-meta" && pane?.meta) pane.meta[META.noticed] = params.value ?? null
    },
  } as unknown as Server
  const host: Chat = {
    session: async (id) => (trouble.hidden ? undefined : { id }),
    hasNotice: async (_, key) => chat.some((it) => it.key === key),
    notify: async (_id, text, key, _agent, quiet) => {
      if (trouble.notify > 0 && trouble.notify-- > 0) throw new Error("OpenCode is busy")
      chat.push({ key, text, quiet })
    },
    log: () => undefined,
  }
  const notices = new Notices(server, host, async () => panes as Pane[], async () => undefined)
  return { notices, chat, calls, since, trouble, host, server }
}

const waiting = () => ({ id: "pty_1", instance: "i1", meta: { [META.notify]: true } as Record<string, Json> })

test("a notice comes once, and the pane is marked", async () => {
  const { notices, chat, calls, since } = setting([notice(7), notice(7)], [waiting()])
  notices.start()
  await until("the mark", () => calls.length === 1)
  await notices.close()
  assert.deepEqual(chat, [{ key: "i1:7", text: "<pty_exited>7", quiet: false }])
  assert.deepEqual(calls[0], ["pane:set-meta", { paneId: "pty_1", key: META.noticed, value: 7 }])
  assert.deepEqual(since, [0])
})

test("a broken stream or a lost mark neither loses nor repeats a notice", async () => {
  const { notices, chat, calls, trouble, since } = setting([notice(7), notice(8, { paneId: "pty_2", instance: "i2" })], [
    waiting(),
    { ...waiting(), id: "pty_2", instance: "i2" },
  ])
  trouble.stream = 1
  trouble.mark = 1
  notices.start()
  await until("both marks", () => calls.length === 3)
  await notices.close()
  assert.deepEqual(chat.map((it) => it.key), ["i1:7", "i2:8"])
  assert.deepEqual(since, [0, 0, 0])
})

test("OpenCode is asked again when it does not take a notice", async () => {
  const { notices, chat, trouble } = setting([notice(7)], [waiting()])
  trouble.notify = 2
  notices.start()
  await until("the notice", () => chat.length === 1)
  await notices.close()
})

test("what ended before this run starts no turn", async () => {
  const { notices, chat } = setting([{ ...notice(7), time: Date.now() - 60_000 }], [waiting()])
  notices.start()
  await until("the notice", () => chat.length === 1)
  await notices.close()
  assert.equal(chat[0]?.quiet, true)
})

test("other projects, other tools and what is in the chat already are left alone", async () => {
  const known = { ...waiting(), meta: { [META.notify]: true, [META.noticed]: 3 } }
  const events = [notice(6, { paneId: "other", instance: "x" }), notice(7), notice(8, { recipient: null }), notice(9, { instance: "i0" })]
  const { notices, chat, since } = setting([...events, notice(10, { paneId: "pty_2", instance: "i2" })], [known, { ...waiting(), id: "pty_2", instance: "i2" }])
  notices.start()
  await until("the last", () => chat.length === 1)
  await notices.close()
  assert.equal(chat[0]?.key, "i2:10")
  assert.deepEqual(since, [0])
})

test("without anything to wait for, it begins with the last event", async () => {
  const { notices, since } = setting([], [])
  notices.start()
  await until("the stream", () => since.length === 1)
  await notices.close()
  assert.deepEqual(since, [5])
})

test("the notice of a program whose pane is gone comes if this process started it", async () => {
  const { notices, chat } = setting([notice(7)], [])
  notices.expects({ instance: "i1" } as Pane)
  await until("the notice", () => chat.length === 1)
  await notices.close()
})

test("a deleted session gets no notice", async () => {
  const { notices, trouble, chat, since } = setting([notice(7)], [waiting()])
  trouble.hidden = true
  notices.start()
  await until("the stream", () => since.length === 1)
  await notices.close()
  assert.deepEqual(chat, [])
})

/** A server that records actions, and may be down. */
function recorder(panes: string[] = []) {
  const calls: [string, Record<string, Json>][] = []
  const state = { isUp: true, busy: 0 }
  const action = async (name: string, params: Record<string, Json>) => {
    calls.push([name, params])
    if (name === "pane:list") return panes.map((id) => ({ id }))
    if (name === "pane:close" && !params["force"] && state.busy-- > 0) throw new PanedError("busy", "survivors")
    return name === "subagent:opened" ? { paneId: "p" } : {}
  }
  const server = { pane: "own", action, runningClient: async () => (state.isUp ? { action } : undefined) } as unknown as Server
  return { server, calls, state, names: () => calls.map(([name]) => name) }
}

const host = { log: () => undefined, listeningUrl: async () => "http://127.0.0.1:1" }

test("a deleted session's terminals are removed, by force if need be", async () => {
  const { server, calls, state } = recorder(["a", "b"])
  state.busy = 1
  const sessions = new Sessions(server, host, { program: "paned", subagents: false }, {})
  await sessions.event({ type: "session.deleted", properties: { info: { id: "ses_1" } } })
  assert.deepEqual(calls, [
    ["pane:list", { tag: "opencode-pty", meta: { [META.parent]: "ses_1" } }],
    ["pane:close", { paneId: "a" }],
    ["pane:close", { paneId: "a", force: true }],
    ["pane:close", { paneId: "b" }],
  ])
})

test("without a server the clean-up is done when one runs", async () => {
  const { server, names, state } = recorder(["a"])
  state.isUp = false
  const sessions = new Sessions(server, host, { program: "paned", subagents: false }, {})
  await sessions.event({ type: "session.deleted", properties: { info: { id: "ses_1" } } })
  assert.deepEqual(names(), [])
  state.isUp = true
  await sessions.retry()
  await sessions.retry()
  assert.deepEqual(names(), ["pane:list", "pane:close"])
})

test("a sub-agent's pane is opened with its address and closed when it stays idle", async () => {
  const { server, calls, names } = recorder()
  const sessions = new Sessions(server, host, { program: "paned", subagents: true }, {}, 1)
  const info = { id: "ses_2", parentID: "ses_1", title: "look", directory: "/p" }
  await sessions.event({ type: "session.created", properties: { info: { id: "ses_1" } } })
  await sessions.event({ type: "session.created", properties: { info } })
  assert.deepEqual(calls, [
    ["subagent:opened", { id: "ses_2", parentId: "ses_1", url: "http://127.0.0.1:1", title: "look", cwd: "/p" }],
  ])
  await sessions.event({ type: "session.idle", properties: { sessionID: "ses_1" } })
  await sessions.event({ type: "session.status", properties: { sessionID: "ses_2", status: { type: "idle" } } })
  await until("the end", () => names().includes("subagent:closed"))
  assert.deepEqual(calls[1], ["subagent:closed", { id: "ses_2" }])
  sessions.close()
})

test("a sub-agent that works again keeps its pane", async () => {
  const { server, names } = recorder()
  const sessions = new Sessions(server, host, { program: "paned", subagents: true }, {}, 60_000)
  const status = (type: string) => ({ type: "session.status", properties: { sessionID: "ses_2", status: { type } } })
  await sessions.event({ type: "session.created", properties: { info: { id: "ses_2", parentID: "ses_1" } } })
  await sessions.event(status("idle"))
  await sessions.event(status("busy"))
  await sessions.event({ type: "session.deleted", properties: { info: { id: "ses_2" } } })
  assert.deepEqual(names(), ["subagent:opened", "pane:list", "subagent:closed"])
  sessions.close()
})

test("sub-agents get no panes where no person sees them, or where OpenCode does not listen", async () => {
  const created = { type: "session.created", properties: { info: { id: "ses_2", parentID: "ses_1" } } }
  const hidden = recorder()
  await new Sessions(hidden.server, host, { program: "paned", subagents: "auto" }, {}).event(created)
  assert.deepEqual(hidden.names(), ["pane:get"])
  const deaf = recorder()
  const silent = { log: () => undefined, listeningUrl: async () => undefined }
  await new Sessions(deaf.server, silent, { program: "paned", subagents: true }, {}).event(created)
  assert.deepEqual(deaf.names(), [])
})

test("reports say what the whole program does, and sub-agents do not speak for it", async () => {
  const { server, calls } = recorder()
  const state = new StateSync(server, host)
  const send = async (type: string, properties: object) => {
    state.event({ type, properties })
    await state.close()
  }
  await send("session.created", { info: { id: "child", parentID: "a" } })
  await send("session.status", { sessionID: "a", status: { type: "busy" } })
  await send("session.status", { sessionID: "child", status: { type: "busy" } })
  await send("permission.asked", { id: "per_1", sessionID: "child" })
  await send("permission.replied", { requestID: "per_1", sessionID: "child" })
  await send("session.idle", { sessionID: "child" })
  await send("session.idle", { sessionID: "a" })
  await send("session.status", { sessionID: "a", status: { type: "idle" } })
  await send("session.error", { sessionID: "a", error: { name: "MessageAbortedError" } })
  await send("session.error", { sessionID: "a", error: { name: "APIError", data: { message: "no money" } } })
  assert.deepEqual(
    calls.map(([, { runtime, status, kind, sessionId, error }]) => [runtime, status, kind ?? error, sessionId]),
    [
      ["opencode", "running", undefined, "a"],
      ["opencode", "blocked", "permission", undefined],
      ["opencode", "running", undefined, undefined],
      ["opencode", "idle", undefined, "a"],
      ["opencode", "error", "no money", "a"],
    ],
  )
})

test("of reports that wait only the last is sent", async () => {
  const { server, calls } = recorder()
  const state = new StateSync(server, host)
  for (const type of ["busy", "idle", "busy"]) {
    state.event({ type: "session.status", properties: { sessionID: "a", status: { type } } })
  }
  await state.close()
  assert.deepEqual(calls.map(([, params]) => params["status"]), ["running"])
})
