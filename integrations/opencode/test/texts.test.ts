import assert from "node:assert/strict"
import { test } from "node:test"

import { META, type Pane } from "../src/api.js"
import * as texts from "../src/texts.js"

const PANE: Pane = {
  id: "pty_1",
  instance: "i",
  title: "npm run dev",
  argv: ["npm", "run", "dev"],
  cwd: "/p",
  pid: 7,
  status: "running",
  timedOut: false,
  createdAt: "2026-11-19T22:04:41.623Z",
  meta: {},
  tags: [],
  lines: 3,
  bytes: 9,
  dropped: 0,
}
const ENDED: Pane = { ...PANE, status: "exited", exitCode: 1 }
const line = (n: number, text: string) => ({ n, text })

test("a spawned terminal is described, and the model is told to wait only if it gets a notice", () => {
  const plain = texts.spawned(PANE, false)
  assert.equal(
    plain,
    "<pty_spawned>\nID: pty_1\nTitle: npm run dev\nCommand: npm run dev\nWorkdir: /p\nPID: 7\nStatus: running\nNotifyOnExit: false\nTimeoutSeconds: none\n</pty_spawned>",
  )
  assert.match(texts.spawned({ ...PANE, meta: { [META.timeout]: 5 } }, true), /TimeoutSeconds: 5\n<\/pty_spawned>\n\n<system_reminder>\n/)
})

test("lines have numbers from one on, and long ones are cut", () => {
  const answer = { lines: [line(0, "a"), line(1, "x".repeat(2001))], total: 3, dropped: 0, truncated: true }
  const text = texts.read(ENDED, answer)
  assert.match(text, /^<pty_output id="pty_1" status="exited">\n00001\| a\n00002\| x{2000}\.\.\.\n\n/)
  assert.match(text, /\(Showing lines 1-2 of 3\. Use offset=2 to read on\)\n<\/pty_output>$/)
})

test("the end, nothing yet, nothing more and lost lines are told apart", () => {
  const read = (lines: ReturnType<typeof line>[], total: number, dropped = 0) =>
    texts.read(ENDED, { lines, total, dropped, truncated: false })
  assert.match(read([line(2, "c")], 3), /\(End of output - total 3 lines\)/)
  assert.match(read([], 0), /No output yet/)
  assert.match(read([], 3), /No lines from this offset on - total 3 lines/)
  assert.match(read([line(5, "c")], 6, 5), /Lines 1 to 5 are no longer stored/)
})

test("matches say how many there are and where to go on", () => {
  const page = [line(4, "error: x")]
  assert.match(texts.matches(ENDED, 'a"b', page, 0, 3, 9, false), /pattern="a&quot;b">\n00005\| error: x\n\n\(1 of 3 matches shown\. Use offset=1/)
  assert.match(texts.matches(ENDED, "e", page, 2, 3, 9, false), /\(3 matches from 9 total lines\)/)
  assert.match(texts.matches(ENDED, "e", [], 0, 0, 9, false), /No lines match the pattern 'e'\.\nTotal lines: 9/)
  assert.match(texts.matches(ENDED, "e", page, 0, 1, 9, true), /at least 1 matches shown/)
})

test("a reader of a program that will report its end is told not to poll", () => {
  const waiting = { ...PANE, meta: { [META.notify]: true } }
  const answer = { lines: [line(0, "a")], total: 1, dropped: 0, truncated: false }
  assert.match(texts.read(waiting, answer), /<system_reminder>/)
  assert.doesNotMatch(texts.read({ ...waiting, status: "exited" }, answer), /<system_reminder>/)
})

test("a list shows how programs ended", () => {
  assert.equal(texts.list([]), "<pty_list>\nNo active PTY sessions.\n</pty_list>")
  const ended = { ...PANE, status: "killed" as const, timedOut: true, exitSignal: "SIGTERM" }
  const text = texts.list([ENDED, ended])
  assert.match(text, /\[pty_1\] npm run dev\n {2}Command: npm run dev\n {2}Status: exited \| exit: 1\n/)
  assert.match(text, /Status: killed \| timed out \| signal: SIGTERM\n/)
  assert.match(text, /Total: 2 session\(s\)\n<\/pty_list>$/)
})

test("a kill says whether the output is still there", () => {
  assert.match(texts.killed(ENDED, false, 4), /Killed: pty_1 \(session retained for log access\)\n.*\n.*\nFinal line count: 4/)
  assert.match(texts.killed(ENDED, true, 4), /Cleaned up: pty_1 \(session removed\)/)
})

test("a wait says what ended it", () => {
  const answer = { met: "exit", timedOut: false, evidence: [], tail: [], next: 0, pane: { ...ENDED, exitSignal: "SIGHUP" } }
  assert.match(texts.waited(answer, [line(8, "bye")], 9), /Exit: 1, signal: SIGHUP\nOutput Lines: 9\nTail:\n00009\| bye\n/)
  const match = { ...answer, met: "pattern", pane: PANE, evidence: [line(3, "ready")] }
  assert.match(texts.waited(match, [], 4), /Exit: still running\nOutput Lines: 4\nMatched: 00004\| ready/)
  assert.match(texts.waitTimeout(PANE, 5, []), /Waited: 5s\n/)
})
