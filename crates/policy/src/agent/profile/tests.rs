//! Profiles and mistakes from documents.

use super::*;

/// The mistakes in a file as `line: sentence`, or nothing.
#[track_caller]
fn check(text: &str, expect: &[&str]) {
    let mistakes = Profile::parse("x/mine.toml", text).err().unwrap_or_default();
    let lines: Vec<String> =
        mistakes.iter().map(|it| format!("{}: {}", it.line, it.sentence)).collect();
    assert_eq!(lines, expect, "{text}");
    assert!(mistakes.iter().all(|mistake| mistake.file == "x/mine.toml"));
}

#[test]
fn ours_have_no_mistakes() {
    let (library, mistakes) = ProfileLibrary::with(&[("x.toml".into(), "command = \"x\"".into())]);
    assert_eq!(mistakes, []);
    let names: Vec<_> = library.names().collect();
    let ours = "aider amp claude cline cn codex copilot crush cursor-agent gemini generic goose gptme interpreter llm opencode pi qwen repl shell x";
    assert_eq!(names.join(" "), ours);
    let untested = library.get("amp").and_then(|amp| amp.accuracy.clone());
    assert!(untested.is_some_and(|word| word.starts_with("untested")));
}

/// Built-in patterns are not compiled when they are read, so this test compiles them.
#[test]
fn each_pattern_of_ours_is_one() {
    for (file, text) in library::BUILT_IN {
        assert_eq!(Profile::parse(file, text).err(), None, "{file}");
    }
}

#[test]
fn a_small_profile_is_enough() {
    check("command = [\"mine\", \"-x\"]", &[]);
    let mine = Profile::parse("x/mine.toml", "command = \"mine\"").unwrap();
    assert_eq!((mine.name.as_str(), mine.programs), ("mine", vec!["mine".to_owned()]));
}

#[test]
fn each_mistake_is_told_with_its_line() {
    check(
        "about = \"x\"\n",
        &["1: `command` is missing; set it to the program and its usual arguments"],
    );
    check(
        "command = \"x\"\ncolour = 1",
        &["2: unknown key `colour` in a profile; the keys are `command`, `programs`, `about`, \
          `accuracy`, `screen`, `versions`, `implicit`, `spawn`, `arguments`, `submit`, \
          `interrupt`, `quit`, `transcript`, `messages`, `context`, `context-in`, `timing`, \
          `composer`, `dialog`, `rules`, `title`, `osc`, `hooks`"],
    );
    check(
        "command = \"x\"\n\n[title]\nbusy = '('\n",
        &["4: `busy` is not a valid pattern: \
        unclosed group"],
    );
    check(
        "command = \"x\"\n[timing]\nsettle = \"soon\"\nquiet = -1\n",
        &[
            "3: `settle` must be a number, not a string",
            "4: `quiet` must be from 0 to 3600000, not -1",
        ],
    );
    check(
        "command = \"x\"\n[rules.a]\nin = \"footer\"\nmatch = 'x'\n",
        &["2: `says` is missing; set it to the state that this is evidence for"],
    );
    check(
        "command = \"x\"\n[rules.a]\nsays = \"idle\"\nmatch = 'x'\n",
        &["3: `says` must be one of `starting`, `ready`, `busy`, `blocked`, `limited`, \
            `error`, not `idle`"],
    );
    check(
        "command = \"x\"\n[composer]\nprompt = '> '\nneeds = [\n\"paste\",\n\"mouse\"]\n",
        &["6: `needs` must be one of `paste`, `no-paste`, `cursor`, `cursor-line`, \
          `cursor-shown`, `cursor-hidden`, not `mouse`"],
    );
    check(
        "command = \"x\"\n[submit]\ndelay = 20\n",
        &["2: `delay` must be at least 100, because programs ignore an Enter that comes sooner"],
    );
    check(
        "command = \"x\"\n[arguments]\nmodel = [\"-m\"]\n",
        &["2: `model` must have `{model}` in one of its words"],
    );
    check(
        "command = \"x\"\n[interrupt]\nkeys = \"escc\"\n",
        &["3: `keys`: unknown key `escc`; did you mean `esc` or `spc`?"],
    );
}

#[test]
fn all_mistakes_are_told_at_once_and_none_twice() {
    check(
        "command = []\n[composer]\nprompt = '('\nneeds = [\"x\", \"paste\",\n3]\n[quit]\npress = 1\n",
        &[
            "1: `command` must not be empty; set it to the program and its usual arguments",
            "3: `prompt` is not a valid pattern: unclosed group",
            "4: `needs` must be one of `paste`, `no-paste`, `cursor`, `cursor-line`, \
            `cursor-shown`, `cursor-hidden`, not `x`",
            "5: `needs` must be a list of strings, not a number",
            "6: exactly one of `text` and `keys` is required",
            "7: unknown key `press` in [quit]; the keys are `text`, `keys`, `presses`",
        ],
    );
    check(
        "command = 'x'\nrules = 1\n[dialog.kinds.a]\nmatch = '('\n[hooks.b]\nkind = 2\n[title]\nsilence = 1",
        &[
            "2: `rules` must be a table of tables, not a number",
            "3: `options` is missing; set it to the pattern of an option",
            "4: `match` is not a valid pattern: unclosed group",
            "5: `event` or `where` is required",
            "5: exactly one of `says` and `clears = true` is required",
            "6: `kind` must be a string, not a number",
            "8: `silence` must be true or false, not a number",
        ],
    );
}

