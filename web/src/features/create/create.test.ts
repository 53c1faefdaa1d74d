import { expect, test } from "vitest";
import { agentPane, at, paneOf } from "../../state/fixtures";
import { emptyForm, recentFolders, requestOf, suggestedProfiles } from "./form";
import { argvOf, isForShell } from "./words";

const form = emptyForm("codex", "/home/ann/api");

test("an agent is started with what was filled in and nothing else", () => {
  expect(requestOf(form)).toEqual({
    name: "agent:create",
    params: { waitReady: false, profile: "codex", permissions: "ask", cwd: "/home/ann/api" },
  });
});

test("worktree, branch, prompt and permissions are sent", () => {
  const full = { ...form, worktree: true, prompt: "go", permissions: "auto" as const, id: " ui " };
  expect(requestOf(full).params).toMatchObject({
    worktree: true,
    prompt: "go",
    permissions: "auto",
    id: "ui",
  });
  expect(requestOf({ ...full, branch: "fix" }).params).toMatchObject({
    worktree: { branch: "fix" },
  });
});

test("a field of the dialog wins over one of More, which wins over the defaults", () => {
  const { params } = requestOf({ ...form, more: { cwd: "/x", waitReady: true, model: "small" } });
  expect(params).toMatchObject({ cwd: "/home/ann/api", waitReady: true, model: "small" });
});

test("a program without a command is the login shell", () => {
  const shell = { ...form, kind: "program" as const };
  expect(requestOf(shell)).toEqual({ name: "pane:new", params: { cwd: "/home/ann/api" } });
  expect(requestOf({ ...shell, command: "npm test" }).params).toMatchObject({
    argv: ["npm", "test"],
  });
});

test("command lines are split, or given to a shell", () => {
  expect(argvOf(`git commit -m 'two words' "and" a"b"c`)).toEqual([
    "git",
    "commit",
    "-m",
    "two words",
    "and",
    "abc",
  ]);
  expect(argvOf("  ")).toEqual([]);
  for (const line of [
    "a | b",
    "a && b",
    "echo $HOME",
    "ls *.ts",
    "A=1 b",
    "it's",
    'a "$b"',
    "~/x",
  ]) {
    expect(argvOf(line)).toEqual(["sh", "-c", line]);
  }
  expect(isForShell("npm test")).toBe(false);
});

test("recent folders come first, then those of panes, once each", () => {
  const panes = [
    paneOf("a", { cwd: "/a", createdAt: at(1) }),
    paneOf("b", { cwd: "/b", createdAt: at(2) }),
    paneOf("c", { cwd: "/x", createdAt: at(3) }),
  ];
  expect(recentFolders(["/x"], panes)).toEqual(["/x", "/b", "/a"]);
});

test("profiles are suggested that exist", () => {
  const profiles = ["claude", "codex", "gemini"].map((name) => ({ name, command: [name] }));
  const panes = [agentPane("a", "ready")];
  expect(suggestedProfiles(profiles, ["gone", "gemini"], panes)).toEqual([
    "gemini",
    "codex",
    "claude",
  ]);
});
