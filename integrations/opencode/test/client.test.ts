import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import http from "node:http"
import { tmpdir } from "node:os"
import path from "node:path"
import { test, type TestContext } from "node:test"

import { Client, EventParser, PanedError, Unreachable } from "../src/client.js"

const STREAM = ': paned\n\nid: 7\nevent: pane:notice\ntime: 2026-11-19T22:04:42.663Z\ndata: {"text":"ä"}\n\nevent: gap\ndata: {"first":1,"last":4}\n\n'

test("events are the same wherever the stream is cut", () => {
  const whole = [...new EventParser().push(STREAM)]
  assert.deepEqual(
    whole.map(({ id, name, data }) => [id, name, data]),
    [
      [7, "pane:notice", { text: "ä" }],
      [undefined, "gap", { first: 1, last: 4 }],
    ],
  )
  for (let cut = 0; cut <= STREAM.length; cut += 1) {
    const parser = new EventParser()
    const parts = [...parser.push(STREAM.slice(0, cut)), ...parser.push(STREAM.slice(cut))]
    assert.deepEqual(parts, whole, `cut at ${cut}`)
  }
})

/** A server on a unix socket, and a client of it. */
async function serve(t: TestContext, handle: http.RequestListener): Promise<{ client: Client; server: http.Server; socket: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), "paned-client-"))
  const socket = path.join(folder, "s")
  const server = http.createServer(handle)
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return { client: new Client({ socket }, "secret"), server, socket }
}

test("an action is a POST of JSON with the token", async (t) => {
  const { client } = await serve(t, (request, response) => {
    assert.equal(request.headers.authorization, "Bearer secret")
    assert.equal(request.headers["content-type"], "application/json")
    let body = ""
    request.on("data", (chunk) => (body += chunk))
    request.on("end", () => response.end(JSON.stringify({ path: request.url, body: JSON.parse(body) })))
  })
  assert.deepEqual(await client.action("pane:get", { paneId: "ä" }), { path: "/action/pane:get", body: { paneId: "ä" } })
})

test("a refusal keeps its code and sentence", async (t) => {
  const { client } = await serve(t, (_, response) => {
    response.statusCode = 404
    response.end('{"error":"no pane `x`","code":"not_found"}')
  })
  await assert.rejects(client.action("pane:get", {}), (error: PanedError) => {
    assert.deepEqual([error.code, error.message], ["not_found", "no pane `x`"])
    return true
  })
})

test("a server that does not answer is given up", async (t) => {
  const { client } = await serve(t, () => undefined)
  await assert.rejects(client.action("pane:get", {}, { timeoutMs: 50 }), { code: "timeout" })
  const stop = AbortSignal.abort()
  await assert.rejects(client.action("pane:get", {}, { signal: stop }), { code: "cancelled" })
})

test("only a request without any connection counts as unsent", async (t) => {
  const { client, server } = await serve(t, (request) => request.socket.destroy())
  await assert.rejects(client.action("pane:new", {}), (error: Unreachable) => error.isUnsent === false)
  server.close()
  const absent = new Client({ socket: "/nonexistent/paned.sock" })
  await assert.rejects(absent.action("pane:new", {}), (error: Unreachable) => error.isUnsent === true)
})

test("events begin after the id that is asked for, and end with the stream", async (t) => {
  const { client } = await serve(t, (request, response) => {
    assert.equal(request.headers["last-event-id"], "6")
    assert.equal(request.url, "/events?include=pane%3Anotice")
    response.end(STREAM)
  })
  const names: string[] = []
  for await (const event of client.events("pane:notice", 6, new AbortController().signal)) names.push(event.name)
  assert.deepEqual(names, ["pane:notice", "gap"])
})
