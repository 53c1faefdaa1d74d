//! All profiles: the built-in ones, with the user's merged over them.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use super::{Profile, ProfileError, ProfilePattern, name_of, pattern, reader};
use crate::agent::ScreenSnapshot;

/// The built-in profiles, by file.
pub(super) const BUILT_IN: &[(&str, &str)] = &[
    ("aider.toml", include_str!("../../../../../profiles/aider.toml")),
    ("amp.toml", include_str!("../../../../../profiles/amp.toml")),
    ("claude.toml", include_str!("../../../../../profiles/claude.toml")),
    ("cline.toml", include_str!("../../../../../profiles/cline.toml")),
    ("cn.toml", include_str!("../../../../../profiles/cn.toml")),
    ("codex.toml", include_str!("../../../../../profiles/codex.toml")),
    ("copilot.toml", include_str!("../../../../../profiles/copilot.toml")),
    ("crush.toml", include_str!("../../../../../profiles/crush.toml")),
    ("cursor-agent.toml", include_str!("../../../../../profiles/cursor-agent.toml")),
    ("gemini.toml", include_str!("../../../../../profiles/gemini.toml")),
    ("generic.toml", include_str!("../../../../../profiles/generic.toml")),
    ("goose.toml", include_str!("../../../../../profiles/goose.toml")),
    ("gptme.toml", include_str!("../../../../../profiles/gptme.toml")),
    ("interpreter.toml", include_str!("../../../../../profiles/interpreter.toml")),
    ("llm.toml", include_str!("../../../../../profiles/llm.toml")),
    ("opencode.toml", include_str!("../../../../../profiles/opencode.toml")),
    ("pi.toml", include_str!("../../../../../profiles/pi.toml")),
    ("qwen.toml", include_str!("../../../../../profiles/qwen.toml")),
    ("repl.toml", include_str!("../../../../../profiles/repl.toml")),
    ("shell.toml", include_str!("../../../../../profiles/shell.toml")),
];

/// The built-in profiles, parsed once.
static EMBEDDED: LazyLock<ProfileLibrary> = LazyLock::new(|| ProfileLibrary::over_built_in(&[]).0);

/// All profiles, by name.
#[derive(Clone, Debug, Default)]
pub struct ProfileLibrary {
    profiles: BTreeMap<String, Arc<Profile>>,
}

impl ProfileLibrary {
    /// The built-in profiles.
    #[must_use]
    pub fn embedded() -> Self {
        EMBEDDED.clone()
    }

    /// The built-in profiles with these files merged over them: a file with the name of a built-in
    /// profile replaces the keys that it has and keeps the rest. A file with mistakes is left out,
    /// and the mistakes are returned.
    #[must_use]
    pub fn with(files: &[(String, String)]) -> (Self, Vec<ProfileError>) {
        if files.is_empty() {
            return (Self::embedded(), Vec::new());
        }
        Self::over_built_in(files)
    }

    fn over_built_in(files: &[(String, String)]) -> (Self, Vec<ProfileError>) {
        let built_in = BUILT_IN
            .iter()
            .map(|(file, text)| pattern::unchecked(|| reader::read(file, text, None)));
        let users = files.iter().map(|(file, text)| {
            let under = BUILT_IN.iter().find(|(ours, _)| name_of(ours) == name_of(file));
            reader::read(file, text, under.map(|(_, text)| *text))
        });
        let mut mistakes = Vec::new();
        let mut profiles = BTreeMap::new();
        for read in built_in.chain(users) {
            match read {
                Ok(profile) => drop(profiles.insert(profile.name.clone(), Arc::new(profile))),
                Err(found) => mistakes.extend(found),
            }
        }
        (Self { profiles }, mistakes)
    }

