/** What was filled in, as command lines for a shell. Pure. */
import type { FieldShape, Shape } from "../../ui/schema-form";

/** The text as one word of a POSIX shell. */
export function quote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The request with `curl`; the token stays in a variable of the shell. */
export function curlLine(origin: string, name: string, params: unknown): string {
  return [
    `curl -sS ${quote(`${origin}/action/${name}`)}`,
    `-H "Authorization: Bearer $PANED_TOKEN"`,
    "-H 'Content-Type: application/json'",
    `-d ${quote(JSON.stringify(params))}`,
  ].join(" \\\n  ");
}

/** These start programs, which the command line does in its own folder and the server at home. */
const STARTS_PROGRAM = new Set(["agent:create", "pane:new", "session:start", "shell:run"]);

/** The same as a command of paned: with flags where they mean the same, else as JSON. */
export function panedLine(name: string, params: Record<string, unknown>, shape: Shape): string {
  const flags = flagsOf(params, shape);
  const rest = flags ? flags.join(" ") : `--body ${quote(JSON.stringify(params))}`;
  const line = `paned action ${quote(name)} ${rest}`.trim();
  return STARTS_PROGRAM.has(name) && params.cwd === undefined ? `cd && ${line}` : line;
}

/** Flags for all parameters; nothing if one has no flag. */
function flagsOf(params: Record<string, unknown>, shape: Shape): string[] | null {
  const fields = shape.kind === "object" ? shape.fields : [];
  const flags: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    const field = fields.find((it) => it.name === name);
    const own = field ? flagOf(field, value) : null;
    if (!own) return null;
    flags.push(...own);
  }
  return flags;
}

const TAKEN = new Set(["body", "json", "help"]);

function flagOf({ name, shape }: FieldShape, value: unknown): string[] | null {
  const flag = `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  if (value === null || TAKEN.has(name)) return null;
  if (shape.kind === "boolean" && value === true) return [flag];
  if (shape.kind === "list" || shape.kind === "set") {
    if (!Array.isArray(value) || value.length === 0) return null;
    const item: Shape["kind"] = shape.kind === "list" ? shape.item.kind : "text";
    return value.map((it) => word(flag, it, item));
  }
  return [word(flag, value, shape.kind)];
}

const TEXTS: readonly Shape["kind"][] = ["text", "pane", "enum"];

function word(flag: string, value: unknown, kind: Shape["kind"]): string {
  const isText = typeof value === "string" && (TEXTS.includes(kind) || !isJson(value));
  const text = quote(isText ? value : JSON.stringify(value));
  // A value that looks like a flag has to be joined with its own.
  return /^'?-/.test(text) || !TEXTS.includes(kind) ? `${flag}=${text}` : `${flag} ${text}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
