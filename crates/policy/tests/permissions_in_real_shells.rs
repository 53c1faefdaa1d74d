//! The judge of commands beside real shells: every program that a shell really starts must be one
//! that the judge has seen, or the judge did not allow the text.
//!
//! The programs are stubs that write their name into a file; nothing else is on the `PATH`.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paned_policy::permissions::{
    CommandPattern, PermissionDecision, PermissionRule, PermissionRules, ProgramLookup,
    ProgramNames, SpawnCommand, judge,
};
use proptest::prelude::*;
use tempfile::TempDir;

const STUBS: [&str; 6] = ["one", "two", "three", "git", "rm", "make"];
/// Programs that start others, which are the real ones.
const REAL: [&str; 8] = ["env", "nohup", "nice", "timeout", "xargs", "find", "sh", "bash"];

/// Shells, with stub programs.
struct Stubs {
    folder: TempDir,
}

/// Every program is the usual one.
struct Usual;

impl ProgramLookup for Usual {
    fn find(&self, _: &str) -> ProgramNames {
        ProgramNames::default()
    }
}

impl Stubs {
    fn new() -> Self {
        let stubs = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(stubs.bin()).unwrap();
        fs::create_dir(stubs.work()).unwrap();
        for name in STUBS {
            let path = stubs.bin().join(name);
            let log = stubs.log();
            let text = format!("#!/bin/sh\necho {name} >> {}\necho {name}\n", log.display());
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in REAL {
            let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            if let Some(real) = found.iter().find(|path| path.exists()) {
                symlink(real, stubs.bin().join(name)).unwrap();
            }
        }
        stubs
    }

    fn bin(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The stubs that a shell starts for a text.
    fn run(&self, shell: &str, text: &str) -> BTreeSet<String> {
        let _ = fs::remove_file(self.log());
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-s", "KILL", "20", shell, "-c", text]).env_clear();
        command.env("PATH", self.bin()).current_dir(self.work());
        // Returns when the last process has closed its output, also those in the background.
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        output.expect("a shell starts");
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Whether the text was allowed, so that it was tried.
    #[track_caller]
    fn check(&self, shell: &str, text: &str) -> bool {
        let argv = [shell, "-c", text].map(str::to_owned);
        let mut rules = PermissionRules::new(PermissionDecision::Allow, "default");
        rules.add(PermissionRule {
            decision: PermissionDecision::Deny,
            pattern: CommandPattern::parse("never-there").unwrap(),
            source: "test".into(),
        });
        let command = SpawnCommand { argv: &argv, cwd: None, changed_variables: &[] };
        let verdict = judge(&command, &rules, &Usual);
        if verdict.decision != PermissionDecision::Allow {
            return false;
        }
        let seen: BTreeSet<&str> = verdict
            .steps
            .iter()
            .filter_map(|step| step.command.split(' ').next())
            .map(|word| word.trim_matches('\''))
            .collect();
        for ran in self.run(shell, text) {
            assert!(
                seen.contains(ran.as_str()),
                "`{ran}` ran in {shell} and was not seen in\n{text}\nseen: {seen:?}"
            );
        }
        true
    }
}

/// Texts that a shell and the judge may read differently.
const CORPUS: &[&str] = &[
    "one; two | three",
    "one && two || three",
    "o\\ne",
    "o'n'e; \"tw\"o",
    "o\\\nne",
    "one \\\n; two",
    "one # two\nthree",
    "one '# ' two # three",
    "one <<E\ntwo\nE\nthree",
    "one <<'E'\n$(two)\nE\nthree",
    "one <<-E\n\ttwo\n\tE\nthree",
    "one <<A <<B\n1\nA\n2\nB\ntwo",
    "one <<E; two\nE\nthree",
    "one <<\"E F\"\ntwo\nE F\nthree",
    "one <<E\n`two`\nE",
    "one <<E\n\\$(two)\nE",
    "one \"`two`\"",
    "one `two \\`three\\``",
    "one $(two $(three))",
    "one \"$(two \"$(three)\")\"",
    "one $(two # )\n)",
    "one $(two ')' )",
    "one $(case x in x) two;; esac)",
    "one $(case x in (x) two;; esac)",
    "case one in one) two;; esac",
    "case x in y) one;; *) two;; esac",
    "one ${x:-$(two)}",
    "one ${x:-`two`}",
    "one \"${x:-'$(two)'}\"",
    "one ${x:-\"$(two)\"}",
    "one ${x+$(two)}",
    "one $((1 + $(two; printf 1)))",
    "one $(( 1 )) ; two",
    "one $((two) )",
    "one $( (two) )",
    "((two) )",
    "( (one); two )",
    "{ one; two; }",
    "{one; two; }",
    "! one; ! two",
    "time one",
    "time -p one",
    "if one; then two; else three; fi",
    "if ! one; then two; fi",
    "until one; do two; done",
    "for i in 1 2; do one; done",
    "for i do one; done",
    "for i in $(one); do two; done",
    "one & two & wait",
    "one |& two",
    "one 2>&1 | two",
    "one &> out; two",
    "one >& out; two",
    "one > $(two)",
    "> out one",
    "< /dev/null one",
    "2>&1 one",
    "A=1 one",
    "A=$(two) one",
    "A='x y' one",
    "A= one",
    "A=one; two",
    "one A=two",
    "a[0]=1 one",
    "[[ x && one y ]]",
    "[[ -n $(one) ]]",
    "[ -n x ] && one",
    "test -n x && one",
    "function one { two; }",
    "f() { one; }; f",
    "f() ( one ); f",
    "one() { two; }; one",
    "eval one",
    "command one",
    "builtin one",
    "exec one",
    "exec -a x one",
    "env one",
    "env -i one",
    "env A=b one",
    "env -u X one two",
    "env -- one",
    "nohup one",
    "nice -n 1 one",
    "nice -5 one",
    "timeout 5 one",
    "timeout -s KILL 5 one",
    "timeout -k 1 5 one",
    "printf 'a\\nb' | xargs one",
    "printf 'a b' | xargs -n 1 one",
    "printf 'a b' | xargs -n1 env one",
    "printf 'one' | xargs -I{} {} x",
    "find . -exec one {} +",
    "find . -exec one {} \\; -exec two {} \\;",
    "sh -c one",
    "sh -c 'one; two'",
    "bash -c 'sh -c \"one; two\"'",
    "bash -ec one",
    "bash -c 'one $0' two",
    "bash -c '\"$@\"' x one",
    "sh -c \"o\"ne",
    "echo one | sh",
    "sh <<E\none\nE",
    "bash <<< one",
    "$'one'",
    "$'\\x6fne'",
    "$\"one\"",
    "o{ne,x}",
    "{one,two}",
    "on?",
    "/*/*/on[e]",
    "$X one",
    "${X}one",
    "$X$Y one",
    "\"\" one",
    "\"$@\" one",
    "$@ one",
    "X=one; $X",
    "X=\"one two\"; $X",
    "alias x=one\nx",
    "set -- one; \"$@\"",
    "set one; $1",
    "trap one EXIT",
    "one;;two",
    "one\rtwo",
    "one\u{a0}two",
    "\t one \t two",
    "one\n\n\ntwo",
    "one &&\n\n two",
    "one |\n# x\n two",
    "one; # two\n # three\n",
    "coproc one",
    "select x in a; do one; break; done < /dev/null",
    "one <(two)",
    "one >(two)",
    "one 3< <(two)",
    "x='a[$(one)]'; echo $((x))",
    "x='a[$(one)]'; [ x -eq 1 ]",
    "x='$(one)'; echo ${x@P}",
    "printf -v 'a[$(one)]' x",
    "read 'a[$(one)]' <<< x",
    "unset 'a[$(one)]'",
    "test -v 'a[$(one)]'",
    "let 'a[$(one)]=1'",
    "((a[$(one)]=1))",
    "declare 'a[$(one)]=1'",
    "declare -n r='a[$(one)]'; r=1",
    "declare -i n='a[$(one)]'",
    "export n='a[$(one)]'; echo $((n))",
    "echo ${n:a[$(one)]}",
    "hash -p /bin/true one; one",
    "enable -n echo; one",
    "PS4='$(one)'; set -x; two",
    "PROMPT_COMMAND=one; two",
    "printf one > out; . ./out",
    "shopt -s expand_aliases\nalias two=one\ntwo",
    "type one; command -v two",
    "while false; do one; done; two",
    "one ''",
    "'' one",
    "one \\",
    "one \\\n",
    "\\\none",
    "\\one",
    "one\\;two",
    "one';'two",
    "one\\ two",
    "if true; then one; fi | two",
    "(one) | (two) && { three; }",
    "{ one; } > out 2>&1 & wait",
    "one 1>&2 2>out",
    "one <&-",
    "one {fd}>out",
    "exec 3>out; one >&3",
    "esac one",
    "in one",
    "then one",
    "echo if; one",
    "x=if; one",
    "for if in one; do two; done",
    "for x in one;do two;done",
    "for ((i=0;i<1;i++)) do one; done",
    "for ((i=$(one;echo 0);i<1;i++)); do two; done",
    "repeat 2 one",
    "one=two three",
    "one+=two three",
    "1x=2 one",
    "one $",
    "one $'",
    "one \"$",
    "one ~",
    "~ one",
    "one !(x)",
    "one @(two)",
    "echo @(one|two)",
    "one !$",
    "one ^two^three",
    "%1 one",
    "one [two",
    "[one",
    "one ]",
    "one {",
    "} one",
    "one }",
    "one )",
    "echo $(one",
    "echo `one",
    "echo ${one",
    "one <",
    "one <<",
    "one <<E",
    "one <<E\ntwo",
];

#[test]
fn no_program_of_the_corpus_runs_unseen() {
    let stubs = Stubs::new();
    let mut tried = 0;
    for text in CORPUS {
        for shell in ["bash", "sh"] {
            tried += usize::from(stubs.check(shell, text));
        }
    }
    // Otherwise the judge would only be careful, not right.
    assert!(100 <= tried, "{tried} were allowed");
}

/// What random texts are put together from.
const TOKENS: &[&str] = &[
    "one",
    "two",
    "three",
    " ",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "'",
    "\"",
    "`",
    "$(",
    ")",
    "(",
    "{ ",
    "; }",
    "\\",
    "\\\n",
    "$x",
    "${x:-",
    "}",
    "if ",
    "; then ",
    "; fi",
    "for i in a; do ",
    "; done",
    "case one in one) ",
    ";; esac",
    "[[ ",
    " ]]",
    "((",
    "))",
    "<(",
    ">",
    "<",
    "<<E\n",
    "\nE\n",
    "#",
    "!",
    "time ",
    "env ",
    "nohup ",
    "sh -c ",
    "bash -c ",
    "eval ",
    "A=",
    "A=1 ",
    "$'",
    "*",
    "echo ",
    "$((",
    "x",
    "1",
    ">&2 ",
    "2>&1",
    "f() ",
    "function f ",
    "<<'E'\n",
    "<<-E\n",
    "\t",
    "{a,b}",
    "[",
    "]",
    "~",
    "=",
    "xargs ",
    "command ",
    "exec ",
    "until ",
    "; do ",
    "else ",
    "elif ",
    "\u{e9}",
    "\"$(",
    ")\"",
    "'one'",
    "\"two\"",
];

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..TOKENS.len(), 1..14)
        .prop_map(|picks| picks.into_iter().map(|at| TOKENS[at]).collect())
}

/// Texts that are valid, more or less deep.
fn valid() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("x".to_owned()),
        Just("'a b'".to_owned()),
        Just("\"a;b\"".to_owned()),
        Just("a\\;b".to_owned()),
        Just("$x".to_owned()),
        Just("'$(three)'".to_owned()),
    ];
    let name = prop_oneof![
        Just("one".to_owned()),
        Just("t'w'o".to_owned()),
        Just("\"three\"".to_owned()),
        Just("m\\ake".to_owned()),
        Just("env git".to_owned()),
        Just("A=1 rm".to_owned()),
        Just("nice -n 1 two".to_owned()),
    ];
    let simple = (name, proptest::collection::vec(word, 0..3))
        .prop_map(|(name, words)| format!("{name} {}", words.join(" ")));
    simple.prop_recursive(4, 24, 3, |inner| {
        let one = inner.clone();
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| format!("{a}; {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} && {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} || {b}")),
            two.clone().prop_map(|(a, b)| format!("{a} | {b}")),
            two.clone().prop_map(|(a, b)| format!("if {a}\nthen {b}\nfi")),
            two.clone().prop_map(|(a, b)| format!("case x in x) {a};; *) {b};; esac")),
            two.prop_map(|(a, b)| format!("one <<E\n$({a})\nE\n{b}")),
            one.clone().prop_map(|a| format!("( {a} )")),
            one.clone().prop_map(|a| format!("{{ {a}; }}")),
            one.clone().prop_map(|a| format!("one \"$({a})\" x")),
            one.clone().prop_map(|a| format!("one $({a}) x")),
            one.clone().prop_map(|a| format!("for i in a b; do {a}; done")),
            one.clone().prop_map(|a| format!("! {a}")),
            one.clone().prop_map(|a| format!("echo x > out; {a}")),
            one.clone().prop_map(|a| format!("X=$({a})")),
            one.prop_map(|a| format!("sh -c '{}'", a.replace('\'', "'\\''"))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_program_of_random_text_runs_unseen(texts in proptest::collection::vec(soup(), 40)) {
        let stubs = Stubs::new();
        for text in texts {
            stubs.check("bash", &text);
            stubs.check("sh", &text);
        }
    }

    #[test]
    fn no_program_of_a_valid_text_runs_unseen(text in valid()) {
        let stubs = Stubs::new();
        stubs.check("bash", &text);
        stubs.check("sh", &text);
    }
}
