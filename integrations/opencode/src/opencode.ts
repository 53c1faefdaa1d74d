// The parts of OpenCode's own API that the plugin uses, with a deadline on each call.

import type { PluginInput } from "@opencode-ai/plugin"

/** An event as plugins get it; newer versions of OpenCode send more kinds than their types name. */
export interface OpenCodeEvent {
  type: string
  properties?: unknown
}

const DEADLINE_MS = 20_000

export class OpenCode {
  readonly #input: PluginInput

  constructor(input: PluginInput) {
    this.#input = input
  }

  /** A session; `undefined` if it does not exist. */
  async session(id: string): Promise<{ id: string; parentID?: string } | undefined> {
    const answer = await late(this.#input.client.session.get({ path: { id } }), "session.get")
    if (answer.response?.status === 404) return undefined
    if (answer.error !== undefined || answer.data === undefined) throw new Error(`OpenCode refused to show session ${id}`)
    return answer.data
  }

  /** Whether a session's chat holds a notice with this key. */
  async hasNotice(id: string, key: string): Promise<boolean> {
    const answer = await late(this.#input.client.session.messages({ path: { id } }), "session.messages")
    if (answer.error !== undefined || answer.data === undefined) throw new Error(`OpenCode refused to show session ${id}`)
    return answer.data.some(({ parts }) => parts.some((part) => part.type === "text" && part.metadata?.["panedNotice"] === key))
  }

  /** Puts a notice into a chat; the model answers it unless `quiet`. */
  async notify(id: string, text: string, key: string, agent: string | undefined, quiet: boolean): Promise<void> {
    const body = {
      ...(agent === undefined ? {} : { agent }),
      ...(quiet ? { noReply: true } : {}),
      parts: [{ type: "text" as const, text, metadata: { panedNotice: key } }],
    }
    const answer = await late(this.#input.client.session.promptAsync({ path: { id }, body }), "session.promptAsync")
    if (answer.error !== undefined) throw new Error(`OpenCode did not take a notice for session ${id}`)
  }

  /** Shows a line in a chat, which the model does not see. */
  async say(id: string, text: string): Promise<void> {
    const body = { noReply: true, parts: [{ type: "text" as const, text, ignored: true }] }
    await late(this.#input.client.session.prompt({ path: { id }, body }), "session.prompt")
  }

  /** A message at the edge of the screen; its outcome does not matter. */
  toast(message: string): void {
    const body = { title: "paned", message, variant: "error" as const }
    late(this.#input.client.tui.showToast({ body }), "tui.showToast").catch(() => undefined)
  }

  /** A line in OpenCode's log. */
  log(level: "debug" | "info" | "warn" | "error", message: string): void {
    const body = { service: "paned-opencode", level, message }
    late(this.#input.client.app.log({ body }), "app.log").catch(() => undefined)
  }

  /** The address of OpenCode's own server, if it listens: redirects and other servers do not count. */
  async listeningUrl(): Promise<string | undefined> {
    try {
      const url = new URL(String(this.#input.serverUrl))
      const signal = AbortSignal.timeout(3000)
      const password = process.env["OPENCODE_SERVER_PASSWORD"]
      const user = process.env["OPENCODE_SERVER_USERNAME"] ?? "opencode"
      const basic = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
      const headers: Record<string, string> = password ? { authorization: basic } : {}
      const response = await fetch(new URL("/global/health", url), { redirect: "error", signal, headers })
      const health = (await response.json()) as { healthy?: boolean }
      return response.ok && health.healthy === true ? url.origin : undefined
    } catch {
      return undefined
    }
  }
}

/** A call that fails when it takes too long. */
async function late<T>(call: Promise<T>, name: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`OpenCode did not answer ${name} in time`)), DEADLINE_MS)
  })
  try {
    return await Promise.race([call, deadline])
  } finally {
    clearTimeout(timer)
  }
}
