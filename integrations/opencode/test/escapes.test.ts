import assert from "node:assert/strict"
import { test } from "node:test"

import { preview, TypedLines, unescape } from "../src/escapes.js"

test("only the known escapes are replaced", () => {
  assert.equal(unescape(String.raw`a\n\r\t\\\x03\u00e4`), "a\n\r\t\\\u0003ä")
  assert.equal(unescape(String.raw`\q \x3 \u12 \e[A`), String.raw`\q \x3 \u12 \e[A`)
  assert.equal(unescape(String.raw`\\n`), String.raw`\n`)
})

test("a preview is one line of at most fifty characters", () => {
  assert.equal(preview("ls\n\u0003\u0004\r"), "ls\\n^C^D\\r")
  assert.equal(preview("x".repeat(51)), `${"x".repeat(50)}...`)
})

/** Types these texts one after the other; the answer is what a judge sees at each. */
function judged(...texts: string[]): string[][] {
  const typed = new TypedLines()
  return texts.map((text) => {
    const { lines, rest } = typed.preview("p", text)
    typed.commit("p", rest)
    return lines
  })
}

test("a line that arrives in pieces is judged as a whole", () => {
  assert.deepEqual(judged("rm ", "-rf /\n", "ls\n"), [["rm"], ["rm -rf /"], ["ls"]])
})

test("every line of one text is judged, and empty ones are not", () => {
  assert.deepEqual(judged("a\n\nb\rc", "\n"), [["a", "b", "c"], ["c"]])
})

test("what is erased is not judged", () => {
  assert.deepEqual(judged("rm\u007f\u007fls\n", "rm x\u0015ls\n", "rm\u0003", "ls\n", "ls rm\u0017-l\n"), [
    ["ls"],
    ["ls"],
    [],
    ["ls"],
    ["ls -l"],
  ])
})

test("a refused text is not remembered", () => {
  const typed = new TypedLines()
  typed.preview("p", "rm ")
  assert.deepEqual(typed.preview("p", "ls\n").lines, ["ls"])
})
