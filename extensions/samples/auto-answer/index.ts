/**
 * Answers questions of agents by rules. The first rule that fits is used; without one the question
 * stays for a person.
 *
 * options.json:
 * { "rules": [ { "kind": "trust", "profile": "codex", "folders": ["~/work"], "answer": "yes" } ] }
 *
 * `kind` is the kind of the question (trust, permission, plan, …; default trust), `profile` the
 * agent's program (default any), `folders` where it runs (itself or below), `answer` is `yes`, `no`,
 * `always`, or the text or number of an option (default yes). Without options nothing is answered.
 */
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, relative, resolve } from "node:path";

import type { Events, ExtensionAPI } from "@paned/extension";

export const name = "auto-answer";

interface Rule {
  kind?: string;
  profile?: string;
  folders: string[];
  answer?: string | number;
}

export default function autoAnswer(paned: ExtensionAPI): void {
  const rules = readRules(paned.options.rules ?? []);
  if (rules.length === 0) paned.log.warn("there are no rules, so nothing is answered; see options.json in index.ts");

  paned.on("agent:state", async (change) => {
    const { paneId, to, dialog } = change;
    if (to !== "blocked" || !dialog) return;
    const { cwd } = await paned.executeAction("pane:get", { paneId });
    const rule = await findRule(rules, change, cwd);
    if (!rule) return;
    const option = rule.answer ?? "yes";
    // Refused if the question has changed meanwhile, or if a person was faster.
    const params = { paneId, dialogId: dialog.id, option };
    try {
      const { answered } = await paned.executeAction("agent:answer", params);
      paned.log.info(`answered the ${dialog.kind} question of ${paneId} in ${cwd} with ${option}: ${answered}`);
      await paned.emit("answered", { paneId, kind: dialog.kind, option, answered });
    } catch (refusal) {
      paned.log.warn(`the ${dialog.kind} question of ${paneId} stays open: ${(refusal as Error).message}`);
    }
  });
}

function readRules(given: unknown): Rule[] {
  if (!Array.isArray(given)) throw new Error("`rules` in options.json must be a list");
  for (const rule of given) {
    const { folders } = rule ?? {};
    if (!Array.isArray(folders) || folders.some((folder) => typeof folder !== "string")) {
      throw new Error("each rule in options.json needs `folders`, a list of paths");
    }
  }
  return given;
}

async function findRule(rules: Rule[], { profile, dialog }: Events["agent:state"], cwd: string): Promise<Rule | undefined> {
  for (const rule of rules) {
    if ((rule.kind ?? "trust") !== dialog?.kind) continue;
    if (rule.profile !== undefined && rule.profile !== profile) continue;
    for (const folder of rule.folders) if (await isBelow(cwd, folder)) return rule;
  }
  return undefined;
}

/** Whether a path is a folder or below it, with symbolic links resolved. */
async function isBelow(path: string, folder: string): Promise<boolean> {
  const real = (path: string) => realpath(path).catch(() => undefined);
  const from = await real(resolve(folder.replace(/^~(?=\/|$)/, homedir())));
  const to = await real(path);
  if (from === undefined || to === undefined) return false;
  const way = relative(from, to);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