#[test]
fn what_is_no_toml_is_told_too() {
    let mistakes = Profile::parse("x/mine.toml", "command = \"x\"\n[title\n").unwrap_err();
    assert_eq!(mistakes.first().map(|mistake| mistake.line), Some(2));
}

#[test]
fn a_users_file_is_laid_over_ours_key_by_key() {
    let file = |text: &str| [("conf/codex.toml".to_owned(), text.to_owned())];
    let (library, mistakes) = ProfileLibrary::with(&file(
        "[rules.working]\nweight = 0.5\n[rules.mine]\nsays = \"busy\"\nmatch = 'x'",
    ));
    assert_eq!(mistakes, []);
    let ours = ProfileLibrary::embedded();
    let (old, new) = (ours.get("codex").unwrap(), library.get("codex").unwrap());
    let working = new.rules.iter().find(|rule| rule.name == "working").unwrap();
    assert_eq!((working.weight, working.supports), (0.5, paned_model::AgentState::Busy));
    assert_eq!((new.rules.len(), &new.command), (old.rules.len() + 1, &old.command));
    // What is new is tried first, and what is replaced keeps its place.
    let (amended, _) = ProfileLibrary::with(&file(
        "[dialog.kinds.plan]\nmatch = 'b'\n[dialog.kinds.z]\nmatch = 'a'\nkind = 'plan'",
    ));
    let kinds = |library: &ProfileLibrary| {
        let codex = library.get("codex").unwrap();
        let kinds = codex.dialog.iter().flat_map(|dialog| &dialog.kinds);
        kinds.map(|kind| kind.pattern.as_str().to_owned()).collect::<Vec<_>>()
    };
    let mut expect = kinds(&ours);
    expect[3] = "b".to_owned();
    expect.insert(0, "a".to_owned());
    assert_eq!(kinds(&amended), expect);
    // With a mistake it is left out, and ours stays as it is.
    let (library, mistakes) = ProfileLibrary::with(&file("\n[title]\nbusy = 3\n"));
    assert_eq!(mistakes.len(), 1);
    assert_eq!((mistakes[0].file.as_str(), mistakes[0].line), ("conf/codex.toml", 3));
    assert_eq!(library.get("codex").unwrap().rules.len(), old.rules.len());
}

#[track_caller]
fn check_command(line: &str, expect: Option<&str>) {
    let library = ProfileLibrary::embedded();
    let argv: Vec<String> = line.split('|').map(str::to_owned).collect();
    let found = library.for_command(&argv).map(|profile| profile.name.as_str());
    assert_eq!(found, expect, "{line}");
}

#[test]
fn a_program_is_known_through_what_starts_it() {
    check_command("codex|--no-daemon", Some("codex"));
    check_command("/usr/local/bin/opencode", Some("opencode"));
    check_command("npx|-y|@openai/codex@latest|-m|x", Some("codex"));
    check_command("env|A=1|B=2|gemini", Some("gemini"));
    check_command("node|/opt/x/node_modules/.bin/qwen.js", Some("qwen"));
    check_command("bash|-lc|FOO=1 exec codex --x", Some("codex"));
    check_command("uvx|aider-chat", Some("aider"));
    check_command("python3|-m|aider|--model|x", Some("aider"));
    check_command("nice|-n|5|claude", Some("claude"));
    check_command("bash", None);
    check_command("vim|codex", None);
    check_command("python3|script.py", None);
}

#[test]
fn wishes_become_arguments() {
    let library = ProfileLibrary::embedded();
    let line = |name: &str, wanted: &LaunchOptions| library.get(name).unwrap().command_line(wanted);
    let wanted = LaunchOptions {
        model: Some("opus".into()),
        permissions: Some(Permissions::Auto),
        prompt: Some("-do it".into()),
        ..LaunchOptions::default()
    };
    let argv = line("claude", &wanted).unwrap().join("|");
    assert_eq!(argv, "claude|--model|opus|--permission-mode|auto|--|-do it");
    let own = LaunchOptions { argv: Some(vec!["x".into()]), ..LaunchOptions::default() };
    assert_eq!(line("aider", &own).unwrap(), ["x"]);
    assert_eq!(line("codex", &own).unwrap(), ["x"], "one's own command line is left as it is");
    // If there is no argument for the prompt, it is typed later.
    assert!(!library.get("aider").unwrap().takes_prompt());
    assert!(
        line("goose", &LaunchOptions { model: Some("x".into()), ..LaunchOptions::default() })
            .is_err()
    );
    assert!(
        line(
            "pi",
            &LaunchOptions { permissions: Some(Permissions::Auto), ..LaunchOptions::default() }
        )
        .is_err()
    );
    assert!(
        line("codex", &LaunchOptions { model: Some("-x".into()), ..LaunchOptions::default() })
            .is_err()
    );
}

#[test]
fn texts_that_need_care_are_dressed_or_refused() {
    let library = ProfileLibrary::embedded();
    let codex = &library.get("codex").unwrap().submit;
    assert_eq!(codex.escape_prompt("hello").as_deref(), Ok("hello"));
    assert_eq!(codex.escape_prompt("look at @src").as_deref(), Ok("look at @src "));
    assert!(codex.escape_prompt("!ls").is_err());
    assert_eq!(codex.escape_prompt("/help me").as_deref(), Ok(" /help me"));
    assert_eq!(
        codex.escape_prompt("/usr/bin/env is a path").as_deref(),
        Ok("/usr/bin/env is a path")
    );
    assert!(library.get("gemini").unwrap().submit.escape_prompt("look at @main").is_err());
}
