/** What a pane asks, whether its agent's screen or a held request asks it, as one type. Pure. */
import type { ApprovalInfo, BlockKind, Dialog, PaneInfo } from "../../api/generated";
import type { Approvals } from "../../state/approvals";

export interface Choice {
  /** Its number from 1: the key that chooses it. */
  number: number;
  label: string;
  /** A shorter label, for rows. */
  short?: string;
  tone: "allow" | "deny" | "neutral";
  /** Whether it holds for later questions too, and so takes a second press. */
  isLasting: boolean;
  /** What is sent: an option's number, or a verdict. */
  answer: number | string;
}

export interface Question {
  /** The id of the dialog or of the approval: an answer is bound to it. */
  key: string;
  paneId: string | null;
  /** `permission`, `plan`, … of a dialog; `approval` of a held request. */
  kind: BlockKind | "approval";
  text: string;
  since: string;
  choices: readonly Choice[];
  /** The held request; none for an agent's own dialog. */
  approval: ApprovalInfo | null;
}

/** Everything that a pane asks, longest waiting first. */
export function questionsOf(pane: PaneInfo, approvals: Approvals): Question[] {
  const dialog = pane.agent?.state === "blocked" ? pane.agent.dialog : null;
  const questions = dialog ? [ofDialog(pane, dialog)] : [];
  for (const approval of approvals.values()) {
    if (approval.paneId !== pane.id) continue;
    // The approval of a dialog is the dialog again.
    if (approval.kind === "dialog" && dialog) continue;
    questions.push(ofApproval(approval));
  }
  return questions.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
}

/** Requests that no pane of the list asks for: those of tokens and extensions. */
export function withoutPane(approvals: Approvals, panes: ReadonlyMap<string, unknown>): Question[] {
  const strays = [...approvals.values()].filter((it) => !it.paneId || !panes.has(it.paneId));
  return strays.sort((a, b) => (a.askedAt < b.askedAt ? -1 : 1)).map(ofApproval);
}

function ofDialog(pane: PaneInfo, dialog: Dialog): Question {
  return {
    key: dialog.id,
    paneId: pane.id,
    kind: dialog.kind,
    text: dialog.text,
    since: pane.agent?.since ?? pane.createdAt,
    choices: dialog.options.map((option, index) => optionOf(index + 1, option)),
    approval: null,
  };
}

function ofApproval(approval: ApprovalInfo): Question {
  const isDialog = approval.kind === "dialog";
  const text = isDialog ? (approval.details?.text ?? approval.subject) : approval.subject;
  const options = (approval.options ?? []).map((option) => optionOf(option.number, option));
  return {
    key: approval.id,
    paneId: approval.paneId ?? null,
    kind: isDialog ? (approval.details?.question ?? "question") : "approval",
    text,
    since: approval.askedAt,
    choices: isDialog ? options : verdicts(approval),
    approval,
  };
}

function optionOf(number: number, option: { label: string; allows?: boolean | null }): Choice {
  const { label, allows } = option;
  const tone = allows === true ? "allow" : allows === false ? "deny" : "neutral";
  const isLasting = allows !== false && lasts(label);
  return { number, label, tone, isLasting, answer: number };
}

function verdicts({ covers }: ApprovalInfo): Choice[] {
  const once = {
    label: "Allow once",
    short: "Allow",
    tone: "allow" as const,
    isLasting: false,
    answer: "allow",
  };
  const pane = {
    label: "Always allow for this pane",
    short: "Always",
    tone: "allow" as const,
    isLasting: true,
    answer: "allow-pane",
  };
  const deny = { label: "Deny", tone: "deny" as const, isLasting: false, answer: "deny" };
  const choices = covers ? [once, pane, deny] : [once, deny];
  return choices.map((choice, index) => ({ ...choice, number: index + 1 }));
}

const LASTING = new Set(["always", "all", "session", "every", "everything", "never"]);

/** Whether an option holds for more than this one time: the rule of `agent:answer`. */
export function lasts(label: string): boolean {
  const text = label.toLowerCase().replaceAll("\u2019", "'");
  return text.includes("don't ask") || text.split(/[^\p{L}\p{N}]+/u).some((it) => LASTING.has(it));
}

/** The lines of a text; those of a diff are marked, if it looks like one. */
export function linesOf(text: string): { text: string; change: "added" | "removed" | null }[] {
  const lines = text.split("\n");
  const changes = lines.map((line) => /^\s*(?:\d+\s*)?([+-])(?!-)/.exec(line)?.[1]);
  const isDiff = changes.includes("+") && changes.includes("-");
  const changeOf = (sign: string | undefined) =>
    sign === "+" ? ("added" as const) : sign === "-" ? ("removed" as const) : null;
  return lines.map((line, index) => ({
    text: line,
    change: isDiff ? changeOf(changes[index]) : null,
  }));
}
