/** The events that paned records, and their payloads. A test compares the names with the program. */
import type { AgentState, BlockKind, Dialog, PaneStatus, StateSource } from "./actions.js";

/** What every event about a pane has. */
export interface PaneEvent {
  paneId: string;
  /** One life of the name `paneId`: a later pane of that name has another. */
  instance?: string;
}

/** A refusal, as in answers of the HTTP API. */
export interface ErrorInfo {
  error: string;
  code: string;
  details?: any;
}

interface ActionEvent {
  actionName: string;
  /** Secrets are left out. */
  params: any;
  /** The label of the caller; of an extension `ext:NAME`. */
  caller: string;
  /** The id of the caller's grant. */
  grant?: string;
  /** What allowed the call. */
  allowedBy?: AllowedBy;
}

/** What allowed a call: the scope, and the rule and the approval of a person if there were any. */
export interface AllowedBy {
  scope: string;
  rule?: string;
  approval?: string;
  /** Who answered the approval. */
  by?: string;
  remembered?: boolean;
}

/** An approval, as its events name it. */
interface ApprovalEvent {
  id: string;
  kind: "rule" | "action" | "dialog";
  subject: string;
  action?: string;
  /** The caller that asks. */
  caller: string;
  paneId?: string;
  instance?: string;
  rule?: string;
}

/** Payloads by the name of the event. */
export interface Events {
  /** An action is about to run. */
  "action:start": ActionEvent;
  /** An action has ended; `result` is left out for questions. */
  "action:success": ActionEvent & { result?: any };
  "action:error": ActionEvent & { errorInfo: ErrorInfo };
  /** An extension offers an action. */
  "action:added": { actionName: string; scope: string; kind: string };
  "action:removed": { actionName: string };
  /** A handler of an extension failed or took too long. */
  "handler:error": { source: string; event: string; error: string };

  /** A request, or an agent's question, waits for a person. `approval:get` has all of it. */
  "approval:asked": ApprovalEvent & { covers?: string; details?: any; askedAt: string; expiresAt?: string };
  /** It has an answer, or has ended without one: once for each approval. */
  "approval:answered": ApprovalEvent & {
    outcome: "allowed" | "denied" | "expired" | "withdrawn" | "answered";
    by: string;
    reason?: string;
    remembered: boolean;
    delivered: boolean;
  };

  "pane:created": PaneEvent & { restartedFrom?: string };
  "pane:exited": PaneEvent & { exitCode: number | null; exitSignal?: string; status: PaneStatus; timedOut: boolean };
  /** It was ended by an action; `pane:exited` follows. */
  "pane:killed": PaneEvent;
  /** A program of the pane did not end when the pane was closed. */
  "pane:survived": PaneEvent & { survivors: any };
  "pane:removed": PaneEvent;
  /** Its keeper is gone, so how its program ended is not known. */
  "pane:lost": PaneEvent;
  /** A pane that was thought lost is there. */
  "pane:found": PaneEvent;
  /** It has a new name. */
  "pane:moved": PaneEvent & { newId: string };
  "pane:title": PaneEvent & { title: string };
  "pane:bell": PaneEvent & { count: number };
  "pane:resized": PaneEvent & { size: { cols: number; rows: number }; offset?: number };
  "pane:size-held": PaneEvent & { holder: string | null };
  /** A message for the pane `to`, if that is not an agent. */
  "pane:notice": PaneEvent & { to?: string | null; text: string };
  "pane:restarted": PaneEvent & {
    reason: string;
    previousInstance: string;
    previousId: string | null;
    restarts: number;
  };
  "pane:restart-scheduled": PaneEvent & { reason: string; error?: string; attempt: number; at: string };
  "pane:restart-cancelled": PaneEvent;
  "pane:restart-gave-up": PaneEvent & { reason: string; error?: string; attempts: number };
  "pane:activated": PaneEvent;
  "pane:shown": PaneEvent & { session: string; tmuxPane: string; window?: number };
  "pane:hidden": PaneEvent;

  "agent:created": PaneEvent & { profile: string };
  /** An agent's state or its question has changed. */
  "agent:state": PaneEvent & {
    profile: string;
    from: AgentState;
    to: AgentState;
    kind?: BlockKind;
    dialog?: Dialog;
    until?: string;
    source: StateSource;
    confidence: number;
    ageMs: number;
  };
  /** The outcome of a message to an agent is known. */
  "agent:delivered": PaneEvent & { messageId: string; outcome: string | null; evidence: any };
  "agent:restarted": PaneEvent & { oldId: string; attempt?: number };
  "agent:gave-up": PaneEvent & { attempts: number; error?: string };
  "agent:worktree-removed": PaneEvent & { path: string; branch: string; keepsBranch: boolean };
  "agent:worktree-kept": PaneEvent & { path: string; branch: string; why: any };

  "layout:changed": { session: string };
  /** A pane waits for space. */
  "layout:deferred": PaneEvent & { reason: string };
  "layout:expired": PaneEvent & { reason: string };

  "session:started": { name: string };
  "session:stopped": { name: string };
  "session:attached": { name: string; attached: number };
  "session:detached": { name: string; attached: number };

  "grant:revoked": { id: string };
  /** A device was signed in with a code. */
  "grant:signed-in": { id: string; label: string };

  "server:started": Record<string, never>;
  "server:shutdown": Record<string, never>;

  /** The journal was damaged, and its readable events were recovered. */
  "journal:recovered": { cause: string; kept: number; last: number; aside: string[] };
  "journal:withdrawn": Record<string, never>;
  /** Events that could not be written. */
  "journal:dropped": { events: number };
  /** Events that the journal no longer has. */
  gap: { firstAvailable: number; lastAvailable: number };
}
