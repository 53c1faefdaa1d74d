// Only the types come from this package, so nothing needs to be installed to run the extension.
import type { ExtensionAPI } from "@paned/extension";

export const name = "my-extension";

export default function start(paned: ExtensionAPI): void {
  let ended = 0;

  // `paned events` shows which events there are.
  paned.on("pane:exited", (payload: { paneId: string }) => {
    ended += 1;
    paned.log.info(`${payload.paneId} ended`);
  });

  // Called by `paned action my-extension:hello --who you`, over HTTP and by agents alike.
  paned.registerAction({
    name: "hello",
    description: "Greet, and tell how many programs have ended.",
    kind: "question",
    parameters: {
      type: "object",
      properties: { who: { type: "string", description: "Who is greeted." } },
    },
    execute: ({ who = "world" }) => ({ greeting: `hello, ${who}`, ended }),
  });
}
