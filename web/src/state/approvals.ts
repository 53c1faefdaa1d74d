/** The open approvals by id. Pure. */
import type { ApprovalInfo } from "../api/generated";
import type { ServerEvent } from "../lib/protocol";

export type Approvals = ReadonlyMap<string, ApprovalInfo>;

export const noApprovals: Approvals = new Map();

export function fromList(list: readonly ApprovalInfo[]): Approvals {
  const open = list.filter((approval) => approval.status === "open");
  return new Map(open.map((approval) => [approval.id, approval]));
}

export function applyEvent(approvals: Approvals, { name, payload }: ServerEvent): Approvals {
  if (name === "approval:asked") {
    const approval = { status: "open", waiting: true, ...payload } as ApprovalInfo;
    return new Map(approvals).set(approval.id, approval);
  }
  if (name !== "approval:answered" || !approvals.has(payload.id)) return approvals;
  const next = new Map(approvals);
  next.delete(payload.id);
  return next;
}

/** The oldest open approval of a pane. */
export function oldestOf(approvals: Approvals, paneId: string): ApprovalInfo | null {
  let oldest: ApprovalInfo | null = null;
  for (const approval of approvals.values()) {
    if (approval.paneId !== paneId) continue;
    if (!oldest || approval.askedAt < oldest.askedAt) oldest = approval;
  }
  return oldest;
}
