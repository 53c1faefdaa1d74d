// The usual way in JavaScript: node-pty and ws.
import pty from "node-pty";
import { serve } from "./serve.js";

serve((argv, { print, exit }) => {
  const child = pty.spawn(argv[0], argv.slice(1), { cols: 80, rows: 24, cwd: "/", env: process.env });
  child.onData(print);
  child.onExit(exit);
  return (text) => child.write(text);
});
