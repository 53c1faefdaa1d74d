// What a model writes for keys, and how typed text is shown back to it.

const ESCAPE = /\\(?:([nrt\\])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/g
const NAMED: Record<string, string> = { n: "\n", r: "\r", t: "\t", "\\": "\\" }
const PREVIEW = 50

/** Replaces `\n \r \t \\ \xNN \uNNNN`; any other backslash stays as it is. */
export function unescape(data: string): string {
  return data.replace(ESCAPE, (whole, name?: string, byte?: string, unit?: string) => {
    if (name !== undefined) return NAMED[name] ?? whole
    return String.fromCharCode(Number.parseInt(byte ?? unit ?? "", 16))
  })
}

/** The first characters of what was typed, on one line. */
export function preview(data: string): string {
  const shown = data.length > PREVIEW ? `${data.slice(0, PREVIEW)}...` : data
  return shown
    .replaceAll("\u0003", "^C")
    .replaceAll("\u0004", "^D")
    .replaceAll("\n", "\\n")
    .replaceAll("\r", "\\r")
}

/**
 * The lines that typing completes or begins, for a judge. A line may arrive in several writes, so what has been typed
 * of the current one is kept for each terminal. Keys that move the cursor or recall history are not followed.
 */
export class TypedLines {
  readonly #pending = new Map<string, string>()

  /** The lines that this text ends or continues; nothing is remembered until `commit`. */
  preview(id: string, text: string): { lines: string[]; rest: string } {
    const lines: string[] = []
    let line = this.#pending.get(id) ?? ""
    let isTouched = false
    for (const char of text) {
      if (char === "\n" || char === "\r") {
        lines.push(line)
        line = ""
        isTouched = false
      } else {
        line = edit(line, char)
        isTouched = true
      }
    }
    if (isTouched) lines.push(line)
    return { lines: lines.map((it) => it.trim()).filter((it) => it !== ""), rest: line }
  }

  /** Remembers the line that is not ended yet, once the text has been typed. */
  commit(id: string, rest: string): void {
    if (rest === "") this.#pending.delete(id)
    else this.#pending.set(id, rest)
  }
}

/** A line after one more character, as a terminal's line editor changes it. */
function edit(line: string, char: string): string {
  switch (char) {
    case "\u0003": // ^C
    case "\u0004": // ^D
    case "\u0015": // ^U
      return ""
    case "\u0008":
    case "\u007f":
      return [...line].slice(0, -1).join("")
    case "\u0017": // ^W
      return line.trimEnd().replace(/\S+$/, "")
    default:
      return char < " " && char !== "\t" ? line : line + char
  }
}
