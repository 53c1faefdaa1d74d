/** How the page is built: hashed files, nothing inline, one chunk for each route. */
import { existsSync, readFileSync } from "node:fs";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** A running paned for `npm run dev`: its address, as `paned server status` shows it. */
const server = process.env.PANED_URL ?? "http://127.0.0.1:7263";

/** paned checks `Host` and `Origin`, so requests of the development server carry its own. */
const proxied = { target: server, changeOrigin: true, headers: { origin: server } };

const proxy = {
  "/action": proxied,
  "/actions": proxied,
  "/events": proxied,
  "/health": proxied,
  "/sign-in": proxied,
  "/ws": { ...proxied, ws: true },
};

/** Ships the licences of what is in the page, fonts too, as `licences.txt`. */
function licences(): Plugin {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const textOf = (name: string) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = ["LICENSE", "LICENSE.md", "license"].find((it) => existsSync(`${folder}/${it}`));
    const text = file ? readFileSync(`${folder}/${file}`, "utf8") : `Licence: ${license}`;
    return `${name} ${version}\n\n${text.trim()}\n`;
  };
  return {
    name: "licences",
    apply: "build",
    generateBundle() {
      const source = Object.keys(dependencies)
        .map(textOf)
        .join(`\n${"-".repeat(72)}\n\n`);
      this.emitFile({ type: "asset", fileName: "licences.txt", source });
    },
  };
}

export default defineConfig({
  base: "./",
  plugins: [react(), licences()],
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy },
  preview: { proxy },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"], css: false },
});
