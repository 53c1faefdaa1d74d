//! Attempts to get around the rules, a line each: what is expected, and the command. A line that
//! starts with `$` is shell text for `bash -c`, one with `%` for `sh -c`; others are arguments.

mod bypass;

use super::*;
use PermissionDecision::{Allow, Ask, Deny};

pub(super) fn rules(
    default: PermissionDecision,
    lines: &[(PermissionDecision, &str)],
) -> PermissionRules {
    let mut rules = PermissionRules::new(default, "default");
    for (decision, pattern) in lines {
        let pattern = CommandPattern::parse(pattern).unwrap();
        rules.add(PermissionRule {
            decision: *decision,
            pattern,
            source: decision.as_str().into(),
        });
    }
    rules
}

/// The rules that the table of attempts is about.
pub(super) fn usual() -> PermissionRules {
    rules(
        Ask,
        &[
            (Allow, "ls"),
            (Allow, "cat *"),
            (Allow, "git status*"),
            (Allow, "git commit *"),
            (Allow, "npm *"),
            (Allow, "make"),
            (Allow, "grep *"),
            (Allow, "find *"),
            (Allow, "xargs *"),
            (Allow, "python *"),
            (Allow, "bash *"),
            (Allow, "env *"),
            (Allow, "sed *"),
            (Allow, "awk *"),
            (Allow, "tar *"),
            (Allow, "ssh *"),
            (Allow, "sh *"),
            (Allow, "git log*"),
            (Allow, "timeout *"),
            (Ask, "git push"),
            (Ask, "docker"),
            (Deny, "rm"),
            (Deny, "git push --force"),
            (Deny, "curl"),
            (Deny, "npm publish"),
            (Deny, "chmod 777"),
            (Deny, "dd of=*"),
        ],
    )
}

/// A machine on which `/tmp/x` is a link to `rm`, and `/tmp/ls` is another program.
struct Links;

impl ProgramLookup for Links {
    fn find(&self, program: &str) -> ProgramNames {
        let paths = match program {
            "/tmp/x" | "./x" => vec!["/tmp/x".to_owned(), "/usr/bin/rm".to_owned()],
            "/tmp/shell" => vec!["/tmp/shell".to_owned(), "/usr/bin/bash".to_owned()],
            "sh" => vec!["/bin/sh".to_owned(), "/bin/dash".to_owned()],
            "safe" => vec!["/usr/bin/safe".to_owned(), "/usr/bin/curl".to_owned()],
            _ => Vec::new(),
        };
        let is_usual = ["/bin/ls", "/usr/bin/ls", "/usr/bin/bash", "/bin/sh", "/bin/bash"];
        ProgramNames { paths, is_other: program.contains('/') && !is_usual.contains(&program) }
    }
}

pub(super) fn argv(line: &str) -> Vec<String> {
    let shell = |shell: &str, text: &str| [shell, "-c", text].map(str::to_owned).to_vec();
    if let Some(text) = line.strip_prefix("$ ") {
        return shell("bash", text);
    }
    if let Some(text) = line.strip_prefix("% ") {
        return shell("sh", text);
    }
    line.split(' ').map(|word| word.replace('␣', " ").replace('␤', "\n")).collect()
}

pub(super) fn verdict(line: &str, rules: &PermissionRules) -> PermissionVerdict {
    let argv = argv(line);
    let command = SpawnCommand { argv: &argv, cwd: None, changed_variables: &[] };
    judge(&command, rules, &Links)
}

