// Finds the paned server, starts it when none runs, and gets a grant that is no wider than the plugin needs.
//
// Inside a pane the plugin acts with that pane's own token: it reaches that pane and what is started from it. Elsewhere it
// has the `paned` program make a token with four scopes, which is kept in memory only, expires, and is revoked at the end.

import { execFile } from "node:child_process"

import type { Json } from "./api.js"
import { type CallOptions, Client, PanedError, Unreachable, words } from "./client.js"
import type { Settings } from "./settings.js"

/** How long the `paned` program may take. */
const PROGRAM_DEADLINE_MS = 20_000
const SCOPES = ["read", "input", "spawn", "kill"]
const EXPIRES = "24h"

export type Environment = Record<string, string | undefined>

/** Runs a program and answers its standard output. */
export type RunProgram = (program: string, args: string[]) => Promise<string>

interface Connection {
  client: Client
  socket: string | undefined
}

export class Server {
  readonly #settings: Settings
  readonly #env: Environment
  readonly #run: RunProgram
  #connection: Promise<Connection> | undefined
  #onConnect: (() => void) | undefined
  /** The token that was made last; a server that is started again still knows it. */
  #made: { grant: { id: string }; token: string } | undefined

  constructor(settings: Settings, env: Environment, run: RunProgram = runProgram) {
    this.#settings = settings
    this.#env = env
    this.#run = run
  }

  /** The pane that OpenCode runs in, if it has that pane's token. */
  get pane(): string | undefined {
    return this.#env["PANED_TOKEN"] ? this.#env["PANED_PANE"] : undefined
  }

  /** Called after each connection to a server. */
  onConnect(call: () => void): void {
    this.#onConnect = call
  }

  /** A client; starts a server when none runs. */
  async client(): Promise<Client> {
    return (await this.#connect(true)).client
  }

  /** A client if a server runs. */
  async runningClient(): Promise<Client | undefined> {
    try {
      return (await this.#connect(false)).client
    } catch (error) {
      if (error instanceof PanedError && error.code === "unavailable") return undefined
      throw error
    }
  }

  /**
   * Runs an action. When the server was stopped it is started again, and a token that has expired or was revoked is
   * replaced; both happen before the action is sent a second time, and only when the first was certainly not run.
   */
  async action<Answer = Json>(name: string, params: object, options?: CallOptions): Promise<Answer> {
    const connecting = this.#connect(true)
    const { client } = await connecting
    try {
      return await client.action<Answer>(name, params, options)
    } catch (error) {
      if (!isStale(error)) throw error
      this.#forget(connecting)
      return (await this.client()).action<Answer>(name, params, options)
    }
  }

  /** Says that a client failed with this error; the next one may need another token or server. */
  failed(error: unknown): void {
    if (isStale(error)) this.#connection = undefined
  }

  /** A client with the rights of the user, for what no token can do; nothing inside a pane. */
  async ownerClient(): Promise<Client | undefined> {
    if (this.pane !== undefined) return undefined
    const { socket } = await this.#connect(true)
    return socket === undefined ? undefined : new Client({ socket })
  }

  /** Where a browser finds the server. */
  async url(): Promise<string> {
    const status = await this.action<{ url?: string }>("server:status", {})
    if (status.url === undefined) throw new PanedError("unavailable", "the paned server has no TCP address")
    return status.url
  }

  /** Revokes the token that was made. */
  async close(): Promise<void> {
    await this.#connection?.catch(() => undefined)
    this.#connection = undefined
    const made = this.#made
    this.#made = undefined
    if (made) await this.#run(this.#settings.program, ["token", "revoke", made.grant.id]).catch(() => undefined)
  }

  #connect(mayStart: boolean): Promise<Connection> {
    if (this.#connection) return this.#connection
    const connecting = this.#open(mayStart)
    this.#connection = connecting
    connecting.then(
      () => this.#onConnect?.(),
      () => this.#forget(connecting),
    )
    return connecting
  }

  #forget(connection: Promise<Connection>): void {
    if (this.#connection === connection) this.#connection = undefined
  }

  async #open(mayStart: boolean): Promise<Connection> {
    const { PANED_TOKEN: token, PANED_SOCKET: socket, PANED_URL: url } = this.#env
    if (token) {
      if (socket) return { client: new Client({ socket }, token), socket }
      if (url) return { client: new Client({ url }, token), socket: undefined }
    }
    return this.#openOwn(mayStart)
  }

  async #openOwn(mayStart: boolean): Promise<Connection> {
    const { program } = this.#settings
    if (!(await this.#status())) {
      if (!mayStart) throw new PanedError("unavailable", "no paned server is running")
      await this.#run(program, ["server", "start"])
    }
    const status = await this.#status()
    if (!status) throw new PanedError("unavailable", "the paned server was started, but does not answer")
    const { socket } = status
    const known = this.#made && (await this.#tryToken(socket, this.#made.token))
    if (known) return { client: known, socket }
    const scopes = SCOPES.flatMap((scope) => ["--scope", scope])
    const args = ["token", "create", ...scopes, "--label", "opencode", "--expires", EXPIRES, "--json"]
    this.#made = JSON.parse(await this.#run(program, args)) as { grant: { id: string }; token: string }
    return { client: new Client({ socket }, this.#made.token), socket }
  }

  /** A client with an earlier token, if the server takes it. */
  async #tryToken(socket: string, token: string): Promise<Client | undefined> {
    const client = new Client({ socket }, token)
    try {
      await client.action("server:status", {})
      return client
    } catch (error) {
      if (error instanceof PanedError && error.code === "unauthorized") return undefined
      throw error
    }
  }

  async #status(): Promise<{ socket: string } | undefined> {
    try {
      return JSON.parse(await this.#run(this.#settings.program, ["server", "status", "--json"])) as { socket: string }
    } catch (error) {
      if (error instanceof PanedError && error.code === "missing") throw error
      return undefined
    }
  }
}

/** Whether a request was refused, or not sent at all, because the connection is that of an earlier server. */
function isStale(error: unknown): boolean {
  if (!(error instanceof PanedError)) return false
  return error.code === "unauthorized" || (error instanceof Unreachable && error.isUnsent)
}

function runProgram(program: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: PROGRAM_DEADLINE_MS, encoding: "utf8" as const, maxBuffer: 1 << 20 }
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout)
      if (error.code === "ENOENT") {
        const sentence =
          `the program \`${program}\` is not on OpenCode's PATH; install paned, or set the plugin's option \`program\` to its path`
        return reject(new PanedError("missing", sentence))
      }
      const why = stderr.trim() || stdout.trim() || words(error)
      return reject(new PanedError("unavailable", `\`${program} ${args.slice(0, 2).join(" ")}\` failed: ${why}`))
    })
    child.stdin?.end()
  })
}