    /// The profile with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Profile>> {
        self.profiles.get(name)
    }

    /// The profile whose program this command line starts, also through `npx`, `env`, a path or a
    /// wrapper.
    #[must_use]
    pub fn for_command(&self, argv: &[String]) -> Option<&Arc<Profile>> {
        let names = started_programs(argv);
        names.iter().find_map(|name| {
            let is_its = |profile: &&Arc<Profile>| {
                profile.implicit && profile.programs.iter().any(|program| program == name)
            };
            self.profiles.values().find(is_its)
        })
    }

    /// The profile whose program is recognised on this screen.
    #[must_use]
    pub fn for_screen(&self, look: &ScreenSnapshot) -> Option<&Arc<Profile>> {
        let is_shown =
            |pattern: &ProfilePattern| look.view.rows.iter().any(|row| pattern.is_in(row));
        let fits = |profile: &&Arc<Profile>| profile.screen.as_ref().is_some_and(is_shown);
        self.profiles.values().filter(|profile| profile.implicit).find(fits)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.profiles.keys().map(String::as_str)
    }
}

/// Programs that start the program named after their options.
const WRAPPERS: &[&str] = &[
    "env",
    "npx",
    "bunx",
    "pnpx",
    "uvx",
    "pipx",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "uv",
    "node",
    "deno",
    "python",
    "python3",
    "sudo",
    "doas",
    "nice",
    "nohup",
    "time",
    "timeout",
    "stdbuf",
    "exec",
    "command",
    "setsid",
    "mise",
    "direnv",
    "firejail",
    "caffeinate",
];

/// Arguments of wrappers that are not a program.
const VERBS: &[&str] = &["exec", "x", "dlx", "run", "tool", "--", "-m"];

/// Shells, which run what follows `-c`.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// The names of programs and packages that a command line may start: usually one.
fn started_programs(argv: &[String]) -> Vec<String> {
    let mut words = argv.iter().map(String::as_str);
    let Some(first) = words.next() else {
        return Vec::new();
    };
    let program = program_of(first);
    if SHELLS.contains(&program.as_str()) {
        return match argv.iter().position(|word| is_command_flag(word)) {
            Some(at) => {
                argv.get(at + 1).map_or_else(Vec::new, |line| started_programs(&words_of(line)))
            }
            // A script: the kernel lists its interpreter first.
            None => match words.find(|word| !word.starts_with('-')) {
                Some(script) => vec![program_of(script)],
                None => vec![program],
            },
        };
    }
    if !WRAPPERS.contains(&program.as_str()) {
        return vec![program];
    }
    // Before the program, a wrapper takes options, their values, assignments and verbs. A value may
    // look like a program, so up to three words count, or all up to another wrapper or a shell.
    let rest: Vec<String> = argv[1..].to_vec();
    let is_word = |word: &&String| {
        !word.starts_with('-') && !word.contains('=') && !VERBS.contains(&word.as_str())
    };
    let mut names: Vec<String> = Vec::new();
    for (at, word) in rest.iter().enumerate().filter(|(_, word)| is_word(word)) {
        let name = program_of(word);
        if WRAPPERS.contains(&name.as_str()) || SHELLS.contains(&name.as_str()) {
            names.extend(started_programs(&rest[at..]));
            break;
        }
        names.push(name);
        if names.len() == 3 {
            break;
        }
    }
    names
}

/// `-c`, `-lc`, `-ic`…
fn is_command_flag(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && word.ends_with('c')
}

/// The words of a shell line, as far as they are plain; leading assignments are skipped.
fn words_of(line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned());
    words.skip_while(|word| word.contains('=')).filter(|word| word != "exec").collect()
}

/// The name of a program or package without folder, version and extension.
fn program_of(word: &str) -> String {
    let scoped = word.starts_with('@') && word.matches('/').count() == 1;
    let base = if scoped { word } else { word.rsplit(['/', '\\']).next().unwrap_or(word) };
    let at = base.char_indices().skip(1).find(|(_, c)| *c == '@').map(|(at, _)| at);
    let base = at.map_or(base, |at| &base[..at]);
    let endings = [".js", ".mjs", ".cjs", ".exe", ".cmd", ".py"];
    let bare = endings.iter().find_map(|ending| base.strip_suffix(ending)).unwrap_or(base);
    bare.to_owned()
}
