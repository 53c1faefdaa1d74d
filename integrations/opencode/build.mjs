// Builds the plugin: one file without imports beside Node's own, so that OpenCode has nothing to fetch for it.
// With `--tests`, also each source and test as a module of its own in build/, where the tests run.
import { readdirSync, rmSync } from "node:fs"

import { build } from "esbuild"

process.chdir(import.meta.dirname)
const common = { platform: "node", target: "node20", format: "esm", logLevel: "warning" }

await build({
  ...common,
  entryPoints: ["src/index.ts"],
  outfile: "dist/index.js",
  bundle: true,
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "inline",
})

if (process.argv.includes("--tests")) {
  rmSync("build", { recursive: true, force: true })
  const files = (folder) => readdirSync(folder).map((name) => `${folder}/${name}`)
  const entryPoints = [...files("src"), ...files("test")].filter((path) => path.endsWith(".ts"))
  await build({ ...common, entryPoints, outdir: "build", outbase: "." })
}
