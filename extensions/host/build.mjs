/** Bundles the host and all that it needs into one file, `dist/host.mjs`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "../node_modules");

/** What the bundle holds of others, whose licences ask to be shown. */
const BUNDLED = ["jiti", "zod", "zod-to-json-schema"];

/** Packages whose inner files the bundle takes, and one file of zod 3 of which it takes names only. */
const resolution = {
  name: "resolution",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^jiti\/dist\// }, ({ path }) => ({ path: join(modules, path) }));
    onResolve({ filter: /^zod\/v3$/ }, () => ({ path: "zod/v3", namespace: "names" }));
    // Each member of that enum has its own name as its value.
    const contents = "export const ZodFirstPartyTypeKind = new Proxy({}, { get: (_, name) => name });";
    onLoad({ filter: /.*/, namespace: "names" }, () => ({ contents }));
  },
};

function licences() {
  const texts = BUNDLED.map((name) => {
    const folder = join(modules, name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}`;
  });
  return `/*\nThis file contains:\n\n${texts.join("\n\n").replaceAll("*/", "* /")}\n*/`;
}

const result = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  minify: true,
  keepNames: true,
  legalComments: "none",
  banner: {
    js:
      'import{createRequire as __createRequire}from"node:module";import{fileURLToPath as __toPath}from"node:url";' +
      "const require=__createRequire(import.meta.url),__filename=__toPath(import.meta.url)," +
      '__dirname=__toPath(new URL(".",import.meta.url));',
  },
  footer: { js: licences() },
  plugins: [resolution],
  write: false,
  metafile: process.argv.includes("--sizes"),
});
mkdirSync(join(here, "dist"), { recursive: true });
writeFileSync(join(here, "dist/host.mjs"), result.outputFiles[0].contents);
if (result.metafile) {
  const [{ inputs }] = Object.values(result.metafile.outputs);
  const sizes = Object.entries(inputs).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput);
  for (const [path, { bytesInOutput }] of sizes.slice(0, 20)) console.log(`${bytesInOutput}\t${path}`);
}
