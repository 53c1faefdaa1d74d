/**
 * Measures the host: its size, the time until an extension is ready, and a call of an action beside
 * a bare echo over pipes in the same run.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const HOST = join(HERE, "../dist/host.mjs");
const CALLS = Number(process.argv[2] ?? 5000);
const STARTS = 7;

/** A program that answers lines, one at a time. */
class Program {
  #rest = "";
  #waiting = new Map();

  constructor(...args) {
    this.child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.child.stdout.setEncoding("utf8").on("data", (text) => {
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop();
      for (const line of lines) this.#receive(JSON.parse(line));
    });
  }

  call(id, method, params) {
    const answered = new Promise((resolve) => this.#waiting.set(id, resolve));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return answered;
  }

  end() {
    const ended = new Promise((resolve) => this.child.on("close", resolve));
    this.child.stdin.end();
    return ended;
  }

  #receive({ id, method, result, error }) {
    // A registration.
    if (method !== undefined) return this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: {} })}\n`);
    if (error) throw new Error(error.message);
    this.#waiting.get(id)(result);
    this.#waiting.delete(id);
  }
}

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
const sorted = (values) => values.sort((a, b) => a - b);

async function ready(folder, dataFolder) {
  const since = performance.now();
  const program = new Program(HOST, folder);
  await program.call("start", "initialize", { protocol: 1, name: "bench", version: "1", dataFolder, scopes: [], timeoutMs: 1 });
  return { program, took: performance.now() - since };
}

async function starts(folder, isCached) {
  const took = [];
  const shared = mkdtempSync(join(tmpdir(), "paned-bench-"));
  if (isCached) await (await ready(folder, shared)).program.end();
  for (let count = 0; count < STARTS; count += 1) {
    const own = isCached ? shared : mkdtempSync(join(tmpdir(), "paned-bench-"));
    const start = await ready(folder, own);
    took.push(start.took);
    await start.program.end();
    if (!isCached) rmSync(own, { recursive: true });
  }
  rmSync(shared, { recursive: true });
  return at(sorted(took), 0.5);
}

/** Calls one after the other; the two programs in turn, so that both meet the same machine. */
async function calls(programs, params) {
  const took = programs.map(() => []);
  for (let count = 0; count < CALLS; count += 1) {
    for (const [index, program] of programs.entries()) {
      const since = performance.now();
      await program.call(count, "runAction", params);
      if (count >= CALLS / 10) took[index].push(performance.now() - since);
    }
  }
  return took.map(sorted);
}

const fixtures = join(HERE, "../test/fixtures");
console.log(`bundle               ${(statSync(HOST).size / 1e6).toFixed(2)} MB`);
for (const [what, folder] of [["TypeScript", "typescript"], ["with zod 4", "zod4"]]) {
  const cold = await starts(join(fixtures, folder), false);
  const cached = await starts(join(fixtures, folder), true);
  console.log(`ready, ${what.padEnd(12)}  ${cold.toFixed(0)} ms first, ${cached.toFixed(0)} ms from the cache`);
}
const dataFolder = mkdtempSync(join(tmpdir(), "paned-bench-"));
const { program: host } = await ready(join(fixtures, "bench"), dataFolder);
const echo = new Program(join(HERE, "echo.mjs"));
const [bare, action] = await calls([echo, host], { action: "bench:echo", params: { text: "x" }, caller: { label: "owner" } });
for (const [what, times] of [["bare echo", bare], ["action", action]]) {
  const micros = (share) => `${(at(times, share) * 1000).toFixed(0)} µs`;
  console.log(`${what.padEnd(20)} p50 ${micros(0.5)}, p99 ${micros(0.99)}`);
}
console.log(`action / bare echo   ${(at(action, 0.5) / at(bare, 0.5)).toFixed(2)}`);
await Promise.all([host.end(), echo.end()]);
rmSync(dataFolder, { recursive: true });
