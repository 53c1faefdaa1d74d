// Puts the parts together as OpenCode's hooks.

import type { Hooks, PluginInput } from "@opencode-ai/plugin"

import { words } from "./client.js"
import * as commands from "./commands.js"
import { Notices } from "./notices.js"
import { OpenCode, type OpenCodeEvent } from "./opencode.js"
import { type Judge, Permissions, type Verdict } from "./permissions.js"
import { type Environment, Server } from "./server.js"
import { Sessions } from "./sessions.js"
import { readSettings } from "./settings.js"
import { StateSync } from "./state.js"
import { Terminals } from "./terminals.js"
import { tools } from "./tools.js"

export async function plugin(input: PluginInput, options?: Record<string, unknown>): Promise<Hooks> {
  const settings = readSettings(options)
  const env: Environment = process.env
  const host = new OpenCode(input)
  const server = new Server(settings, env)
  const terminals = new Terminals(server, input.directory, env)
  const judge: Judge = (judged, cwd, bash, project) =>
    server.action<Verdict>("permission:test", { ...judged, cwd, openCode: { bash }, project, as: "opencode" })
  const permissions = new Permissions(judge, (message) => host.toast(message))
  const notices = new Notices(server, host, () => terminals.list())
  const sessions = new Sessions(server, host, settings, env)
  const state = new StateSync(server, host)
  server.onConnect(() => {
    notices.start()
    void sessions.retry()
  })
  // Notices may be waiting since an earlier run; no server is started to find out.
  server.runningClient().catch((error: unknown) => host.log("info", words(error)))

  return {
    tool: tools(terminals, permissions, (pane) => notices.expects(pane)),

    config: async (config) => {
      permissions.configure(config)
      commands.register(config)
    },

    "command.execute.before": async ({ command, sessionID }) => {
      // OpenCode has no other way to end a command here.
      if (await commands.run(command, sessionID, server, host)) throw new Error("Command handled by PTY plugin")
    },

    event: async ({ event }) => {
      permissions.event(event as OpenCodeEvent)
      state.event(event as OpenCodeEvent)
      await sessions.event(event as OpenCodeEvent)
    },

    dispose: async () => {
      sessions.close()
      await notices.close()
      await state.close()
      await server.close()
    },
  }
}
