// A client of paned's HTTP API, by Node's own `http`, which Bun has too: over the unix socket or TCP, with a token.

import http from "node:http"

import type { Json, PaneEvent } from "./api.js"

/** Where a server listens. */
export type Endpoint = { socket: string } | { url: string }

/** How long an action may take unless its caller says otherwise. */
const DEADLINE_MS = 30_000
/** An event stream is dead when nothing arrives for this long; the server sends comments more often. */
const SILENCE_MS = 90_000
/** The longest answer that is read. */
const MAX_ANSWER = 32 << 20

/** A refusal by the server, or a server that cannot be reached (`unavailable`, `timeout`). */
export class PanedError extends Error {
  readonly code: string

  constructor(code: string, sentence: string) {
    super(sentence)
    this.name = "PanedError"
    this.code = code
  }
}

/** A server that cannot be reached. */
export class Unreachable extends PanedError {
  /** Whether there was no connection at all, so that nothing was run. */
  readonly isUnsent: boolean

  constructor(error: Error) {
    super("unavailable", `the paned server cannot be reached: ${words(error)}`)
    const code = (error as NodeJS.ErrnoException).code ?? ""
    this.isUnsent = ["ECONNREFUSED", "ENOENT", "ConnectionRefused", "FailedToOpenSocket"].includes(code)
  }
}

export interface CallOptions {
  timeoutMs?: number
  signal?: AbortSignal
}

export class Client {
  readonly #endpoint: Endpoint
  readonly #token: string | undefined

  /** Without a token, a client of the unix socket has the rights of its owner. */
  constructor(endpoint: Endpoint, token?: string) {
    this.#endpoint = endpoint
    this.#token = token
  }

  /** Runs an action. */
  async action<Answer = Json>(name: string, params: object, options: CallOptions = {}): Promise<Answer> {
    const deadline = AbortSignal.timeout(options.timeoutMs ?? DEADLINE_MS)
    const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline
    const body = JSON.stringify(params)
    const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }
    const response = await this.#send("POST", `/action/${name}`, headers, signal, body)
    const text = await readAll(response, name)
    if (response.statusCode === 200) return JSON.parse(text) as Answer
    throw refusal(response.statusCode ?? 0, text)
  }

  /** Events of these names from an id on; ends when the server closes the stream, throws when it breaks. */
  async *events(include: string, since: number, signal: AbortSignal): AsyncGenerator<PaneEvent> {
    const headers = { accept: "text/event-stream", "last-event-id": String(since) }
    const path = `/events?include=${encodeURIComponent(include)}`
    const response = await this.#send("GET", path, headers, signal)
    if (response.statusCode !== 200) throw refusal(response.statusCode ?? 0, await readAll(response, "events"))
    response.setTimeout(SILENCE_MS, () => response.destroy(new PanedError("timeout", "the event stream is silent")))
    response.setEncoding("utf8")
    const parser = new EventParser()
    for await (const chunk of response) yield* parser.push(chunk as string)
  }

  #send(
    method: string,
    path: string,
    headers: Record<string, string>,
    signal: AbortSignal,
    body?: string,
  ): Promise<http.IncomingMessage> {
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const options = { method, path, headers: { ...headers, ...authorization, ...host(this.#endpoint) }, signal }
    return new Promise((resolve, reject) => {
      const request = http.request({ ...options, ...address(this.#endpoint) }, resolve)
      request.on("error", (error) => reject(unreachable(error, signal)))
      request.end(body)
    })
  }
}

/** Reads server-sent events; chunks may be cut anywhere. */
export class EventParser {
  #rest = ""
  #fields: Record<string, string> = {}

  #take(): PaneEvent | undefined {
    const { id, event, data, time } = this.#fields
    this.#fields = {}
    if (event === undefined) return undefined
    return {
      id: id === undefined ? undefined : Number(id),
      name: event,
      time: time === undefined ? undefined : Date.parse(time),
      data: data === undefined ? {} : (JSON.parse(data) as Record<string, Json>),
    }
  }

  *push(chunk: string): Generator<PaneEvent> {
    const lines = (this.#rest + chunk).split("\n")
    this.#rest = lines.pop() ?? ""
    for (const line of lines) {
      const text = line.endsWith("\r") ? line.slice(0, -1) : line
      if (text === "") {
        const event = this.#take()
        if (event) yield event
      } else if (!text.startsWith(":")) {
        const colon = text.indexOf(":")
        const name = colon === -1 ? text : text.slice(0, colon)
        const value = colon === -1 ? "" : text.slice(colon + 1).replace(/^ /, "")
        this.#fields[name] = name === "data" && "data" in this.#fields ? `${this.#fields.data}\n${value}` : value
      }
    }
  }
}

/** `Host` must be an address of the server; over the socket any name will do. */
function host(endpoint: Endpoint): Record<string, string> {
  return "socket" in endpoint ? { host: "localhost" } : { host: new URL(endpoint.url).host }
}

function address(endpoint: Endpoint): http.RequestOptions {
  if ("socket" in endpoint) return { socketPath: endpoint.socket }
  const { hostname, port } = new URL(endpoint.url)
  return { host: hostname.replace(/^\[|\]$/g, ""), port: port === "" ? 80 : Number(port) }
}

async function readAll(response: http.IncomingMessage, what: string): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of response) {
      length += (chunk as Buffer).length
      if (length > MAX_ANSWER) throw new PanedError("limit", `the answer of ${what} is too large`)
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    throw error instanceof PanedError ? error : new PanedError("unavailable", `paned stopped answering: ${words(error)}`)
  }
  return Buffer.concat(chunks).toString("utf8")
}

function refusal(status: number, text: string): PanedError {
  try {
    const { error, code } = JSON.parse(text) as { error: string; code: string }
    return new PanedError(code, error)
  } catch {
    return new PanedError("internal", `paned answered with status ${status}`)
  }
}

function unreachable(error: Error, signal: AbortSignal): PanedError {
  if (signal.aborted && (signal.reason as Error | undefined)?.name === "TimeoutError") {
    return new PanedError("timeout", "paned did not answer in time")
  }
  if (signal.aborted) return new PanedError("cancelled", "cancelled")
  return new Unreachable(error)
}

/** What an error says. */
export function words(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.message || (error as NodeJS.ErrnoException).code || error.name
}
