/**
 * Shows a notification when an agent asks a question (`blocked`) or has finished its turn (`ready`).
 *
 * options.json: { "states": ["blocked", "ready"], "command": ["my-notifier", "{title}", "{text}"] }
 *
 * Only a state that lasts half a second is shown: the text of a question often comes a moment after
 * the question, and what an extension answers at once needs no notification.
 *
 * It runs notify-send on Linux and osascript on macOS; without either, it rings the bell of the
 * terminal in which the server was started. Texts of an agent are arguments of the program and are
 * never read by a shell.
 */
import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { promisify } from "node:util";

import type { Events, ExtensionAPI } from "@paned/extension";

export const name = "notify-desktop";

const run = promisify(execFile);
const LONGEST = 200;
const SETTLE_MS = 500;
/** A state that is older is no news: paned repeats what happened while this was not running. */
const OLDEST_MS = 60_000;

/** The script gets both texts as arguments, so that nothing in them is code. */
const APPLE_SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";

/** Programs that show a notification, in the order in which they are tried. */
const COMMANDS: Record<string, string[]> = {
  darwin: ["osascript", "-e", APPLE_SCRIPT, "{title}", "{text}"],
  default: ["notify-send", "--app-name=paned", "--", "{title}", "{text}"],
};

export default function notifyDesktop(paned: ExtensionAPI): void {
  const { states = ["blocked", "ready"], command } = paned.options as { states?: string[]; command?: string[] };
  const argv = command ?? COMMANDS[process.platform] ?? COMMANDS.default!;
  const waiting = new Map<string, NodeJS.Timeout>();

  paned.on("agent:state", (change, { time }) => {
    const { paneId, to } = change;
    clearTimeout(waiting.get(paneId));
    waiting.delete(paneId);
    if (!states.includes(to) || !isNews(change) || Date.now() - Date.parse(time) > OLDEST_MS) return;
    const settled = () => {
      waiting.delete(paneId);
      void notify(change);
    };
    waiting.set(paneId, setTimeout(settled, SETTLE_MS));
  });

  async function notify(change: Events["agent:state"]): Promise<void> {
    const { title, text } = describe(change);
    const [program, ...args] = argv.map((arg) => arg.replace("{title}", () => title).replace("{text}", () => text));
    try {
      await run(program!, args, { timeout: paned.timeoutMs / 2 });
    } catch (error) {
      paned.log.debug(`${program} failed, so the bell is rung:`, error);
      await ringBell();
    }
  }
}

/** An agent that becomes ready after its start has finished nothing. */
function isNews({ from, to }: Events["agent:state"]): boolean {
  return to !== "ready" || from === "busy" || from === "blocked";
}

function describe({ paneId, to, kind, dialog }: Events["agent:state"]): { title: string; text: string } {
  if (to !== "blocked") return { title: `${paneId} is ${to}`, text: "Its turn is over." };
  const question = (dialog?.text ?? "").replace(/\s+/g, " ").trim();
  return { title: `${paneId} asks (${kind ?? "question"})`, text: question.slice(0, LONGEST) || "Look at its screen." };
}

async function ringBell(): Promise<void> {
  // Without a terminal, there is no bell to ring.
  const terminal = await open("/dev/tty", "w").catch(() => undefined);
  await terminal?.write("\u0007").catch(() => undefined);
  await terminal?.close();
}
