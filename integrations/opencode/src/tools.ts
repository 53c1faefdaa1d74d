// The tools that a model gets. Names, parameters and formats are those of opencode-pty; the texts teach their use.

import path from "node:path"

import type { ToolContext, ToolDefinition } from "@opencode-ai/plugin"
import * as z from "zod"

import type { Line, Pane } from "./api.js"
import { PanedError } from "./client.js"
import { preview, TypedLines, unescape } from "./escapes.js"
import { type Permissions, Refused } from "./permissions.js"
import { MOST_MATCHES, type Terminals } from "./terminals.js"
import * as texts from "./texts.js"

const TAIL = 20

const id = z.string().describe("The session's ID, from pty_spawn or pty_list")

/** A tool; its arguments are checked here as well, because not every version of OpenCode does. */
function tool<Args extends z.ZodRawShape>(
  description: string,
  args: Args,
  run: (args: z.infer<z.ZodObject<Args>>, context: ToolContext) => Promise<string>,
): ToolDefinition {
  const schema = z.object(args)
  const execute = async (given: unknown, context: ToolContext) => {
    const read = schema.safeParse(given ?? {})
    if (!read.success) throw new Refused(z.prettifyError(read.error))
    return run(read.data, context)
  }
  // OpenCode brings its own copy of zod, whose types differ from ours by their version only.
  return { description, args, execute } as unknown as ToolDefinition
}

