//! Packages in TypeScript and JavaScript, run by the Node host: a package for Poly as it is, and
//! the samples in `extensions/samples`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use paned_e2e::{decode_output, wait_for};
use paned_model::Code;
use serde_json::{Value, json};

use crate::support::ExtensionServer;

/// A package as its author wrote it for Poly: its name is not that of its folder.
const POLY: &str = r#"
import { z } from "zod";
import type { ExtensionAPI } from "poly";

export const name = "greeter";

enum Tone { Plain = "plain", Loud = "loud" }

export default function (poly: ExtensionAPI) {
  let vetoes = 0;
  poly.registerAction({
    name: "greet",
    description: "Say hello.",
    parameters: z.object({
      who: z.string().min(1).describe("Who is greeted."),
      tone: z.nativeEnum(Tone).default(Tone.Plain),
    }),
    async execute({ who, tone }) {
      const panes = await poly.executeAction("pane:list", {});
      await poly.emit("greeted", { who });
      return { text: tone === Tone.Loud ? who.toUpperCase() : who, panes: panes.length, cwd: poly.cwd, vetoes };
    },
  });
  poly.on("action:start", ({ actionName, params }) => {
    if (actionName === "greeter:greet") vetoes += 100;
    if (actionName === "pane:new" && params.argv?.includes("forbidden")) {
      vetoes += 1;
      return { cancel: true, reason: "not this one" };
    }
  });
  poly.on("pane:exited", async ({ paneId, exitCode }) => {
    if (exitCode === 9) throw new Error(`no handler for ${paneId}`);
    console.log(`${paneId} has ended`);
    await poly.emit("seen", { pane: paneId });
  });
}
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Puts the sample into the folder of a server's extensions.
fn add_sample(it: &ExtensionServer, name: &str) {
    let folder = it.folder.path().join(name);
    fs::create_dir_all(&folder).unwrap();
    let sample = repository().join("extensions/samples").join(name);
    for entry in fs::read_dir(sample).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
    }
}

/// Writes a package with zod in its `node_modules`.
fn add_package(it: &ExtensionServer, folder: &str, code: &str) {
    let zod = repository().join("extensions/node_modules/zod");
    assert!(zod.exists(), "zod is missing: run `npm ci` in extensions");
    let folder = it.folder.path().join(folder);
    fs::create_dir_all(folder.join("node_modules")).unwrap();
    symlink(zod, folder.join("node_modules/zod")).unwrap();
    let manifest = json!({
        "name": "@people/poly-greeter",
        "version": "1.2.3",
        "main": "src/index.ts",
        "dependencies": { "zod": "^4" },
    });
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("package.json"), manifest.to_string()).unwrap();
    fs::write(folder.join("src/index.ts"), code).unwrap();
}

/// Writes the options of an extension, which it reads when it starts.
fn set_options(it: &ExtensionServer, name: &str, options: &Value) {
    let data = it.state_of(name).join("data");
    fs::create_dir_all(&data).unwrap();
    fs::write(data.join("options.json"), options.to_string()).unwrap();
}

/// A server that runs Poly's package, in this folder.
fn start_poly(folder: &str) -> ExtensionServer {
    let it = ExtensionServer::start(&[]);
    add_package(&it, folder, POLY);
    it.server.act("ext:reload", json!({}));
    let info = it.until_status(folder, "running");
    assert_eq!(info["name"], "greeter", "the name that the module exports");
    it
}

#[test]
fn a_package_for_poly_runs_unchanged() {
    let it = start_poly("poly-greeter");
    let list = it.server.ask("GET", "/actions").json();
    let list = list.get("actions").unwrap_or(&list).as_array().unwrap().clone();
    let greet = list.iter().find(|action| action["name"] == "greeter:greet").unwrap();
    let who = &greet["params"]["properties"]["who"];
    assert_eq!(who["description"], "Who is greeted.", "{greet}");

    let answer = it.server.act("greeter:greet", json!({ "who": "ann" }));
    assert_eq!((&answer["text"], &answer["panes"]), (&json!("ann"), &json!(0)), "{answer}");
    assert_eq!(answer["vetoes"], 100, "a caller that is not the extension is asked about");
    let refusal = it.server.try_act("greeter:greet", json!({ "who": "" })).unwrap_err();
    assert_eq!(refusal.code, Code::Invalid, "{refusal}");
    let by_hand = ["action", "greeter:greet", "--who", "bob", "--tone", "loud"];
    let (out, error, code) = decode_output(&it.server.cli(&by_hand));
    assert!(code == 0 && out.contains("BOB"), "{out}{error}");

    let new = |word: &str| it.server.try_act("pane:new", json!({ "argv": ["/bin/echo", word] }));
    let refusal = new("forbidden").unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert!(refusal.sentence.contains("not this one"), "{refusal}");
    let pane = new("fine").unwrap()["id"].clone();
    let mut events = it.server.events("greeter:*", Some(0));
    let seen = events.until(|event| event.name == "greeter:seen");
    assert_eq!(seen.data["pane"], pane);
}

