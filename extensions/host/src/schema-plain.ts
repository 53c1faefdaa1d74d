/**
 * Rewrites a generated JSON Schema with the keywords that paned checks.
 *
 * A rule that it cannot check is left out: the library that made the schema checks it. So the result
 * accepts everything that the schema accepts, and perhaps more.
 */

type Schema = Record<string, unknown>;

/** Keywords that are copied: they hold no schema. */
const COPIED = new Set(
  ("$comment default deprecated description examples format readOnly title type enum const required minimum " +
    "maximum exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems").split(" "),
);
const ONE_SCHEMA = new Set(["additionalProperties", "propertyNames", "items"]);

/** The schema without references and without keywords that paned does not know. */
export function plainSchema(root: object): Schema {
  const whole = root as Schema;
  const schema = plain(whole, whole, new Set());
  return typeof schema === "object" ? schema : {};
}

function plain(schema: unknown, root: Schema, open: ReadonlySet<string>): Schema | boolean {
  if (typeof schema !== "object" || schema === null) return schema !== false;
  const { $ref, ...rest } = schema as Schema;
  const result: Schema = {};
  if (typeof $ref === "string") Object.assign(result, referred($ref, root, open));
  for (const [keyword, value] of Object.entries(rest)) {
    const written = rewrite(keyword, value, root, open);
    if (written) result[written[0]] = written[1];
  }
  return result;
}

/** The schema that a reference names. One that contains itself allows anything at that place. */
function referred(ref: string, root: Schema, open: ReadonlySet<string>): Schema | boolean {
  if (open.has(ref) || !ref.startsWith("#")) return {};
  let target: any = root;
  for (const part of ref.slice(1).split("/").filter(Boolean)) {
    target = target?.[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return plain(target, root, new Set([...open, ref]));
}

/** A keyword as it is written; nothing if it is left out. */
function rewrite(
  keyword: string,
  value: unknown,
  root: Schema,
  open: ReadonlySet<string>,
): [string, unknown] | undefined {
  const each = (list: unknown) => (list as unknown[]).map((schema) => plain(schema, root, open));
  if (COPIED.has(keyword)) return [keyword, value];
  if (ONE_SCHEMA.has(keyword) && !Array.isArray(value)) return [keyword, plain(value, root, open)];
  switch (keyword) {
    case "properties": {
      const fields = Object.entries(value as Schema).map(([name, schema]) => [name, plain(schema, root, open)]);
      return [keyword, Object.fromEntries(fields)];
    }
    // With rules left out, more than one may match.
    case "oneOf":
    case "anyOf":
      return ["anyOf", each(value)];
    case "allOf":
      return [keyword, each(value)];
    case "pattern":
      return isPortable(String(value)) && isSmall(String(value)) ? [keyword, value] : undefined;
    default:
      return undefined;
  }
}

/** The compiled size, in KiB, above which patterns are left out. paned refuses some more than that. */
const LARGEST_PATTERN = 200;

/**
 * Whether a regular expression is surely small once it is compiled. paned bounds that, and a package
 * that runs with its library's check alone must not fail because of it.
 */
function isSmall(pattern: string): boolean {
  const counts = [...pattern.matchAll(/(\)?)\{(\d+)(?:,(\d*))?\}/g)];
  const groups = counts.filter(([, group]) => group).map(([, , least, most]) => count(least, most));
  const singles = counts.filter(([, group]) => !group).map(([, , least, most]) => count(least, most));
  // In KiB: letters and digits of all languages, digits or blanks of all, all but some characters, plain ones.
  const size =
    sizeOf("\\\\[wW]", 57, pattern) + sizeOf("\\\\[dDsS]", 6, pattern) + sizeOf("(?:\\.|\\[\\^)", 1, pattern) +
    pattern.length * 0.02 * Math.max(1, ...singles);
  return size * groups.reduce((all, one) => all * one, 1) <= LARGEST_PATTERN;
}

/** What each of these takes, alone or in a class, times how often it is repeated. */
function sizeOf(atom: string, size: number, pattern: string): number {
  const inClass = "(?:[^\\]\\\\]|\\\\.)*?";
  const found = new RegExp(`(?:${atom}|\\[${inClass}${atom}${inClass}\\])(?:\\{(\\d+)(?:,(\\d*))?\\})?`, "g");
  return [...pattern.matchAll(found)].reduce((all, [, least, most]) => all + size * count(least, most), 0);
}

function count(least = "1", most = ""): number {
  return Math.max(Number(most || least), 1);
}

/** Whether a regular expression means the same to paned: no look-around, no reference back. */
function isPortable(pattern: string): boolean {
  const rest = pattern.replaceAll(/\\[dwsDWS.\\/*+?()[\]{}|^$-]/g, "").replaceAll("(?:", "(");
  return !rest.includes("\\") && !rest.includes("(?") && !/\[\^?\]|\[[^\]]*\[|&&|~~|--/.test(rest);
}
