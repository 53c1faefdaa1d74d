export const name = "my-extension";

/** @param {import("@paned/extension").ExtensionAPI} paned */
export default function start(paned) {
  let ended = 0;

  // `paned events` shows which events there are.
  paned.on("pane:exited", (payload) => {
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
