// The parts of paned's API that the plugin uses; `paned list` and `GET /actions` describe all of it.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** The tag of panes that stand for sessions of opencode-pty, also at paned's listener for its clients. */
export const TAG = "opencode-pty"

/** Keys in a pane's meta. All but the last two are those of that listener. */
export const META = {
  description: "opencode.description",
  notify: "opencode.notifyOnExit",
  parent: "opencode.parentSessionId",
  agent: "opencode.parentAgent",
  timeout: "opencode.timeoutSeconds",
  /** The folder of the project: one project's models do not see another's panes. */
  project: "opencode.project",
  /** The id of the notice that is in the chat. */
  noticed: "opencode.noticed",
} as const

export interface Pane {
  id: string
  instance: string
  title: string
  argv: string[]
  cwd: string
  pid?: number
  status: "starting" | "running" | "exited" | "killed" | "lost"
  killing?: boolean
  exitCode?: number
  exitSignal?: string
  timedOut: boolean
  createdAt: string
  meta: Record<string, Json>
  tags: string[]
  lines: number
  bytes: number
  dropped: number
  view?: Json
}

export interface Line {
  n: number
  text: string
  match?: boolean
  open?: boolean
}

export interface Read {
  lines: Line[]
  total: number
  dropped: number | null
  truncated: boolean
}

export interface Waited {
  met: string | null
  timedOut: boolean
  evidence: Line[]
  tail: Line[]
  next: number
  pane: Pane
}

export interface PaneEvent {
  /** Absent for `gap`. */
  id: number | undefined
  name: string
  time: number | undefined
  data: Record<string, Json>
}
