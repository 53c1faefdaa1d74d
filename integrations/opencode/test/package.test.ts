// The package as it is published: packed, installed into an empty folder without network, and loaded.

import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { test } from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))

test("the packed plugin installs offline, needs nothing else, and exports what OpenCode loads", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "paned-package-"))
  t.after(() => rmSync(folder, { recursive: true }))
  const npm = (cwd: string, ...args: string[]) =>
    execFileSync("npm", [...args, "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd, encoding: "utf8", timeout: 120_000 })
  const [packed] = JSON.parse(npm(ROOT, "pack", "--json", "--pack-destination", folder)) as [{ filename: string; files: { path: string }[] }]
  const files = packed.files.map((file) => file.path).sort()
  assert.deepEqual(files, ["LICENSE", "README.md", "dist/index.js", "index.d.ts", "package.json"])
  writeFileSync(path.join(folder, "package.json"), '{ "private": true, "type": "module" }')
  npm(folder, "install", `./${packed.filename}`)
  const installed = path.join(folder, "node_modules/paned-opencode")
  const manifest = JSON.parse(readFileSync(path.join(installed, "package.json"), "utf8")) as { dependencies?: object }
  assert.equal(manifest.dependencies, undefined)

  const entry = path.join(folder, "entry.js")
  writeFileSync(entry, 'export * as main from "paned-opencode"\nexport * as sub from "paned-opencode/server"\n')
  const { main, sub } = (await import(pathToFileURL(entry).href)) as Record<string, Record<string, unknown>>
  assert.deepEqual(Object.keys(main ?? {}).sort(), ["PTYPlugin", "server"])
  // OpenCode calls each export once: two names for one function are one plugin.
  assert.equal(new Set([...Object.values(main ?? {}), ...Object.values(sub ?? {})]).size, 1)

  const plugin = main?.["PTYPlugin"] as (input: object, options: object) => Promise<{ tool: object; config: (config: object) => Promise<void> }>
  const client = { app: { log: async () => ({}) } }
  const hooks = await plugin({ client, directory: folder, serverUrl: new URL("http://localhost:1") }, { program: "paned-that-is-not-there" })
  assert.deepEqual(Object.keys(hooks.tool).sort(), ["pty_kill", "pty_list", "pty_read", "pty_spawn", "pty_wait", "pty_write"])
  const config: { command?: Record<string, unknown> } = { command: { mine: {} } }
  await hooks.config(config)
  assert.deepEqual(Object.keys(config.command ?? {}).sort(), ["mine", "pty-open-background-spy", "pty-show-server-url"])
})
