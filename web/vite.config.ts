/** How the page is built: hashed files, nothing inline, one chunk for each route. */
import react from "@vitejs/plugin-react";
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

export default defineConfig({
  base: "./",
  plugins: [react()],
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