#[test]
fn a_handler_that_fails_is_reported_and_the_next_event_still_comes() {
    let it = start_poly("poly-greeter");
    let ends_with = |code: u8| {
        let argv = json!(["/bin/sh", "-c", format!("exit {code}")]);
        it.server.act("pane:new", json!({ "argv": argv }))["id"].clone()
    };
    let failed = ends_with(9);
    let mut events = it.server.events("handler:error,greeter:seen", Some(0));
    let error = events.next();
    assert_eq!(error.name, "handler:error");
    let sentence = error.data["error"].as_str().unwrap();
    assert!(sentence.contains(failed.as_str().unwrap()), "{sentence}");
    // Two programs that are started one after the other may end in the other order.
    let fine = ends_with(0);
    assert_eq!(events.next().data["pane"], fine);
    // What it prints takes another way than its answers.
    let log = wait_for("the place in the source", || {
        let log = it.log("poly-greeter");
        log.contains("index.ts:").then_some(log)
    });
    assert!(log.contains("a handler of `pane:exited` failed"), "{log}");
}

/// Every action that needs the scope `spawn` is guarded, or starts no program.
#[track_caller]
fn check_guarded(it: &ExtensionServer) {
    let starts_nothing =
        ["layout:apply", "layout:hide", "layout:place", "layout:save", "pane:adopt"];
    let guarded = it.info("guard")["veto"].clone();
    let guarded: Vec<&str> = guarded.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let actions = it.server.ask("GET", "/actions").json();
    let listed = actions.as_array().or_else(|| actions["actions"].as_array()).unwrap();
    let spawning = listed.iter().filter(|action| action["scope"] == "spawn");
    let names: Vec<&str> = spawning.filter_map(|action| action["name"].as_str()).collect();
    assert!(names.contains(&"pane:new"), "{names:?}");
    let is_covered = |name: &&&str| guarded.contains(*name) || starts_nothing.contains(*name);
    let open: Vec<_> = names.iter().filter(|name| !is_covered(name)).collect();
    assert!(open.is_empty(), "the sample `guard` is not asked about {open:?}");
}

#[test]
fn the_samples_do_what_they_say() {
    let it = ExtensionServer::start(&[]);
    let home = it.server.home().to_owned();
    let inside = home.join("work");
    fs::create_dir_all(&inside).unwrap();
    let samples = ["auto-answer", "clock", "guard", "logger", "notify-desktop"];
    set_options(&it, "guard", &json!({ "folders": [inside] }));
    set_options(&it, "logger", &json!({ "events": "pane:*" }));
    for name in samples {
        add_sample(&it, name);
    }
    it.server.act("ext:reload", json!({}));
    for name in samples {
        it.until_status(name, "running");
    }

    let new = |cwd: &Path| {
        let params = json!({ "argv": ["/bin/sh", "-c", "exit 3"], "cwd": cwd });
        it.server.try_act("pane:new", params)
    };
    let refusal = new(&home).unwrap_err();
    assert_eq!(refusal.code, Code::Vetoed);
    assert!(refusal.sentence.contains("is outside of"), "{refusal}");
    let session = json!({ "argv": ["touch", home.join("started")], "cwd": home });
    assert_eq!(it.server.try_act("session:start", session).unwrap_err().code, Code::Vetoed);
    check_guarded(&it);
    let pane = new(&inside).unwrap()["id"].clone();
    let file = it.state_of("logger").join("data/events.jsonl");
    let exited = wait_for("the line of the exit", || {
        let text = fs::read_to_string(&file).unwrap_or_default();
        let mut lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find(|event| event["name"] == "pane:exited")
    });
    assert_eq!((&exited["payload"]["paneId"], &exited["payload"]["exitCode"]), (&pane, &json!(3)));
    let clock = wait_for("the clock's note of the exit", || {
        let clock = it.server.act("clock:now", json!({}));
        clock["ended"].get(pane.as_str().unwrap()).is_some().then_some(clock)
    });
    assert!(clock["time"].as_str().is_some_and(|time| time.contains('T')), "{clock}");
    assert_eq!(it.server.act("logger:status", json!({}))["events"], "pane:*");
}

#[test]
fn the_name_of_an_extension_that_is_turned_off_is_not_free() {
    let it = ExtensionServer::start(&[]);
    let package = |folder: &str, name: &str, answer: &str| {
        let code = format!(
            "exports.name = '{name}';\nexports.default = (paned) => paned.registerAction(\
             {{ name: 'who', kind: 'question', execute: () => '{answer}' }});\n"
        );
        let folder = it.folder.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("package.json"), r#"{"main":"index.js"}"#).unwrap();
        fs::write(folder.join("index.js"), code).unwrap();
    };
    package("victim", "victim", "victim");
    it.server.act("ext:reload", json!({ "name": "victim" }));
    it.server.act("ext:set", json!({ "name": "victim", "enabled": false }));
    package("thief", "victim", "thief");
    it.server.act("ext:reload", json!({ "name": "thief" }));
    let info = it.until("thief", |info| info["reason"].is_string());
    let reason = info["reason"].as_str().unwrap();
    assert!(reason.contains("the name `victim` is taken by the extension `victim`"), "{reason}");
    it.server.act("ext:set", json!({ "name": "victim", "enabled": true }));
    it.until_status("victim", "running");
    assert_eq!(it.server.act("victim:who", json!({})), "victim");
}
