/**
 * Parameters of actions: zod schemas, other Standard Schemas, and plain JSON Schemas.
 *
 * paned gets a JSON Schema for its lists and checks. The library's schema parses the parameters once
 * more, so that defaults, transforms and rules that JSON Schema cannot express hold.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { toJSONSchema } from "zod/v4/core";
import { zodToJsonSchema } from "zod-to-json-schema";

import { messageOf, Refusal } from "./errors.js";
import { plainSchema } from "./schema-plain.js";

/** The schema for paned, and how parameters are parsed. */
export interface Parameters {
  schema: object;
  parse(params: unknown): unknown;
}

interface Issue {
  message: string;
  path?: readonly (PropertyKey | { key: PropertyKey })[];
}

interface Library {
  toSchema(): object;
  /** The parsed value, or what is wrong. */
  parse(params: unknown): Promise<{ value?: unknown; issues?: readonly Issue[] | undefined }>;
}

/** Reads the `parameters` of an action that an extension in this folder registers. */
export function readParameters(given: any, action: string, folder: string): Parameters {
  if (given === undefined || given === null) return { schema: { type: "object" }, parse: (params) => params };
  const library = libraryOf(given, folder);
  if (library) return parsedBy(library, action);
  // A bare shape, `{ count: z.number() }`, is a common slip.
  if (typeof given !== "object" || Object.values(given).some((value) => libraryOf(value, folder))) {
    throw new Refusal("invalid", `action \`${action}\`: \`parameters\` must be a schema, as in \`z.object({ … })\``);
  }
  return { schema: "type" in given ? given : { type: "object", ...given }, parse: (params) => params };
}

function parsedBy(library: Library, action: string): Parameters {
  let schema: Record<string, unknown>;
  try {
    schema = plainSchema(library.toSchema());
  } catch (error) {
    throw new Refusal("invalid", `action \`${action}\`: \`parameters\` has no JSON Schema: ${messageOf(error)}`);
  }
  if (schema.type !== undefined && schema.type !== "object") {
    const type = JSON.stringify(schema.type);
    throw new Refusal("invalid", `action \`${action}\`: \`parameters\` must be an object, not ${type}`);
  }
  const parse = async (params: unknown) => {
    const { value, issues } = await library.parse(params);
    if (issues) throw new Refusal("invalid", sentence(issues));
    return value;
  };
  return { schema: { ...schema, type: "object" }, parse };
}

function libraryOf(schema: any, folder: string): Library | undefined {
  if (schema === null || (typeof schema !== "object" && typeof schema !== "function")) return undefined;
  const standard = schema["~standard"];
  const parse = async (params: unknown) => {
    if (typeof standard?.validate === "function") return standard.validate(params);
    const { success, data, error } = await schema.safeParseAsync(params);
    return success ? { value: data } : { issues: error.issues };
  };
  if (schema._zod) return { toSchema: () => fromZod4(schema, folder), parse };
  if (schema._def?.typeName && typeof schema.safeParseAsync === "function") {
    return { toSchema: () => fromZod3(schema), parse };
  }
  if (typeof standard?.jsonSchema?.input === "function") {
    return { toSchema: () => standard.jsonSchema.input({ target: "draft-2020-12" }), parse };
  }
  return undefined;
}

const OPTIONS = { io: "input", unrepresentable: "any" } as const;

/** With the zod that made the schema where it can be found, since versions differ inside. */
function fromZod4(schema: any, folder: string): object {
  if (typeof schema.toJSONSchema === "function") return schema.toJSONSchema(OPTIONS);
  return (zodOf(folder)?.toJSONSchema ?? toJSONSchema)(schema, OPTIONS);
}

/** The zod of the extension; none where it is part of a bundle. */
function zodOf(folder: string): any {
  try {
    return createRequire(join(folder, "package.json"))("zod");
  } catch {
    return undefined;
  }
}

function fromZod3(schema: any): object {
  const strategies = { effectStrategy: "input", pipeStrategy: "input", removeAdditionalStrategy: "strict" } as const;
  return zodToJsonSchema(schema, strategies);
}

/** What is wrong with parameters, in one sentence. */
function sentence(issues: readonly Issue[]): string {
  const parts = issues.slice(0, 5).map(({ path, message }) => {
    const place = (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join(".");
    return place ? `\`${place}\`: ${message}` : message;
  });
  if (issues.length > 5) parts.push(`and ${issues.length - 5} more`);
  return `invalid parameters: ${parts.join("; ")}`;
}
