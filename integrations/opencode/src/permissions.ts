// OpenCode's own permission rules, applied to programs that start in terminals and to lines that are typed into them.
//
// The judge is paned's `permission:test`, with the rules from OpenCode's configuration: it parses shell lines, sees through
// wrappers and compares folders by component. OpenCode is then asked as well, as its own tools do, so that what it would
// refuse is refused, and what needs a person is shown to that person by OpenCode's own prompt.

import { realpath } from "node:fs/promises"
import path from "node:path"

import { PanedError } from "./client.js"

type Rule = "allow" | "ask" | "deny"
export type Rules = Rule | Record<string, Rule>

/** What paned's `permission:test` answers. */
export interface Verdict {
  decision: Rule
  reason: string
  /** The simple commands that are run, with the rule that decides about each, as `source: pattern`. */
  steps: { command: string; decision: Rule; rule?: string }[]
}

/** What is judged: a program with its arguments, or a line for a shell. */
export type Judged = { argv: string[] } | { command: string }

/** Asks paned for a verdict by OpenCode's rules for `bash` in a project. */
export type Judge = (judged: Judged, cwd: string, bash: Rules, project: string) => Promise<Verdict>

/** What a tool is given by OpenCode, as far as permissions need it. */
export interface Asker {
  agent: string
  sessionID: string
  directory: string
  /** Old versions of OpenCode have no prompt for plugins. */
  ask?(request: { permission: string; patterns: string[]; always: string[]; metadata: Record<string, unknown> }): Promise<void>
}

/** What an agent's own configuration says. */
interface AgentRules {
  permission?: unknown
  tools?: Record<string, boolean>
}

/** A refusal whose text is for the model. */
export class Refused extends Error {}

export class Permissions {
  readonly #judge: Judge
  readonly #warn: (message: string) => void
  #global: unknown
  #agents: Record<string, AgentRules> = {}
  readonly #prompts = new PromptLog()
  #count = 0

  constructor(judge: Judge, warn: (message: string) => void) {
    this.#judge = judge
    this.#warn = warn
  }

  /** Takes the rules from OpenCode's configuration. */
  configure(config: { permission?: unknown; agent?: unknown }): void {
    this.#global = config.permission
    this.#agents = isRecord(config.agent) ? (config.agent as Record<string, AgentRules>) : {}
  }

  /** Follows OpenCode's prompts, to know whether a person was asked. */
  event(event: { type: string; properties?: unknown }): void {
    this.#prompts.event(event)
  }

  /** The rules for an agent's shell: those for all, then its own. */
  rules(agent: string): Rules | undefined {
    const own = this.#agents[agent]
    if (own?.tools?.["bash"] === false) return "deny"
    return merge(select(this.#global, "bash"), select(own?.permission, "bash"))
  }

  /** Refuses a program that may not be started, or asks the person. */
  async checkSpawn(asker: Asker, argv: string[], cwd: string): Promise<void> {
    await this.#checkFolder(asker, cwd)
    await this.#check(asker, { argv }, argv.map(quoted).join(" "), cwd)
  }

  /** Refuses a line that may not be typed, or asks the person. */
  async checkLine(asker: Asker, line: string, cwd: string): Promise<void> {
    await this.#check(asker, { command: line }, line, cwd)
  }

  async #check(asker: Asker, judged: Judged, text: string, cwd: string): Promise<void> {
    const rules = this.rules(asker.agent)
    if (rules === "deny") throw new Refused("PTY spawn denied: All bash commands are disabled by user configuration.")
    const verdict = isPermissive(rules) ? undefined : await this.#verdict(judged, cwd, rules, asker.directory)
    if (verdict?.decision === "deny") {
      this.#warn(`denied: ${text}`)
      throw new Refused(
        `PTY spawn denied: Command "${text}" is explicitly denied by user configuration (${verdict.reason}). Do not try it in another form; tell the user what you wanted to run.`,
      )
    }
    const asking = verdict?.steps.filter((step) => step.decision === "ask") ?? []
    // Behind a wrapper or in a part of the line there may be a command that OpenCode has a rule for.
    const patterns = [...new Set([text, ...asking.map((step) => step.command)])]
    const metadata = { command: text, reason: verdict?.reason }
    const wasAsked = await this.#ask(asker, "bash", patterns, patterns, metadata)
    if (verdict?.decision !== "ask" || wasAsked) return
    // OpenCode matches texts, paned sees what is run: the text of the rule itself makes OpenCode ask.
    const rule = asking.map((step) => rulePattern(step.rule)).find((pattern) => pattern !== undefined)
    if (rule !== undefined && (await this.#ask(asker, "bash", [rule], patterns, metadata))) return
    this.#warn(`needs permission: ${text}`)
    throw new Refused(
      `PTY spawn denied: Command "${text}" requires permission (${verdict.reason}), and OpenCode did not ask for it. Tell the user; an entry under permission.bash in opencode.json can allow it.`,
    )
  }

  async #verdict(judged: Judged, cwd: string, rules: Rules, project: string): Promise<Verdict> {
    try {
      return await this.#judge(judged, cwd, rules, project)
    } catch (error) {
      if (!(error instanceof PanedError) || error.code !== "not_found") throw error
      return { decision: "ask", reason: "this paned server cannot judge rules; update it", steps: [] }
    }
  }

  /** A folder outside the project needs the permission `external_directory`, as for OpenCode's own tools. */
  async #checkFolder(asker: Asker, cwd: string): Promise<void> {
    if (await isInside(asker.directory, cwd)) return
    const pattern = path.join(await resolved(cwd), "*")
    await this.#ask(asker, "external_directory", [pattern], [pattern], { workdir: cwd })
  }

  /** Asks OpenCode; whether a person was asked, now or earlier with the answer "always". Throws when it is refused. */
  async #ask(asker: Asker, permission: string, patterns: string[], always: string[], metadata: object): Promise<boolean> {
    if (asker.ask === undefined) return false
    this.#count += 1
    const key = `paned-${process.pid}-${this.#count}`
    const isKnown = this.#prompts.isApproved(permission, always)
    await asker.ask({ permission, patterns, always, metadata: { ...metadata, request: key } })
    return this.#prompts.take(key) || isKnown
  }
}

