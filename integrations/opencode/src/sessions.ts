// What happens to OpenCode's sessions: a deleted one takes its terminals with it, a sub-agent's gets a pane that shows it.

import path from "node:path"

import { META, TAG, type Pane } from "./api.js"
import { PanedError, words } from "./client.js"
import type { OpenCode, OpenCodeEvent } from "./opencode.js"
import type { Environment, Server } from "./server.js"
import type { Settings } from "./settings.js"

/** How long a sub-agent must be idle before its pane is closed; it may be given more to do. */
const IDLE_MS = 10_000

export type SessionsHost = Pick<OpenCode, "log" | "listeningUrl">

interface SessionInfo {
  id: string
  parentID?: string
  title?: string
  directory?: string
}

export class Sessions {
  readonly #server: Server
  readonly #host: SessionsHost
  readonly #settings: Settings
  readonly #env: Environment
  readonly #idleMs: number
  /** Sub-agents with a pane, and the timer that closes it. */
  readonly #subagents = new Map<string, NodeJS.Timeout | undefined>()
  /** Deleted sessions whose terminals are not removed yet, because no server runs. */
  readonly #deleted = new Set<string>()

  constructor(server: Server, host: SessionsHost, settings: Settings, env: Environment, idleMs = IDLE_MS) {
    this.#server = server
    this.#host = host
    this.#settings = settings
    this.#env = env
    this.#idleMs = idleMs
  }

  async event({ type, properties }: OpenCodeEvent): Promise<void> {
    const { info, sessionID, status } = (properties ?? {}) as {
      info?: SessionInfo
      sessionID?: string
      status?: { type?: string }
    }
    switch (type) {
      case "session.created":
        if (info?.parentID !== undefined) await this.#opened(info, info.parentID)
        break
      case "session.status":
        if (sessionID !== undefined) this.#turned(sessionID, status?.type === "idle")
        break
      case "session.idle":
        if (sessionID !== undefined) this.#turned(sessionID, true)
        break
      case "session.deleted":
        if (info !== undefined) await this.#gone(info.id)
        break
    }
  }

  /** Removes what could not be removed earlier. */
  async retry(): Promise<void> {
    for (const id of [...this.#deleted]) await this.#cleanUp(id)
  }

  close(): void {
    for (const timer of this.#subagents.values()) clearTimeout(timer)
    this.#subagents.clear()
  }

  async #gone(id: string): Promise<void> {
    this.#deleted.add(id)
    await this.#cleanUp(id)
    if (this.#subagents.has(id)) await this.#closed(id)
  }

  /** Removes a session's terminals. No server is started for that, but they go as soon as one runs. */
  async #cleanUp(id: string): Promise<void> {
    try {
      const client = await this.#server.runningClient()
      if (!client) return
      const panes = await client.action<Pane[]>("pane:list", { tag: TAG, meta: { [META.parent]: id } })
      for (const pane of panes) await this.#remove(pane.id)
      this.#deleted.delete(id)
    } catch (error) {
      this.#host.log("warn", `terminals of session ${id}: ${words(error)}`)
    }
  }

  async #remove(paneId: string): Promise<void> {
    try {
      await this.#server.action("pane:close", { paneId })
    } catch (error) {
      if (!(error instanceof PanedError)) throw error
      if (error.code === "busy") await this.#server.action("pane:close", { paneId, force: true })
      else if (error.code !== "not_found") throw error
    }
  }

  async #opened(info: SessionInfo, parentId: string): Promise<void> {
    if (!(await this.#isWanted())) return
    const url = await this.#host.listeningUrl()
    if (url === undefined) {
      this.#host.log("info", "sub-agents get no panes: start OpenCode with --port, so that its server listens")
      return
    }
    const params = {
      id: info.id,
      parentId,
      url,
      ...(info.title === undefined ? {} : { title: info.title }),
      ...(info.directory === undefined ? {} : { cwd: info.directory }),
    }
    this.#subagents.set(info.id, undefined)
    try {
      const answer = await this.#open(params).catch((error: unknown) => {
        // The server may not find `opencode`; this process is it.
        const isMissing = error instanceof PanedError && /no program `opencode`/.test(error.message)
        if (!isMissing || !/opencode/.test(path.basename(process.execPath))) throw error
        return this.#open({ ...params, argv: [process.execPath, "attach", "{url}", "--session", "{id}"] })
      })
      if (answer.paneId === undefined) this.#host.log("info", `sub-agent ${info.id} got no pane: ${answer.reason ?? ""}`)
    } catch (error) {
      this.#subagents.delete(info.id)
      this.#host.log("warn", `sub-agent ${info.id}: ${words(error)}`)
    }
  }

  /** Beside OpenCode in the user's own tmux, which no token may name; elsewhere in paned's session. */
  async #open(params: object): Promise<{ paneId?: string; reason?: string }> {
    const { TMUX: tmux, TMUX_PANE: beside } = this.#env
    const owner = tmux && beside ? await this.#server.ownerClient() : undefined
    if (owner) return owner.action("subagent:opened", { ...params, tmux, beside })
    return this.#server.action("subagent:opened", params)
  }

  /** Whether the user can see a pane: OpenCode runs in tmux, or in a pane that is shown in tmux. */
  async #isWanted(): Promise<boolean> {
    if (this.#settings.subagents !== "auto") return this.#settings.subagents
    const own = this.#server.pane
    if (own === undefined) return this.#env["TMUX"] !== undefined && this.#env["TMUX_PANE"] !== undefined
    try {
      return (await this.#server.action<Pane>("pane:get", { paneId: own })).view !== undefined
    } catch {
      return false
    }
  }

  #turned(id: string, isIdle: boolean): void {
    if (!this.#subagents.has(id)) return
    clearTimeout(this.#subagents.get(id))
    const close = () => void this.#closed(id)
    const timer = isIdle ? setTimeout(close, this.#idleMs).unref() : undefined
    this.#subagents.set(id, timer)
  }

  async #closed(id: string): Promise<void> {
    clearTimeout(this.#subagents.get(id))
    this.#subagents.delete(id)
    try {
      await this.#server.action("subagent:closed", { id })
    } catch (error) {
      this.#host.log("warn", `sub-agent ${id}: ${words(error)}`)
    }
  }
}
