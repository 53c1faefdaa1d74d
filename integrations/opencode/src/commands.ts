// The slash commands `/pty-open-background-spy` and `/pty-show-server-url`.

import { spawn } from "node:child_process"

import { words } from "./client.js"
import type { OpenCode } from "./opencode.js"
import type { Server } from "./server.js"

export const OPEN = "pty-open-background-spy"
export const SHOW = "pty-show-server-url"

/** Opens an address in a browser; fails when there is no program for that. */
export type OpenUrl = (url: string) => Promise<void>

/** Adds the commands to OpenCode's configuration; the user's own of the same name stay. */
export function register(config: { command?: Record<string, unknown> }): void {
  config.command = {
    [OPEN]: { template: "Open paned's address in a browser.", description: "Open paned's address in a browser" },
    [SHOW]: { template: "Show paned's address.", description: "Show the address of the paned server" },
    ...config.command,
  }
}

/** Carries out one of the commands; whether it was one. */
export async function run(
  command: string,
  sessionID: string,
  server: Server,
  host: Pick<OpenCode, "say">,
  open: OpenUrl = openUrl,
): Promise<boolean> {
  if (command !== OPEN && command !== SHOW) return false
  try {
    const origin = new URL(await server.url()).origin
    await host.say(sessionID, `PTY Sessions Web Interface URL: ${origin}`)
    if (command === OPEN) await open(origin)
  } catch (error) {
    await host.say(sessionID, `/${command} failed: ${words(error)}`)
  }
  return true
}

function openUrl(url: string): Promise<void> {
  const [program, ...args] = { darwin: ["open"], win32: ["cmd", "/c", "start", ""] }[process.platform as string] ?? ["xdg-open"]
  return new Promise((resolve, reject) => {
    const child = spawn(program as string, [...args, url], { stdio: "ignore", detached: true })
    child.once("error", () => reject(new Error(`no program opens a browser here; open ${url} yourself`)))
    child.once("spawn", () => {
      child.unref()
      resolve()
    })
  })
}
