// Reports what OpenCode is doing to the pane that it runs in, by `agent:set-state` with that pane's own token.

import { words } from "./client.js"
import type { OpenCode, OpenCodeEvent } from "./opencode.js"
import type { Server } from "./server.js"

interface Report {
  runtime: "opencode"
  event: string
  status: "running" | "idle" | "error" | "blocked"
  sessionId?: string
  kind?: string
  error?: string
}

export class StateSync {
  readonly #server: Server
  readonly #host: Pick<OpenCode, "log">
  /** Sub-agents do not speak for the pane. */
  readonly #children = new Set<string>()
  readonly #busy = new Set<string>()
  /** Sessions with an open question, and how many. */
  readonly #asking = new Map<string, string>()
  #next: Report | undefined
  #sent = ""
  #sending: Promise<void> | undefined

  constructor(server: Server, host: Pick<OpenCode, "log">) {
    this.#server = server
    this.#host = host
  }

  event({ type, properties }: OpenCodeEvent): void {
    if (this.#server.pane === undefined) return
    const { info, sessionID, status, error, id, requestID, permissionID } = (properties ?? {}) as {
      info?: { id: string; parentID?: string }
      sessionID?: string
      status?: { type?: string }
      error?: { name?: string; data?: { message?: string } }
      id?: string
      requestID?: string
      permissionID?: string
    }
    switch (type) {
      case "session.created":
        if (info?.parentID !== undefined) this.#children.add(info.id)
        break
      case "session.deleted":
        if (info === undefined) break
        this.#children.delete(info.id)
        this.#busy.delete(info.id)
        break
      case "session.status":
        if (sessionID === undefined || this.#children.has(sessionID)) break
        if (status?.type === "idle") this.#busy.delete(sessionID)
        else this.#busy.add(sessionID)
        this.#report(type, sessionID)
        break
      case "session.idle":
        if (sessionID === undefined || this.#children.has(sessionID)) break
        this.#busy.delete(sessionID)
        this.#report(type, sessionID)
        break
      case "permission.asked":
      case "permission.updated":
        // A sub-agent's question blocks the whole program just as well.
        if (sessionID === undefined || id === undefined) break
        this.#asking.set(id, sessionID)
        this.#report(type, sessionID)
        break
      case "permission.replied":
        if (sessionID === undefined) break
        this.#asking.delete(requestID ?? permissionID ?? "")
        this.#report(type, sessionID)
        break
      case "session.error":
        if (sessionID !== undefined && this.#children.has(sessionID)) break
        // The user's own interruption is no error.
        if (error?.name === "MessageAbortedError") break
        this.#send({
          runtime: "opencode",
          event: type,
          status: "error",
          error: error?.data?.message ?? error?.name ?? "unknown error",
          ...(sessionID === undefined ? {} : { sessionId: sessionID }),
        })
        break
    }
  }

  /** Waits until the last report is sent. */
  async close(): Promise<void> {
    await this.#sending
  }

  #report(event: string, sessionId: string): void {
    const report: Report = { runtime: "opencode", event, status: "idle" }
    if (!this.#children.has(sessionId)) report.sessionId = sessionId
    if (this.#asking.size > 0) Object.assign(report, { status: "blocked", kind: "permission" })
    else if (this.#busy.size > 0) report.status = "running"
    this.#send(report)
  }

  /** One report at a time; of those that wait only the last is sent. */
  #send(report: Report): void {
    this.#next = report
    this.#sending ??= this.#drain()
  }

  async #drain(): Promise<void> {
    // First the caller notes that this runs.
    await Promise.resolve()
    while (this.#next !== undefined) {
      const report = this.#next
      this.#next = undefined
      const { event: _, ...content } = report
      const text = JSON.stringify(content)
      if (text === this.#sent) continue
      try {
        await this.#server.action("agent:set-state", report, { timeoutMs: 5000 })
        this.#sent = text
      } catch (error) {
        this.#host.log("debug", `agent:set-state: ${words(error)}`)
      }
    }
    this.#sending = undefined
  }
}
