// The in-memory way, as a rival: a ring of lines in an array, searched line by line with a RegExp, answered
// as JSON over HTTP. `node lines.mjs FILE` fills the ring from a file, says where it serves in one line, and
// ends when its standard input does.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const MOST_LINES = 50_000;

class Ring {
  lines = [];

  append(text) {
    for (const line of text.split("\n")) {
      this.lines.push(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (this.lines.length > MOST_LINES) {
        this.lines.shift();
      }
    }
  }

  search({ pattern, limit }) {
    const regex = new RegExp(pattern);
    const matches = [];
    for (let n = 0; n < this.lines.length; n += 1) {
      if (regex.test(this.lines[n])) {
        matches.push({ n, text: this.lines[n] });
      }
    }
    const hits = matches.slice(0, limit);
    return { hits, totalMatches: matches.length, hasMore: hits.length < matches.length };
  }

  read({ offset, limit }) {
    const lines = this.lines.slice(offset, offset + limit);
    const numbered = lines.map((text, at) => ({ n: offset + at, text }));
    const totalLines = this.lines.length;
    return { lines: numbered, totalLines, hasMore: offset + lines.length < totalLines };
  }
}

const ring = new Ring();
ring.append(readFileSync(process.argv[2], "utf8").trimEnd());

const actions = {
  "/action/search": (params) => ring.search(params),
  "/action/read": (params) => ring.read(params),
};

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const answer = actions[request.url](JSON.parse(Buffer.concat(parts).toString()));
    const body = JSON.stringify(answer);
    const length = Buffer.byteLength(body);
    response.writeHead(200, { "content-type": "application/json", "content-length": length });
    response.end(body);
  });
});

server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${server.address().port}`));
process.stdin.on("end", () => process.exit(0)).resume();
