/** What the dialog for a new agent or pane holds, and the action that it becomes. Pure. */
import type { Actions, PaneInfo, ProfileSummary } from "../../api/generated";
import { argvOf } from "./words";

export interface Form {
  kind: "agent" | "program";
  profile: string;
  /** A command line; the login shell when it is empty. */
  command: string;
  cwd: string;
  id: string;
  worktree: boolean;
  branch: string;
  prompt: string;
  permissions: "ask" | "auto";
  /** The other parameters, by name. */
  more: Readonly<Record<string, unknown>>;
}

export const SHOWN: Record<Form["kind"], ReadonlySet<string>> = {
  agent: new Set(["profile", "cwd", "id", "worktree", "prompt", "permissions"]),
  program: new Set(["argv", "cwd", "id"]),
};

export function emptyForm(profile: string, cwd: string): Form {
  return {
    kind: "agent",
    profile,
    command: "",
    cwd,
    id: "",
    worktree: false,
    branch: "",
    prompt: "",
    permissions: "ask",
    more: {},
  };
}

export type Request =
  | { name: "agent:create"; params: Actions["agent:create"]["params"] }
  | { name: "pane:new"; params: Actions["pane:new"]["params"] };

/** What is sent: nothing for fields that are empty. */
export function requestOf(form: Form): Request {
  const common = { ...text("cwd", form.cwd), ...text("id", form.id) };
  if (form.kind === "program") {
    const argv = argvOf(form.command);
    const params = { ...form.more, ...common, ...(argv.length > 0 ? { argv } : {}) };
    return { name: "pane:new", params: params as Actions["pane:new"]["params"] };
  }
  const branch = form.branch.trim();
  const worktree = form.worktree ? { worktree: branch ? { branch } : true } : {};
  const prompt = form.prompt.trim() ? { prompt: form.prompt } : {};
  const { profile, permissions } = form;
  // The pane is opened at once; its state says when it is ready.
  const wait = { waitReady: false };
  const params = { ...wait, ...form.more, ...common, profile, permissions, ...worktree, ...prompt };
  return { name: "agent:create", params: params as Actions["agent:create"]["params"] };
}

function text(name: string, value: string): Record<string, string> {
  const trimmed = value.trim();
  return trimmed ? { [name]: trimmed } : {};
}

const MOST_FOLDERS = 12;

/** Folders that were used, the latest first, then those of panes. */
export function recentFolders(used: readonly string[], panes: Iterable<PaneInfo>): string[] {
  const latest = [...panes].sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const all = [...used, ...latest.map((pane) => pane.cwd)];
  return [...new Set(all)].slice(0, MOST_FOLDERS);
}

const FIRST = ["codex", "claude", "opencode"];
const MOST_PROFILES = 4;

/** The profiles to offer as buttons: those used last, those of running agents, the usual ones. */
export function suggestedProfiles(
  profiles: readonly ProfileSummary[],
  used: readonly string[],
  panes: Iterable<PaneInfo>,
): string[] {
  const known = new Set(profiles.map((it) => it.name));
  const running = [...panes].flatMap((pane) => (pane.agent ? [pane.agent.profile] : []));
  const all = [...used, ...running, ...FIRST].filter((name) => known.has(name));
  return [...new Set(all)].slice(0, MOST_PROFILES);
}
