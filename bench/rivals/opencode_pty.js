// The way of opencode-pty: its own manager, asked under bun. What it prints is sent as its later versions do, as
// JSON.
import { manager } from "opencode-pty/src/plugin/pty/manager.ts";
import { serve } from "./serve.js";

const wrap = (data) => JSON.stringify({ type: "raw_data", rawData: data });

serve(
  (argv, { print, exit }) => {
    const { id } = manager.spawn({ command: argv[0], args: argv.slice(1), workdir: "/", parentSessionId: "bench" });
    const { process } = manager.sessions.get(id);
    process.onData(print);
    process.onExit(exit);
    return (text) => manager.write(id, text);
  },
  { wrap },
);
