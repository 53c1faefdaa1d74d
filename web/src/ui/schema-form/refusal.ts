/** Where a refusal of the server belongs in a form. Pure. */
import { CallError, sentence } from "../../lib/errors";
import type { Shape } from "./shape";
import type { Problems } from "./value";

/** The refusal at the field that it names, or at `""` for the whole form. */
export function problemsOfRefusal(error: unknown, shape: Shape): Problems {
  const text = sentence(error);
  const path = error instanceof CallError ? pathOf(error, text) : "";
  return { [known(path, shape)]: text };
}

function pathOf({ code, details }: CallError, text: string): string {
  const { path, field } = (details ?? {}) as { path?: unknown; field?: unknown };
  // "missing parameter `paneId`" and "`size`: missing field `rows`" name what is not there.
  const missing = /missing (?:parameter|field) `([^`]+)`/.exec(text)?.[1];
  const at = typeof path === "string" && path !== "." ? path : "";
  if (missing) return at ? `${at}.${missing}` : missing;
  if (at) return at;
  if (typeof field === "string") return field;
  // "`cwd` must be an absolute path": the first name in the sentence.
  return code === "invalid" ? (/`([\w.[\]]+)`/.exec(text)?.[1] ?? "") : "";
}

/** The part of a path that the form has a field for. */
function known(path: string, shape: Shape): string {
  let current: Shape | null = shape;
  let end = 0;
  for (const part of path.matchAll(/\[(\d+)\]|\.?([^.[\]]+)/g)) {
    current = child(current, part[1] !== undefined, part[2] ?? "");
    if (!current) break;
    end = part.index + part[0].length;
  }
  return path.slice(0, end);
}

function child(shape: Shape | null, isIndex: boolean, name: string): Shape | null {
  switch (shape?.kind) {
    case "object":
      return shape.fields.find((field) => field.name === name)?.shape ?? null;
    case "list":
      return isIndex ? shape.item : null;
    case "map":
      return isIndex ? null : shape.value;
    case "choice": {
      const found = shape.variants.map((variant) => child(variant.shape, isIndex, name));
      return found.find((it) => it !== null) ?? null;
    }
    default:
      return null;
  }
}
