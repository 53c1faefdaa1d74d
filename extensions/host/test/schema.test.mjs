import assert from "node:assert/strict";
import { test } from "node:test";

import { fixture, HostProcess, makePackage, refused, run } from "./support.mjs";

/** Keywords that the server checks or ignores; it refuses a schema with any other. */
const KNOWN = new Set(
  ("$comment $id $schema default deprecated description examples format readOnly title type enum const anyOf oneOf " +
    "allOf properties additionalProperties propertyNames required items pattern minimum maximum exclusiveMinimum " +
    "exclusiveMaximum minLength maxLength minItems maxItems").split(" "),
);

function unknownKeywords(schema) {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (!KNOWN.has(keyword)) return [keyword];
    if (keyword === "properties") return Object.values(value).flatMap(unknownKeywords);
    if (["anyOf", "oneOf", "allOf"].includes(keyword)) return value.flatMap(unknownKeywords);
    return ["items", "additionalProperties", "propertyNames"].includes(keyword) ? unknownKeywords(value) : [];
  });
}

for (const [folder, name] of [["zod3", "old-zod"], ["zod4", "new-zod"]]) {
  test(`${folder}: parameters are in the list as JSON Schema, and parsed before \`execute\``, async (t) => {
    const host = await run(t, fixture(folder));
    const { parameters } = host.asked("registerAction")[0];
    assert.equal(parameters.type, "object");
    assert.deepEqual(parameters.required, ["who", "tags"]);
    assert.deepEqual(parameters.properties.who, { type: "string", minLength: 1, description: "Who is greeted." });
    const { type, exclusiveMinimum, maximum } = parameters.properties.times;
    assert.deepEqual({ type, exclusiveMinimum, maximum }, { type: "integer", exclusiveMinimum: 0, maximum: 10 });
    assert.equal(parameters.properties.times.default, 1);
    assert.equal(parameters.properties.tags.type, "array");
    assert.deepEqual(unknownKeywords(parameters), []);

    const greet = (params) => host.run(`${name}:greet`, params);
    assert.deepEqual(await greet({ who: "ann", tags: ["a", "b"] }), { who: "ann", times: 1, tags: 2 });
    await refused(greet({ who: "ann", tags: ["a"], times: 99 }), "invalid", /^invalid parameters: `times`: /);
    await refused(greet({ tags: [1] }), "invalid", /`who`: .*; `tags\.0`: /);
  });
}

test("zod 3: what JSON Schema or the server cannot express is left to zod", async (t) => {
  const host = await run(t, fixture("zod3"));
  const [{ parameters, description }] = host.asked("registerAction");
  assert.equal(description, "Does greet.");
  assert.deepEqual(parameters.properties.level.enum, ["low", "high"]);
  assert.equal(parameters.properties.tags.items.pattern, undefined);
  await refused(host.run("old-zod:greet", { who: "a", tags: ["xyz"] }), "invalid", /tags\.0/);
});

test("zod 4: unions, dates and formats survive", async (t) => {
  const host = await run(t, fixture("zod4"));
  const [{ parameters, description }, empty] = host.asked("registerAction");
  assert.equal(description, "Greets from the schema.");
  assert.equal(parameters.properties.mode.anyOf.length, 2);
  assert.equal(parameters.properties.mail.format, "email");
  assert.deepEqual(empty.parameters, { type: "object", properties: {} });
  const params = { who: "a", tags: [], at: "2026-11-18T00:00:00.000Z", mode: { kind: "b", b: 1 } };
  assert.deepEqual(await host.run("new-zod:greet", params), { ...params, times: 1, tags: 0 });
  assert.deepEqual(await host.run("new-zod:no-parameters"), {});
});

/** Registers an action `test:x` with these parameters, which are code. */
function withParameters(t, code, head = "") {
  const text = `${head} export const name = "test"; export default async (paned) => {
    await paned.registerAction({ name: "x", parameters: ${code}, execute: (params) => params }); };`;
  return makePackage(t, { "index.mjs": text });
}

test("a JSON Schema is passed on as it is", async (t) => {
  const schema = { type: "object", properties: { a: { type: "string", pattern: "^(?!b)" } }, required: ["a"] };
  const host = await run(t, withParameters(t, JSON.stringify(schema)));
  assert.deepEqual(host.asked("registerAction")[0].parameters, schema);
  assert.deepEqual(await host.run("test:x", { a: "a" }), { a: "a" });
});

test("without parameters any object is accepted", async (t) => {
  const host = await run(t, withParameters(t, "undefined"));
  assert.deepEqual(host.asked("registerAction")[0].parameters, { type: "object" });
});

test("another library that follows Standard Schema works", async (t) => {
  const schema = `{ "~standard": { version: 1, vendor: "mine",
    validate: (value) => typeof value.n === "number" ? { value: { n: value.n + 1 } }
      : { issues: [{ message: "not a number", path: [{ key: "n" }] }] },
    jsonSchema: { input: () => ({ type: "object", properties: { n: { type: "number" } }, uniqueItems: true }) } } }`;
  const host = await run(t, withParameters(t, schema));
  const { parameters } = host.asked("registerAction")[0];
  assert.deepEqual(parameters, { type: "object", properties: { n: { type: "number" } } });
  assert.deepEqual(await host.run("test:x", { n: 1 }), { n: 2 });
  await refused(host.run("test:x", {}), "invalid", /^invalid parameters: `n`: not a number$/);
});

const WRONG = {
  '"a text"': /`parameters` must be a schema/,
  '{ count: { "~standard": { validate() {}, jsonSchema: { input: () => ({}) } } } }': /must be a schema, as in `z\.object/,
  '{ "~standard": { validate() {}, jsonSchema: { input: () => ({ type: "string" }) } } }': /must be an object, not "string"/,
};
for (const [code, sentence] of Object.entries(WRONG)) {
  test(`parameters ${code} are refused`, async (t) => {
    const host = new HostProcess(t, withParameters(t, code));
    await refused(host.initialize(), "invalid", sentence);
  });
}

test("a recursive schema accepts anything where it repeats", async (t) => {
  const host = await run(t, fixture("zod3"));
  const { tree } = host.asked("registerAction")[0].parameters.properties;
  assert.deepEqual(tree.properties.word, { type: "string" });
  const params = { who: "a", tags: [], tree: { word: "a", inner: { word: "b" } } };
  assert.deepEqual((await host.run("old-zod:greet", params)).tree, params.tree);
  await refused(host.run("old-zod:greet", { ...params, tree: { word: "a", inner: {} } }), "invalid", /tree\.inner\.word/);
});

test("a pattern that would be large for paned is left to the library", async (t) => {
  const patterns = {
    long: "^\\\\w{200}$",
    nested: "^((a{60}){60}){60}$",
    uuid: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
    mail: "^[\\\\w.+-]+@[\\\\w-]+[.][a-z]{2,20}$",
  };
  const fields = Object.entries(patterns).map(([name, pattern]) => `"${name}": { pattern: "${pattern}" }`);
  const schema = `{ "~standard": { version: 1, vendor: "mine", validate: (value) => ({ value }),
    jsonSchema: { input: () => ({ type: "object", properties: { ${fields.join(", ")} } }) } } }`;
  const host = await run(t, withParameters(t, schema));
  const { properties } = host.asked("registerAction")[0].parameters;
  const kept = Object.keys(properties).filter((name) => properties[name].pattern !== undefined);
  assert.deepEqual(kept, ["uuid", "mail"]);
});
