// What the tools answer. Clients of opencode-pty know these formats, so tags, field names and line numbers are fixed.

import { META, type Line, type Pane, type Read, type Waited } from "./api.js"

const LONGEST_LINE = 2000

export function notFound(id: string): string {
  return `PTY session '${id}' not found. Use pty_list to see active sessions.`
}

/** The status in opencode-pty's words. */
export function status(pane: Pane): string {
  if (pane.killing) return "killing"
  if (pane.status === "starting") return "running"
  // How a lost program ended is not known.
  return pane.status === "lost" ? "exited" : pane.status
}

export function isLive(pane: Pane): boolean {
  return pane.status === "starting" || pane.status === "running"
}

function command(pane: Pane): string {
  return pane.argv.join(" ")
}

function timeout(pane: Pane): string | undefined {
  const seconds = pane.meta[META.timeout]
  return typeof seconds === "number" ? String(seconds) : undefined
}

export function spawned(pane: Pane, notifies: boolean): string {
  const block = [
    "<pty_spawned>",
    `ID: ${pane.id}`,
    `Title: ${pane.title}`,
    `Command: ${command(pane)}`,
    `Workdir: ${pane.cwd}`,
    `PID: ${pane.pid ?? "unknown"}`,
    `Status: ${status(pane)}`,
    `NotifyOnExit: ${notifies}`,
    `TimeoutSeconds: ${timeout(pane) ?? "none"}`,
    "</pty_spawned>",
  ].join("\n")
  if (!notifies) return block
  const reminder =
    "You will get a <pty_exited> message in this chat when the program ends. Do not poll with pty_read or sleep until then: " +
    "go on with other work, or end your turn. Read earlier only if you need output while it runs, or if the user asks."
  return `${block}\n\n<system_reminder>\n${reminder}\n</system_reminder>`
}

/** `00001| text`, with the number counted from the first line that was ever printed. */
export function numbered(line: Line): string {
  const text = line.text.length > LONGEST_LINE ? `${line.text.slice(0, LONGEST_LINE)}...` : line.text
  return `${String(line.n + 1).padStart(5, "0")}| ${text}`
}

function block(pane: Pane, pattern: string | undefined, body: string[]): string {
  const attribute = pattern === undefined ? "" : ` pattern="${pattern.replaceAll('"', "&quot;")}"`
  return [`<pty_output id="${pane.id}" status="${status(pane)}"${attribute}>`, ...body, "</pty_output>"].join("\n")
}

/** Lines from an offset on. */
export function read(pane: Pane, answer: Read): string {
  const { lines, total } = answer
  if (total === 0) return block(pane, undefined, ["(No output yet)", "Total lines: 0"]) + reminder(pane)
  const last = lines.at(-1)
  const notes: string[] = []
  const dropped = answer.dropped ?? 0
  if (dropped > 0) notes.push(`(Lines 1 to ${dropped} are no longer stored)`)
  if (last === undefined) {
    notes.push(`(No lines from this offset on - total ${total} lines)`)
    return block(pane, undefined, notes) + reminder(pane)
  }
  const next = last.n + 1
  notes.push(
    next < total
      ? `(Showing lines ${(lines[0]?.n ?? 0) + 1}-${next} of ${total}. Use offset=${next} to read on)`
      : `(End of output - total ${total} lines)`,
  )
  return block(pane, undefined, [...lines.map(numbered), "", ...notes]) + reminder(pane)
}

/** Matches from the `offset`th on. `more` says that there are matches beyond those that were looked for. */
export function matches(pane: Pane, pattern: string, page: Line[], offset: number, count: number, total: number, more: boolean): string {
  if (count === 0) {
    return block(pane, pattern, [`No lines match the pattern '${pattern}'.`, `Total lines: ${total}`]) + reminder(pane)
  }
  const all = more ? `at least ${count}` : String(count)
  const next = offset + page.length
  const summary =
    next < count || more
      ? `(${page.length} of ${all} matches shown. Use offset=${next} to see more)`
      : `(${count} match${count === 1 ? "" : "es"} from ${total} total lines)`
  return block(pane, pattern, [...page.map(numbered), "", summary]) + reminder(pane)
}

function reminder(pane: Pane): string {
  if (!isLive(pane) || pane.meta[META.notify] !== true) return ""
  const text = "It still runs, and a <pty_exited> message will tell you when it ends. Do not read it again only to see whether it has ended."
  return `\n\n<system_reminder>\n${text}\n</system_reminder>`
}

export function list(panes: Pane[]): string {
  if (panes.length === 0) return "<pty_list>\nNo active PTY sessions.\n</pty_list>"
  const sessions = panes.flatMap((pane) => {
    const parts = [status(pane)]
    if (pane.timedOut) parts.push("timed out")
    if (pane.exitCode !== undefined) parts.push(`exit: ${pane.exitCode}`)
    if (pane.exitSignal !== undefined) parts.push(`signal: ${pane.exitSignal}`)
    const seconds = timeout(pane)
    return [
      `[${pane.id}] ${pane.title}`,
      `  Command: ${command(pane)}`,
      `  Status: ${parts.join(" | ")}`,
      `  PID: ${pane.pid ?? "unknown"}${seconds === undefined ? "" : ` | Timeout: ${seconds}s`} | Lines: ${pane.lines}`,
      `  Workdir: ${pane.cwd}`,
      `  Created: ${pane.createdAt}`,
      "",
    ]
  })
  return ["<pty_list>", ...sessions, `Total: ${panes.length} session(s)`, "</pty_list>"].join("\n")
}

export function killed(pane: Pane, isRemoved: boolean, lines: number): string {
  const first = isRemoved
    ? `Cleaned up: ${pane.id} (session removed)`
    : `Killed: ${pane.id} (session retained for log access)`
  const rest = [`Title: ${pane.title}`, `Command: ${command(pane)}`, `Final line count: ${lines}`]
  return ["<pty_killed>", first, ...rest, "</pty_killed>"].join("\n")
}

export function waited(answer: Waited, tail: Line[], total: number): string {
  const { pane } = answer
  const match = answer.met === "pattern" ? answer.evidence.at(-1) : undefined
  const exit = pane.exitCode ?? (isLive(pane) ? "still running" : "unknown")
  const signal = pane.exitSignal === undefined ? "" : `, signal: ${pane.exitSignal}`
  return [
    "<pty_waited>",
    `ID: ${pane.id}`,
    `Title: ${pane.title}`,
    `Command: ${command(pane)}`,
    `Status: ${status(pane)}`,
    `Exit: ${exit}${signal}`,
    `Output Lines: ${total}`,
    ...(match === undefined ? [] : [`Matched: ${numbered(match)}`]),
    "Tail:",
    ...tail.map(numbered),
    "</pty_waited>",
  ].join("\n")
}

export function waitTimeout(pane: Pane, seconds: number, tail: Line[]): string {
  return [
    "<pty_wait_timeout>",
    `ID: ${pane.id}`,
    `Waited: ${seconds}s`,
    `Status: ${status(pane)}`,
    "Tail:",
    ...tail.map(numbered),
    "It still runs, and nothing was stopped. Wait again with a longer timeoutSeconds, read it with pty_read, or end it with pty_kill.",
    "</pty_wait_timeout>",
  ].join("\n")
}
