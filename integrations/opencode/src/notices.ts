// Exit notices: paned records `pane:notice` when a program ends, and this puts its text into the chat that asked for it.
//
// Events have ids and are stored, so neither a restart of the server nor one of OpenCode loses a notice. A pane's meta says
// that its notice is in the chat, and the notice itself carries a key, so that it is not written twice: not after a crash
// between the two, and not by two processes of OpenCode in one project, of which the one that started the program goes first.

import { META, type Pane, type PaneEvent } from "./api.js"
import { type Client, PanedError, words } from "./client.js"
import type { OpenCode } from "./opencode.js"
import type { Server } from "./server.js"

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** How often a notice is tried that OpenCode does not take. */
const TRIES = 5
/** The name of the notice of an exit, and of a hole in the journal. */
const NAMES = "pane:notice"

/** What the follower needs of OpenCode. */
export type Chat = Pick<OpenCode, "session" | "hasNotice" | "notify" | "log">

export class Notices {
  readonly #server: Server
  readonly #chat: Chat
  readonly #list: () => Promise<Pane[]>
  readonly #pause: (ms: number) => Promise<void>
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  /** The last event that was handled; all later ones are still to come. */
  #last: number | undefined
  /** Programs that this process started, by instance: their panes may be gone when the notice comes. */
  readonly #own = new Set<string>()
  readonly #startedAt = Date.now()

  constructor(server: Server, chat: Chat, list: () => Promise<Pane[]>, pause: (ms: number) => Promise<void> = sleep) {
    this.#server = server
    this.#chat = chat
    this.#list = list
    this.#pause = pause
  }

  /** Follows the notices from now on; once is enough. */
  start(): void {
    this.#running ??= this.#follow()
  }

  /** Says that this process started a program. */
  expects(pane: Pane): void {
    this.#own.add(pane.instance)
    this.start()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    await this.#running
  }

  async #follow(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!this.#stop.signal.aborted) {
      try {
        const client = await this.#server.runningClient()
        if (client) {
          this.#last ??= await this.#begin(client)
          for await (const event of client.events(NAMES, this.#last, this.#stop.signal)) {
            pause = FIRST_PAUSE_MS
            await this.#handle(event)
          }
        }
      } catch (error) {
        if (this.#stop.signal.aborted) return
        this.#chat.log("debug", `exit notices: ${words(error)}`)
        this.#server.failed(error)
      }
      await this.#pause(pause)
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS)
    }
  }

  /** The event to begin after: the first ever if a notice of this project may be waiting, else the last one. */
  async #begin(client: Client): Promise<number> {
    const { lastEvent } = await client.action<{ lastEvent: number }>("server:status", {})
    const panes = await this.#list()
    const isWaiting = panes.some((pane) => pane.meta[META.notify] === true && pane.meta[META.noticed] === undefined)
    return isWaiting ? 0 : lastEvent
  }

  async #handle(event: PaneEvent): Promise<void> {
    if (event.name === "gap") {
      this.#last = Number(event.data["last"] ?? this.#last)
      this.#chat.log("warn", "paned no longer stores some exit notices; use pty_list to see what has ended")
      return
    }
    if (event.id === undefined) return
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#deliver(event.id, event)
        break
      } catch (error) {
        // Without the server the notice stays the next one, and comes again with the next connection.
        if (this.#stop.signal.aborted || isConnection(error)) throw error
        this.#chat.log("warn", `exit notice ${event.id}: ${words(error)}`)
        if (attempt === TRIES) break
        await this.#pause(FIRST_PAUSE_MS * 2 ** attempt)
      }
    }
    this.#last = event.id
  }

  async #deliver(id: number, { data, time }: PaneEvent): Promise<void> {
    const { paneId, instance, text, recipient } = data
    if (typeof paneId !== "string" || typeof instance !== "string" || typeof text !== "string") return
    const { sessionId, agent } = (recipient ?? {}) as { sessionId?: string; agent?: string }
    if (sessionId === undefined) return
    const isOwn = this.#own.has(instance)
    const pane = (await this.#list()).find((it) => it.id === paneId && it.instance === instance)
    // One of another project, or one that was removed before this process began.
    if (!pane && !isOwn) return
    if (pane?.meta[META.noticed] !== undefined) return
    const key = `${instance}:${id}`
    if ((await this.#chat.session(sessionId)) === undefined) return
    if (!(await this.#chat.hasNotice(sessionId, key))) {
      if (!isOwn && (await this.#isOthers(key, sessionId))) return
      // What ended before OpenCode was started is put into the chat, but starts no turn: the user is elsewhere by now.
      const isOld = time !== undefined && time < this.#startedAt
      await this.#chat.notify(sessionId, text, key, agent, isOld)
    }
    if (pane) await this.#mark(paneId, id)
  }

  /** Lets the process go first that started the program, if it still lives; then whether it did. */
  async #isOthers(key: string, sessionId: string): Promise<boolean> {
    await this.#pause(2000)
    return this.#chat.hasNotice(sessionId, key)
  }

  async #mark(paneId: string, id: number): Promise<void> {
    try {
      await this.#server.action("pane:set-meta", { paneId, key: META.noticed, value: id })
    } catch (error) {
      if (isConnection(error)) throw error
      // The pane is gone, or may not be changed: the key in the chat is enough.
    }
  }
}

/** Whether an error is about the connection to the server. */
function isConnection(error: unknown): boolean {
  return error instanceof PanedError && ["unavailable", "timeout", "unauthorized"].includes(error.code)
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
