/**
 * The Node host: loads one extension and speaks the extension protocol for it.
 *
 * paned starts it as `node host.mjs FOLDER`. It never touches standard output but for the protocol,
 * and it ends with the extension: a second one has a host of its own.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import type { ActionContext, Options } from "../../sdk/src/index.js";
import { connect, type Connection, type Settings } from "./api.js";
import { messageOf, Refusal, stackOf, toStartRefusal } from "./errors.js";
import { Handlers } from "./handlers.js";
import { lineSplitter } from "./lines.js";
import { loadExtension } from "./load.js";
import { rerouteOutput, writeLine } from "./output.js";
import { type IncomingCall, Peer } from "./peer.js";

const PROTOCOL = 1;

rerouteOutput();
const folder = resolve(process.argv[2] ?? ".");
const handlers = new Handlers();
let connection: Connection | undefined;

const peer = new Peer(writeLine, {
  initialize,
  runAction: ({ action, params, caller }, call) => handlers.runAction(action, params, contextOf(caller, call)),
  beforeAction: (start) => handlers.beforeAction(start),
  handleEvent: (event, call) => handlers.handleEvent(event, call),
  shutdown: stop,
});

/** Loads the extension and answers when paned has accepted all that it registered. */
async function initialize(params: any): Promise<{ name: string }> {
  if (params.protocol !== PROTOCOL) {
    fail(`this host speaks version ${PROTOCOL} of the extension protocol, and paned version ${params.protocol}`);
  }
  try {
    const dataFolder: string = params.dataFolder ?? process.env.PANED_EXTENSION_DATA;
    mkdirSync(dataFolder, { recursive: true });
    const { name, version, factory } = await loadExtension(folder, join(dataFolder, ".cache"));
    const options = readOptions(join(dataFolder, "options.json"));
    const settings: Settings = { ...params, name, version, folder, dataFolder, options, cwd: serverFolder() };
    connection = connect(settings, peer, handlers);
    await factory(connection.api);
    await connection.registered();
    return { name };
  } catch (thrown) {
    console.error(`paned: the extension cannot be started: ${stackOf(thrown)}`);
    // The answer is on its way before the process ends.
    setImmediate(() => process.exit(1));
    throw toStartRefusal(thrown);
  }
}

function contextOf(caller: ActionContext["caller"], call: IncomingCall): ActionContext {
  return {
    caller,
    get signal() {
      return call.signal;
    },
  };
}

/** What the user has set for this extension. */
function readOptions(path: string): Options {
  if (!existsSync(path)) return {};
  let options: unknown;
  try {
    options = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(`cannot read ${path}: ${messageOf(error)}`);
  }
  if (options !== null && typeof options === "object" && !Array.isArray(options)) return options as Options;
  throw new Error(`${path} must hold a JSON object`);
}

/** The folder in which the server was started; this process itself runs in the extension's. */
function serverFolder(): string {
  const { PWD } = process.env;
  return PWD && PWD !== folder && existsSync(PWD) ? PWD : homedir();
}

async function stop(): Promise<void> {
  await handlers.dispose();
  process.exit(0);
}

function fail(sentence: string): never {
  throw new Refusal("unavailable", sentence);
}

// A refusal that no code waits for is news, not a fault: the extension keeps running.
process.on("unhandledRejection", (reason) => {
  if (reason instanceof Refusal) return console.error(`paned: refused: ${reason.message}`);
  end("a promise was rejected, and no code handles it", reason);
});
process.on("uncaughtException", (error) => end("an exception was not caught", error));

function end(what: string, thrown: unknown): never {
  console.error(`paned: ${what}: ${stackOf(thrown)}`);
  process.exit(1);
}

process.stdin.on("data", lineSplitter((line) => peer.receive(line)));
process.stdin.on("end", () => {
  peer.close();
  void stop();
});
