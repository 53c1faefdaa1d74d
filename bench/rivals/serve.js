// One small server for every rival: POST /spawn {argv}, and a WebSocket at /<id> that gives what is printed and
// takes what is typed. It prints its port.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/** `spawn(argv, { print, exit })` starts a program and answers how to type into it. */
export function serve(spawn, options = {}) {
  const sessions = new Map();
  let last = 0;
  const start = (argv) => {
    const id = String(++last);
    const session = { kept: [], exited: false, sockets: new Set() };
    sessions.set(id, session);
    session.type = spawn(argv, {
      print(data) {
        // What comes before anybody listens is given to the first who does.
        if (session.sockets.size === 0) session.kept.push(data);
        for (const socket of session.sockets) socket.send(options.wrap ? options.wrap(data) : data);
      },
      exit() {
        session.exited = true;
        for (const socket of session.sockets) socket.close();
      },
    });
    return id;
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const answer = JSON.stringify({ id: start(JSON.parse(body).argv) });
    response.writeHead(200, { "content-type": "application/json", "content-length": answer.length });
    response.end(answer);
  });
  const sockets = new WebSocketServer({ server, perMessageDeflate: options.deflate ?? false });
  sockets.on("connection", (socket, request) => {
    const session = sessions.get(request.url.slice(1));
    if (!session) return socket.close();
    socket._socket.setNoDelay(true);
    socket.on("message", (data) => session.type(data.toString()));
    for (const data of session.kept) socket.send(options.wrap ? options.wrap(data) : data);
    session.kept = [];
    session.sockets.add(socket);
    if (session.exited) socket.close();
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(JSON.stringify({ port: server.address().port }));
  });
}