/// Checks lines of `deny`, `ask`, `allow` or `never` (which is not allow), and a command.
#[track_caller]
pub(super) fn check(table: &str, rules: &PermissionRules) -> usize {
    let mut wrong = Vec::new();
    let lines: Vec<_> =
        table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    for line in &lines {
        let (expect, command) = line.split_once(' ').unwrap();
        let command = command.trim_start().replace("\\n", "\n").replace("\\t", "\t");
        let verdict = verdict(&command, rules);
        let is_right = match expect {
            "never" => verdict.decision != Allow,
            name => PermissionDecision::from_name(name).unwrap() == verdict.decision,
        };
        if !is_right {
            wrong.push(format!("{line}\n    {:?}: {}", verdict.decision, verdict.reason));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    lines.len()
}

#[test]
fn deny_beats_ask_beats_allow() {
    let rules = rules(Ask, &[(Allow, "git *"), (Ask, "git push"), (Deny, "git push -f")]);
    check("allow git status\nask git push\ndeny git push -f\nask hg push", &rules);
}

#[test]
fn the_longest_pattern_does_not_win_as_it_does_in_opencode_pty() {
    let text = r#"{"permission":{"bash":{"git push *****":"allow","git push -f":"deny"}}}"#;
    let rules = OpenCodeRules::parse(text).unwrap();
    let rules = rules.rules(std::path::Path::new("/p"), "opencode.json").unwrap();
    check("deny git push -f\nallow git push origin\nallow ls", &rules);
}

#[test]
fn a_rule_for_everything_is_the_default() {
    let rules = rules(Ask, &[(Deny, "*"), (Allow, "ls"), (Ask, "git *")]);
    check("allow ls -l\nask git push\ndeny make\ndeny $ $X\ndeny $ ls; make", &rules);
}

#[test]
fn without_rules_that_ask_or_deny_nothing_is_judged() {
    let rules = rules(Allow, &[(Allow, "ls")]);
    assert!(rules.allows_everything());
    check("allow $ (((\nallow rm", &rules);
}

#[test]
fn the_default_decides_about_what_no_rule_matches() {
    let rules = rules(Allow, &[(Deny, "rm")]);
    check(
        "allow make\nallow bash\nallow $ make && ls > x\ndeny $ make; rm x\nask $ $X\nask $ (((",
        &rules,
    );
}

#[test]
fn a_variable_that_changes_what_runs_takes_away_a_rules_permission() {
    let argv = argv("ls");
    let judged = |changed: &[String]| {
        let command = SpawnCommand { argv: &argv, cwd: None, changed_variables: changed };
        judge(&command, &usual(), &Links).decision
    };
    assert_eq!(judged(&[]), Allow);
    assert_eq!(judged(&["LC_ALL".to_owned()]), Allow);
    assert_eq!(judged(&["LD_PRELOAD".to_owned()]), Ask);
}

#[test]
fn folders_are_compared_by_component() {
    let text = r#"{"permission":{"external_directory":{"*":"deny","/work/lib/**":"allow"}}}"#;
    let rules = OpenCodeRules::parse(text).unwrap();
    let rules = rules.rules(std::path::Path::new("/work/app"), "opencode.json").unwrap();
    let argv = argv("ls");
    let decision = |folder: &str| {
        let cwd = Some(std::path::Path::new(folder));
        let command = SpawnCommand { argv: &argv, cwd, changed_variables: &[] };
        judge(&command, &rules, &Links).decision
    };
    assert_eq!(decision("/work/app"), Allow);
    assert_eq!(decision("/work/app/src"), Allow);
    assert_eq!(decision("/work/app2"), Deny);
    assert_eq!(decision("/work"), Deny);
    assert_eq!(decision("/work/lib/x"), Allow);
    check(
        "deny $ cd /etc && ls\nallow $ cd src && ls\ndeny $ cd /work/app/../x; ls\ndeny $ cd ..; ls\nnever $ cd $X; ls\ndeny env -C /etc ls\nallow $ cd /work/app/src; ls",
        &rules,
    );
}

#[test]
fn the_explanation_names_rule_command_and_wrappers() {
    let verdict = verdict("sudo bash -c ls;␣rm␣-rf␣x", &usual());
    assert_eq!(verdict.decision, Deny);
    assert_eq!(verdict.reason, "`rm -rf x` (in `sudo` in `bash`): a rule denies it");
    let step = verdict.steps.last().unwrap();
    assert_eq!(step.rule.as_deref(), Some("deny: rm"));
    assert_eq!(step.via, ["sudo", "bash"]);
}

#[test]
fn deep_and_long_texts_end_as_ask_in_little_time() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!("$ {}ls{}", open.repeat(depth), close.repeat(depth))
    };
    let rules = usual();
    for (open, close) in [
        ("(", ")"),
        ("$(", ")"),
        ("{ ", "; }"),
        ("\"$(", ")\""),
        ("if ls; then ", "; fi"),
        ("${x:-", "}"),
        ("! ", ""),
        ("`", "`"),
        ("<(", ")"),
        ("ls|", ""),
        ("'", "'"),
        ("\\`", "\\`"),
        ("[[ (", ") ]]"),
        ("$((", "))"),
    ] {
        for depth in [5, 12, 100, 5000] {
            let started = std::time::Instant::now();
            let _ = verdict(&nested(open, close, depth), &rules);
            let took = started.elapsed();
            assert!(took.as_secs() < 10, "{open} {depth} took {took:?}");
        }
    }
    assert_eq!(verdict(&format!("$ {}", "ls;".repeat(20_000)), &rules).decision, Ask);
}

proptest::proptest! {
    #[test]
    fn no_text_makes_the_judge_panic(text in "\\PC{0,60}", shell in "[ -~\n]{0,60}") {
        let rules = usual();
        let _ = verdict(&format!("$ {text}"), &rules);
        let _ = verdict(&format!("% {shell}"), &rules);
        let _ = verdict(&text, &rules);
    }

    #[test]
    fn a_denied_program_is_found_behind_every_wrapper(
        wrappers in proptest::collection::vec(0_usize..10, 0..6),
    ) {
        let all = ["env", "env A=b", "nohup", "timeout 5", "nice -n 5", "sudo -u x", "xargs -n 1",
            "setsid -f", "stdbuf -oL", "busybox"];
        let words: Vec<&str> = wrappers.iter().map(|at| all[*at]).chain(["rm x"]).collect();
        let line = words.join(" ");
        proptest::prop_assert_eq!(verdict(&line, &usual()).decision, Deny);
        proptest::prop_assert_eq!(verdict(&format!("$ {line}"), &usual()).decision, Deny);
    }
}
