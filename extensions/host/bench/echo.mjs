/** The least that a program can do with lines of JSON-RPC: the limit that the host is compared with. */
import { writeSync } from "node:fs";

let rest = "";
process.stdin.setEncoding("utf8").on("data", (text) => {
  const lines = (rest + text).split("\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, params } = JSON.parse(line);
    writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, result: params })}\n`);
  }
});
