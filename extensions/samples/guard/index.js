/**
 * Refuses to start programs outside of some folders. It is marked `required`: while it does not
 * answer, nothing can be started.
 *
 * options.json: { "folders": ["~/work"] }; default: the folder in which the server was started.
 *
 * A guard rail, not a sandbox: a program that was started inside may go where its user may go.
 */
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

export const name = "guard";

/** @param {import("@paned/extension").ExtensionAPI} paned */
export default function guard(paned) {
  const { folders = [paned.cwd] } = /** @type {{ folders?: string[] }} */ (paned.options);
  const allowed = folders.map(real);

  // Every action that starts a program.
  const spawns =
    "pane:new,pane:run,pane:restart,agent:create,agent:restart,shell:run,session:start,subagent:opened";
  paned.beforeAction(spawns, async ({ params }) => {
    const cwd = await folderOf(paned, params);
    if (allowed.some((folder) => isBelow(cwd, folder))) return;
    return { cancel: true, reason: `${cwd} is outside of ${allowed.join(", ")}; set \`cwd\`` };
  });
}

/**
 * Where an action would start a program: the folder that it names, that of the pane it names, or
 * the home folder.
 *
 * @param {import("@paned/extension").ExtensionAPI} paned
 * @param {{ cwd?: string | null, paneId?: string, env?: Record<string, string> }} params
 */
async function folderOf(paned, { cwd, paneId, env }) {
  if (typeof cwd === "string") return real(cwd);
  if (paneId === undefined) return real(env?.HOME ?? homedir());
  const pane = await paned.executeAction("pane:get", { paneId });
  return real(pane.cwd);
}

/** With `~` and symbolic links resolved; a folder that does not exist yet has its name. @param {string} path */
function real(path) {
  const whole = resolve(path.replace(/^~(?=\/|$)/, homedir()));
  try {
    return realpathSync(whole);
  } catch {
    return whole;
  }
}

/** @param {string} path @param {string} folder */
function isBelow(path, folder) {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