/** The tools; `expects` hears of each program whose end is to be reported. */
export function tools(
  terminals: Terminals,
  permissions: Permissions,
  expects: (pane: Pane) => void,
): Record<string, ToolDefinition> {
  const typed = new TypedLines()
  return {
    pty_spawn: tool(
      `Starts a program in a terminal of its own and returns at once; the program keeps running, also when this session or OpenCode ends. For servers, watchers, REPLs and builds that take long; for a short command use the shell tool.
- \`command\` is one program, \`args\` its arguments; nothing is interpreted by a shell. For a shell line use command "sh" with args ["-c", "…"].
- Set notifyOnExit to get a <pty_exited> message in this chat when it ends. Then do not poll: go on with other work or end your turn.
- Wait for a server to be ready with pty_wait and a pattern, read output with pty_read, type with pty_write, end it with pty_kill.`,
      {
        command: z.string().min(1).describe("The program"),
        args: z.array(z.string()).optional().describe("Its arguments"),
        description: z.string().min(1).describe("What it is for, in 5 to 10 words"),
        workdir: z.string().optional().describe("Its working directory; the project's when omitted"),
        env: z.record(z.string(), z.string()).optional().describe("More environment variables"),
        title: z.string().optional().describe("A title; the command when omitted"),
        notifyOnExit: z.boolean().optional().describe("Whether its end is reported in this chat (default false)"),
        timeoutSeconds: z.number().int().positive().optional().describe("Stop it after this many seconds"),
      },
      async (args, context) => {
        const workdir = path.resolve(context.directory, args.workdir ?? ".")
        const argv = [args.command, ...(args.args ?? [])]
        await permissions.checkSpawn(context, argv, workdir)
        const pane = await terminals.spawn({
          command: args.command,
          args: args.args ?? [],
          description: args.description,
          workdir,
          env: args.env ?? {},
          title: args.title,
          notifyOnExit: args.notifyOnExit ?? false,
          timeoutSeconds: args.timeoutSeconds,
          sessionID: context.sessionID,
          agent: context.agent,
          signal: context.abort,
        })
        if (args.notifyOnExit) expects(pane)
        return texts.spawned(pane, args.notifyOnExit ?? false)
      },
    ),

    pty_write: tool(
      `Types into a terminal. \`data\` is typed as it is, with the escapes \\n \\r \\t \\\\ \\xNN \\uNNNN: end a line with \\n, press Ctrl+C with \\x03, Ctrl+D with \\x04, Escape with \\x1b, arrow up with \\x1b[A. Read the effect with pty_read.`,
      { id, data: z.string().min(1).describe("What to type") },
      async (args, context) => {
        const pane = await terminals.get(args.id)
        const data = unescape(args.data)
        const { lines, rest } = typed.preview(pane.id, data)
        for (const line of lines) await permissions.checkLine(context, line, pane.cwd)
        await terminals.write(pane, data)
        typed.commit(pane.id, rest)
        return `Sent ${args.data.length} bytes to ${args.id}: "${preview(data)}"`
      },
    ),

    pty_read: tool(
      `Reads a terminal's output as numbered lines, also after its program has ended. Without offset it reads from the beginning; \`tail\` reads the last lines. With \`pattern\` only lines that match are returned, with their line numbers, and offset counts matches: the cheapest way to look for errors in long output.`,
      {
        id,
        offset: z.number().int().optional().describe("How many lines, or matches, to skip (default 0)"),
        limit: z.number().int().positive().max(MOST_MATCHES).optional().describe("At most this many lines or matches (default 500)"),
        tail: z.number().int().positive().max(MOST_MATCHES).optional().describe("Only the last lines; not together with offset or pattern"),
        pattern: z.string().min(1).optional().describe("A regular expression that lines must match"),
        ignoreCase: z.boolean().optional().describe("Whether the pattern ignores case (default false)"),
      },
      async (args) => {
        const pane = await terminals.get(args.id)
        const offset = Math.max(0, args.offset ?? 0)
        const limit = args.limit ?? 500
        if (args.pattern !== undefined) {
          return search(terminals, pane, args.pattern, args.ignoreCase ?? false, offset, limit)
        }
        const part = args.tail === undefined ? { offset, limit } : { tail: args.tail }
        return texts.read(pane, await terminals.read(pane.id, part))
      },
    ),

    pty_list: tool(
      "Lists this project's terminals, with status, exit code and how much they have printed; also those that have ended and are still stored.",
      {},
      async () => texts.list(await terminals.list()),
    ),

    pty_kill: tool(
      "Ends a terminal's program and all its child processes. Its output stays readable unless cleanup is true.",
      { id, cleanup: z.boolean().optional().describe("Whether to delete the output as well (default false)") },
      async (args) => {
        const pane = await terminals.get(args.id)
        const remove = args.cleanup ?? false
        if (!remove) await terminals.kill(pane.id, false)
        else if (texts.isLive(pane)) await terminals.kill(pane.id, false)
        const { total } = await terminals.read(pane.id, { limit: 0 })
        if (remove) await terminals.kill(pane.id, true)
        return texts.killed(pane, remove, total)
      },
    ),

    pty_wait: tool(
      `Waits until a terminal's program has ended, or, with \`pattern\`, until a line matches: for a server to be ready ("listening on"), or for a build's result. It ends earlier if the program ends. Give a timeoutSeconds; without one it waits until the end. For a program that was started with notifyOnExit, end your turn instead.`,
      {
        id,
        timeoutSeconds: z.number().positive().optional().describe("How long to wait at most"),
        pattern: z.string().min(1).optional().describe("A regular expression; also lines that are already there count"),
      },
      async (args, context) => {
        const pane = await terminals.get(args.id)
        const answer = await refusedPattern(args.pattern, () =>
          terminals.wait(pane.id, args.pattern, args.timeoutSeconds, context.abort),
        )
        const { lines, total } = await terminals.read(pane.id, { tail: TAIL })
        if (answer.met === null || answer.met === undefined) {
          return texts.waitTimeout(answer.pane, args.timeoutSeconds ?? 0, lines)
        }
        return texts.waited(answer, lines, total)
      },
    ),
  }
}

async function search(
  terminals: Terminals,
  pane: Pane,
  pattern: string,
  ignoreCase: boolean,
  offset: number,
  limit: number,
): Promise<string> {
  const params = { pattern, ignoreCase, limit: MOST_MATCHES }
  const found = await refusedPattern(pattern, () => terminals.read(pane.id, params))
  const matches: Line[] = found.lines.filter((line) => line.text.trim() !== "")
  const page = matches.slice(offset, offset + limit)
  return texts.matches(pane, pattern, page, offset, matches.length, found.total, found.truncated)
}

/** A refused pattern in words that say what to change. */
async function refusedPattern<T>(pattern: string | undefined, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (pattern !== undefined && error instanceof PanedError && error.code === "invalid") {
      throw new Refused(`${error.message}. Escape characters that are meant as they are, as in \\( or \\[.`)
    }
    throw error
  }
}
