// The project's terminals, as panes of paned. What a model may reach is decided here: only panes with our tag that were
// started for this project.

import { randomBytes } from "node:crypto"

import { META, TAG, type Pane, type Read, type Waited } from "./api.js"
import { PanedError } from "./client.js"
import { Refused } from "./permissions.js"
import type { Environment, Server } from "./server.js"
import { isLive, notFound, status } from "./texts.js"

const SIZE = { cols: 120, rows: 40 }
const LONGEST_TITLE = 256
/** How many matches are looked for at once. */
export const MOST_MATCHES = 10_000
/** One request of a wait; a longer wait is several. */
const ONE_WAIT_MS = 60_000
/** Starting a program may wait for a person's approval. */
const SPAWN_MS = 600_000

export interface Spawn {
  command: string
  args: string[]
  description: string
  workdir: string
  env: Record<string, string>
  title?: string | undefined
  notifyOnExit: boolean
  timeoutSeconds?: number | undefined
  sessionID: string
  agent: string
  signal: AbortSignal
}

export class Terminals {
  readonly #server: Server
  readonly #project: string
  readonly #env: Environment

  constructor(server: Server, project: string, env: Environment) {
    this.#server = server
    this.#project = project
    this.#env = env
  }

  async list(): Promise<Pane[]> {
    return this.#server.action<Pane[]>("pane:list", { tag: TAG, meta: { [META.project]: this.#project } })
  }

  /** A terminal of this project; another pane is as unknown as none. */
  async get(id: string): Promise<Pane> {
    try {
      const pane = await this.#server.action<Pane>("pane:get", { paneId: id })
      if (pane.tags.includes(TAG) && pane.meta[META.project] === this.#project) return pane
    } catch (error) {
      if (!(error instanceof PanedError) || !["not_found", "invalid", "forbidden"].includes(error.code)) throw error
    }
    throw new Refused(notFound(id))
  }

  async spawn(spawn: Spawn): Promise<Pane> {
    const id = `pty_${randomBytes(4).toString("hex")}`
    const argv = [spawn.command, ...spawn.args]
    const meta = {
      [META.description]: spawn.description,
      ...(spawn.notifyOnExit ? { [META.notify]: true } : {}),
      [META.parent]: spawn.sessionID,
      [META.agent]: spawn.agent,
      ...(spawn.timeoutSeconds === undefined ? {} : { [META.timeout]: spawn.timeoutSeconds }),
      [META.project]: this.#project,
    }
    const recipient = { sessionId: spawn.sessionID, agent: spawn.agent }
    const params = {
      id,
      argv,
      cwd: spawn.workdir,
      // As with OpenCode's own shell, the program gets OpenCode's environment, not that of the server.
      inheritEnv: false,
      env: { ...programEnvironment(this.#env), ...spawn.env },
      size: SIZE,
      title: title(spawn.title ?? argv.join(" "), id),
      meta,
      tags: [TAG],
      notifyOnExit: spawn.notifyOnExit,
      notice: { words: "pty", description: spawn.description, recipient },
      ...(spawn.timeoutSeconds === undefined ? {} : { timeoutSeconds: spawn.timeoutSeconds }),
      visible: "never",
    }
    try {
      return await this.#server.action<Pane>("pane:new", params, { timeoutMs: SPAWN_MS, signal: spawn.signal })
    } catch (error) {
      throw spawnRefusal(error, spawn)
    }
  }

  async write(pane: Pane, text: string): Promise<void> {
    const cannot = (word: string) => new Refused(`Cannot write to PTY '${pane.id}' - session status is '${word}'.`)
    if (!isLive(pane)) throw cannot(status(pane))
    try {
      await this.#server.action("pane:write", { paneId: pane.id, text })
    } catch (error) {
      if (error instanceof PanedError && error.code === "gone") throw cannot(status(await this.get(pane.id)))
      throw new Refused(`Failed to write to PTY '${pane.id}': ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  async read(id: string, params: object): Promise<Read> {
    return this.#server.action<Read>("pane:read", { paneId: id, ...params })
  }

  /** Ends a program; removes its output as well if asked to. */
  async kill(id: string, remove: boolean): Promise<void> {
    try {
      await this.#server.action(remove ? "pane:close" : "pane:kill", { paneId: id })
    } catch (error) {
      throw new Refused(`Failed to kill PTY '${id}': ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Waits until a program has ended, or a line matches; nothing if neither happens in time. */
  async wait(id: string, pattern: string | undefined, seconds: number | undefined, signal: AbortSignal): Promise<Waited> {
    const end = seconds === undefined ? Number.POSITIVE_INFINITY : Date.now() + seconds * 1000
    // Without `since`, a pattern is looked for in what is already printed, too.
    let since: number | undefined = pattern === undefined ? undefined : 0
    for (;;) {
      const timeoutMs = Math.max(1, Math.min(ONE_WAIT_MS, end - Date.now()))
      const what = pattern === undefined ? {} : { pattern, since }
      const params = { paneId: id, exit: true, timeoutMs, ...what }
      const answer = await this.#server.action<Waited>("pane:wait", params, { timeoutMs: timeoutMs + 10_000, signal })
      if (answer.met !== null && answer.met !== undefined) return answer
      if (end <= Date.now()) return answer
      since = since === undefined ? undefined : answer.next
    }
  }
}

/** A title of one line. */
function title(text: string, id: string): string {
  const line = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ").trim()
  return line === "" ? `Terminal ${id.slice(-4)}` : [...line].slice(0, LONGEST_TITLE).join("")
}

/** OpenCode's environment without what belongs to its own process, terminal and server. */
export function programEnvironment(env: Environment): Record<string, string> {
  const isOwn = (name: string) =>
    /^(PANED_|POLY_|OPENCODE_|TMUX|SSH_TTY$|_$|OLDPWD$|PWD$|SHLVL$|LINES$|COLUMNS$|TERM|COLORTERM$|VTE_|KITTY_|WEZTERM_|ITERM_|BUN_|npm_config_)/.test(name)
  const own = Object.entries(env).filter((it): it is [string, string] => it[1] !== undefined && !isOwn(it[0]))
  return Object.fromEntries(own)
}

/** Why a program was not started, with what to do instead. */
function spawnRefusal(error: unknown, spawn: Spawn): Error {
  if (!(error instanceof PanedError)) return error as Error
  const isLine = spawn.args.length === 0 && /\s/.test(spawn.command)
  const advice = {
    invalid: isLine
      ? " `command` is one program without its arguments: put those into `args`, or use command \"sh\" with args [\"-c\", \"…\"]."
      : "",
    forbidden:
      " OpenCode runs in a pane whose token does not allow it; start that pane with the capability `spawn`: paned new --can spawn -- opencode.",
  }[error.code]
  return new Refused(`PTY spawn failed: ${error.message}.${advice ?? ""}`)
}
