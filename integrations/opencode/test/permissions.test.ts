import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { test } from "node:test"

import { PanedError } from "../src/client.js"
import { isInside, merge, Permissions, type Verdict } from "../src/permissions.js"

const CONFIG = { permission: { bash: { "*": "allow", "rm *": "deny", "git push *": "ask" } } }

const ALLOW: Verdict = { decision: "allow", reason: "", steps: [] }
const asking = (reason: string): Verdict => ({ decision: "ask", reason, steps: [] })

interface Asked {
  permission: string
  patterns: string[]
}

/** Permissions with a judge that always says the same, in an OpenCode that asks a person for these patterns. */
function permissions(verdict: Verdict | Error, prompts: string[] = [], reply: "once" | "always" | "reject" = "once", config: object = CONFIG) {
  const asked: Asked[] = []
  const warned: string[] = []
  const judge = async () => {
    if (verdict instanceof Error) throw verdict
    return verdict
  }
  const it = new Permissions(judge, (message) => warned.push(message))
  it.configure(config)
  const asker = {
    agent: "build",
    sessionID: "ses_1",
    directory: tmpdir(),
    ask: async (request: { permission: string; patterns: string[]; always: string[]; metadata: Record<string, unknown> }) => {
      asked.push({ permission: request.permission, patterns: request.patterns })
      if (!request.patterns.some((pattern) => prompts.includes(pattern))) return
      it.event({ type: "permission.asked", properties: { ...request, id: "per_1", sessionID: "ses_1" } })
      it.event({ type: "permission.replied", properties: { requestID: "per_1", reply } })
      if (reply === "reject") throw new Error("The user rejected permission to use this specific tool call.")
    },
  }
  return { it, asker, asked, warned }
}

test("a denied command is refused with the reason, and OpenCode is not asked", async () => {
  const { it, asker, asked, warned } = permissions({ decision: "deny", reason: "rule `rm *`", steps: [] })
  await assert.rejects(it.checkSpawn(asker, ["rm", "-rf", "x"], tmpdir()), /denied: Command "rm -rf x" is explicitly denied .*rule `rm \*`/)
  assert.deepEqual(asked, [])
  assert.deepEqual(warned, ["denied: rm -rf x"])
})

test("what is allowed by paned is still OpenCode's to refuse", async () => {
  const { it, asker, asked } = permissions(ALLOW)
  await it.checkSpawn(asker, ["ls", "a b"], tmpdir())
  assert.deepEqual(asked, [{ permission: "bash", patterns: ["ls 'a b'"] }])
})

test("a person's answer decides where the rules ask", async () => {
  const ask = asking("rule `git push *`")
  const yes = permissions(ask, ["git push"])
  await yes.it.checkLine(yes.asker, "git push", tmpdir())
  const no = permissions(ask, ["git push"], "reject")
  await assert.rejects(no.it.checkLine(no.asker, "git push", tmpdir()), /rejected permission/)
})

test("where OpenCode sees no reason to ask, the rule's own text makes it ask", async () => {
  const step = { command: "/usr/bin/git push", decision: "ask" as const, rule: "permission.bash: git push *" }
  const { it, asker, asked } = permissions({ ...asking("behind sudo"), steps: [step] }, ["git push *"])
  await it.checkLine(asker, "sudo /usr/bin/git push", tmpdir())
  assert.deepEqual(
    asked.map((request) => request.patterns),
    [["sudo /usr/bin/git push", "/usr/bin/git push"], ["git push *"]],
  )
})

test("without any prompt it is refused with what to change", async () => {
  const { it, asker } = permissions(asking("it cannot be parsed"))
  await assert.rejects(it.checkLine(asker, "if (", tmpdir()), /requires permission \(it cannot be parsed\).*permission\.bash/)
})

test("an answer for always is remembered for the same line only", async () => {
  const ask = asking("")
  const prompts = ["git push"]
  const { it, asker } = permissions(ask, prompts, "always")
  await it.checkLine(asker, "git push", tmpdir())
  prompts.length = 0
  await it.checkLine(asker, "git push", tmpdir())
  await assert.rejects(it.checkLine(asker, "git push -f", tmpdir()), /requires permission/)
})

test("a prompt for another request does not count", async () => {
  const { it, asker } = permissions(asking(""))
  it.event({ type: "permission.asked", properties: { id: "per_9", permission: "bash", always: ["git push"], metadata: { request: "other" } } })
  it.event({ type: "permission.replied", properties: { requestID: "per_9", reply: "always" } })
  await assert.rejects(it.checkLine(asker, "git push", tmpdir()), /requires permission/)
})

test("a server that cannot judge is no yes", async () => {
  const missing = new PanedError("not_found", "no action `permission:test`")
  const { it, asker } = permissions(missing)
  await assert.rejects(it.checkLine(asker, "ls", tmpdir()), /cannot judge rules/)
  const free = permissions(missing, [], "once", { permission: { bash: { "*": "allow" } } })
  await free.it.checkLine(free.asker, "ls", tmpdir())
})

test("an agent's rules come after those for all", () => {
  const { it } = permissions(ALLOW)
  it.configure({
    permission: { bash: { "*": "ask", "ls *": "allow" }, external_directory: "deny" },
    agent: { build: { permission: { bash: { "*": "allow" } } }, plan: { tools: { bash: false } }, free: { permission: "allow" } },
  })
  assert.deepEqual(Object.entries(it.rules("build") ?? {}), [["ls *", "allow"], ["*", "allow"]])
  assert.equal(it.rules("plan"), "deny")
  assert.equal(it.rules("free"), "allow")
  assert.deepEqual(it.rules("other"), { "*": "ask", "ls *": "allow" })
  assert.deepEqual(merge("ask", { "ls *": "allow" }), { "*": "ask", "ls *": "allow" })
  assert.equal(merge({ "*": "ask" }, undefined)?.constructor, Object)
})

test("shell disabled for all means no terminals", async () => {
  const { it, asker } = permissions(ALLOW, [], "once", { permission: { bash: "deny" } })
  await assert.rejects(it.checkSpawn(asker, ["ls"], tmpdir()), /All bash commands are disabled by user configuration/)
})

test("folders are compared by component, with links resolved", async () => {
  const root = mkdtempSync(path.join(tmpdir(), "paned-folders-"))
  for (const name of ["proj/sub", "proj-evil", "proj/..x"]) mkdirSync(path.join(root, name), { recursive: true })
  symlinkSync(path.join(root, "proj-evil"), path.join(root, "proj/link"))
  const project = path.join(root, "proj")
  const table: [string, boolean][] = [
    ["proj", true],
    ["proj/sub", true],
    ["proj/..x", true],
    ["proj/sub/../sub", true],
    ["proj-evil", false],
    ["proj/../proj-evil", false],
    ["proj/link", false],
    [".", false],
  ]
  for (const [name, inside] of table) assert.equal(await isInside(project, path.join(root, name)), inside, name)
  rmSync(root, { recursive: true })
})

test("a folder outside the project is asked for under its own permission", async () => {
  const { it, asker, asked } = permissions(ALLOW)
  await it.checkSpawn(asker, ["ls"], "/")
  assert.deepEqual(asked[0], { permission: "external_directory", patterns: ["/*"] })
})
