/** A command line as the arguments of a program. Pure. */

const NEEDS_SHELL = /[|&;<>()$`*?[\]{}~\n]/;

/** Splits like a shell; a line that uses more of the shell's language is given to one. */
export function argvOf(command: string): string[] {
  const line = command.trim();
  if (line === "") return [];
  const words = split(line);
  return words ?? ["sh", "-c", line];
}

/** Whether the line is run by a shell. */
export function isForShell(command: string): boolean {
  return command.trim() !== "" && split(command.trim()) === null;
}

/** The words; `null` when only a shell can read the line. */
function split(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at);
    if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (char === "'" || char === '"') {
      const end = line.indexOf(char, at + 1);
      const quoted = end < 0 ? null : line.slice(at + 1, end);
      if (quoted === null || (char === '"' && /[$`\\]/.test(quoted))) return null;
      word = (word ?? "") + quoted;
      at = end;
    } else if (char === "\\" || NEEDS_SHELL.test(char)) {
      return null;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (word !== null) words.push(word);
  // `NAME=value program` sets a variable.
  return /^\w+=/.test(words[0] ?? "") ? null : words;
}
