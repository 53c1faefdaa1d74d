// The plugin's options, as they stand in OpenCode's configuration: `["paned-opencode", { … }]`.

/** When sub-agents get panes: `auto` where the user can see them, in tmux. */
export type SubagentPanes = "auto" | boolean

export interface Settings {
  /** The `paned` program. */
  program: string
  subagents: SubagentPanes
}

/** Reads the options; a wrong one is a sentence, not a guess. */
export function readSettings(options: Record<string, unknown> = {}): Settings {
  const { program = "paned", subagents = "auto", ...others } = options
  const unknown = Object.keys(others)
  if (unknown.length > 0) {
    throw new Error(`paned-opencode: unknown option \`${unknown[0]}\`; there are \`program\` and \`subagents\``)
  }
  if (typeof program !== "string" || program === "") {
    throw new Error("paned-opencode: `program` is the name or path of the paned program")
  }
  if (subagents !== "auto" && typeof subagents !== "boolean") {
    throw new Error('paned-opencode: `subagents` is "auto", true or false')
  }
  return { program, subagents }
}