/** Which requests OpenCode has shown to a person, and what that person allows from now on. */
class PromptLog {
  readonly #asked = new Set<string>()
  /** The permission and patterns of open requests, by OpenCode's id. */
  readonly #open = new Map<string, string[]>()
  readonly #approved = new Set<string>()

  event({ type, properties }: { type: string; properties?: unknown }): void {
    if (!isRecord(properties)) return
    if (type === "permission.asked") {
      const metadata = isRecord(properties["metadata"]) ? properties["metadata"] : {}
      const key = metadata["request"]
      if (typeof key !== "string" || !key.startsWith("paned-")) return
      this.#asked.add(key)
      const always = Array.isArray(properties["always"]) ? properties["always"] : []
      this.#open.set(String(properties["id"]), always.map((pattern) => entry(String(properties["permission"]), String(pattern))))
    } else if (type === "permission.replied") {
      const id = String(properties["requestID"] ?? properties["permissionID"])
      const reply = properties["reply"] ?? properties["response"]
      if (reply === "always") for (const it of this.#open.get(id) ?? []) this.#approved.add(it)
      this.#open.delete(id)
    }
  }

  take(key: string): boolean {
    return this.#asked.delete(key)
  }

  isApproved(permission: string, patterns: string[]): boolean {
    return patterns.every((pattern) => this.#approved.has(entry(permission, pattern)))
  }
}

function entry(permission: string, pattern: string): string {
  return `${permission}\0${pattern}`
}

/** The rules under a key; `*` stands for all keys, and a word alone for everything. */
function select(permission: unknown, key: string): Rules | undefined {
  if (typeof permission === "string") return asRule(permission)
  if (!isRecord(permission)) return undefined
  const found = permission[key] ?? permission["*"]
  if (typeof found === "string") return asRule(found)
  if (!isRecord(found)) return undefined
  const rules = Object.entries(found).flatMap(([pattern, word]) => {
    const rule = asRule(word)
    return rule === undefined ? [] : [[pattern, rule] as const]
  })
  return Object.fromEntries(rules)
}

function asRule(word: unknown): Rule | undefined {
  return word === "allow" || word === "ask" || word === "deny" ? word : undefined
}

/** One set of rules after another: later entries win, so an entry that comes again moves to the end. */
export function merge(first: Rules | undefined, second: Rules | undefined): Rules | undefined {
  if (second === undefined || typeof second === "string") return second ?? first
  if (first === undefined) return second
  const merged = new Map(Object.entries(typeof first === "string" ? { "*": first } : first))
  for (const [pattern, rule] of Object.entries(second)) {
    merged.delete(pattern)
    merged.set(pattern, rule)
  }
  return Object.fromEntries(merged)
}

/** Whether nothing is refused or asked for. */
function isPermissive(rules: Rules | undefined): rules is undefined | "allow" {
  if (rules === undefined) return true
  return typeof rules === "string" ? rules === "allow" : Object.values(rules).every((rule) => rule === "allow")
}

/** The pattern of a rule, as `source: pattern`. */
function rulePattern(rule: string | undefined): string | undefined {
  const at = rule?.indexOf(": ") ?? -1
  return rule === undefined || at === -1 ? undefined : rule.slice(at + 2)
}

/** Whether a folder is another one or below it, with links resolved and compared by component. */
export async function isInside(root: string, folder: string): Promise<boolean> {
  const relative = path.relative(await resolved(root), await resolved(folder))
  return relative === "" || (relative.split(path.sep)[0] !== ".." && !path.isAbsolute(relative))
}

async function resolved(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch {
    return path.resolve(folder)
  }
}

/** A word as it stands in a shell's line. */
function quoted(word: string): string {
  return /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
