//! Tests of `pattern`.

use super::*;

/// Whether it matches a line by itself, and whether something is found in a text.
#[track_caller]
fn check(text: &str, line: &str, lines: &str) {
    let expect = regex::Regex::new(text).unwrap().is_match(line);
    let pattern = match pattern("pattern", text, false) {
        Ok(pattern) => pattern,
        Err(refusal) => {
            assert!(!expect && refusal.sentence.contains("cannot match any line"), "{refusal}");
            return;
        }
    };
    assert_eq!(pattern.is_match(line), expect, "{text:?} in {line:?}");
    let found = pattern.find(lines.as_bytes(), 0, false).is_some();
    assert_eq!(found, expect, "{text:?} in {lines:?}");
}

#[test]
fn nothing_is_found_across_lines() {
    for text in [r"a\sb", "a[^x]b", "(?s)a.b", "a\\nb", "a\\r\\nb", "a(?:\n|\r|x)+b", r"a\W+b"] {
        check(text, "a", "a\r\nb\r\n");
        check(text, "a", "a\nb\n");
    }
}

#[test]
fn the_ends_of_a_line_are_the_ends_of_a_text() {
    for text in ["^b$", r"\Ab\z", "(?m)^b$", "(?mR)^b$", r"\bb\b", r"\b{start}b\b{end}"] {
        check(text, "b", "a\r\nb\r\nc");
        check(text, "b", "a\nb");
    }
    check(r"^\s*$", "", "\r\n");
    check("a$", "a", "a\r\n");
    check("^[^a]*b", "b", "a\r\nb\r\n");
}

#[test]
fn where_a_line_is_cut_it_does_not_end() {
    let check = |text: &str, line: &str, cut: bool, expect: bool| {
        let line = TextLine { text: line.into(), cut };
        let pattern = pattern("pattern", text, false).unwrap();
        assert_eq!(pattern.is_match_within(&line, 5), expect, "{text} in {line:?}");
    };
    for text in ["cde$", r"cde\z", r"e\b", "(?m)e$", "e(?:$|!)", "^.{5}$"] {
        check(text, "abcde", false, true);
        check(text, "abcdef", true, false);
    }
    for text in ["cde$", r"cde\z", "日$", "^.{5}$"] {
        check(text, "日本cde", true, false);
        check(text, "abcd日本", true, false);
    }
    check(r"e\b", "abcde ", true, true);
    check(r"e\B", "abcdef", true, true);
    check("f|ef", "abcdef", true, false);
    check("cde", "abcdef", true, true);
    // What follows is not known.
    check("c$", "abc", true, false);
    check(r"c\b", "abc", true, true);
    check("c ", "abc", true, false);
}

#[test]
fn what_every_match_holds_is_looked_for_first() {
    let lines = b"took 1 ms\ntook 2 minutes\n";
    for (text, expect) in [
        (r"^took \d+ minutes", Some(16)),
        (r"\d+ (minutes|hours)", Some(17)),
        (r"\d+ (hours|days)", None),
    ] {
        let pattern = pattern("pattern", text, false).unwrap();
        assert_eq!(pattern.find(lines, 0, true), expect, "{text}");
    }
    // Nothing but what a match begins with, and nothing at all.
    for text in ["minutes", "(?i)took .*MINUTES", r"\d$"] {
        assert!(pattern("pattern", text, false).unwrap().finder.is_none(), "{text}");
    }
}

#[test]
fn bad_and_huge_patterns_get_a_sentence() {
    assert!(pattern("pattern", "a.*b$", false).unwrap().is_match("axxb"));
    assert!(pattern("pattern", "ERROR", true).unwrap().is_match("an error"));
    for (text, part) in [
        ("a(", "unclosed group"),
        (r"(a)\1", "backreferences are not supported"),
        ("a{1000}{1000}{10}", "too large"),
    ] {
        let sentence = pattern("pattern", text, false).unwrap_err().sentence;
        assert!(sentence.starts_with("invalid `pattern`") && sentence.contains(part), "{sentence}");
    }
    assert!(pattern("p", &"x".repeat(1001), false).unwrap_err().sentence.contains("1000"));
}

#[test]
fn ordinary_patterns_are_not_too_large() {
    for (text, line) in [
        (r"\w{30}", "x".repeat(30)),
        (r"^\s*\w{1,32}=\S{1,200}$", " key=value".to_owned()),
        (r"(\w+ ){20}", "a b ".repeat(10)),
        (r"^.{1,1000}$", "x".repeat(1000)),
    ] {
        assert!(pattern("pattern", text, false).unwrap().is_match(&line), "{text}");
    }
}

#[test]
fn what_can_match_no_line_is_refused() {
    for text in ["a\nb", r"done\n", r"a\r\nb", r"(?:x\n|\ny)z", r"(\n)+", r"[\r\n]", r"[^\s\S]"] {
        let sentence = pattern("pattern", text, false).unwrap_err().sentence;
        assert!(sentence.contains("without their line ends"), "{text}: {sentence}");
    }
    for text in [r"a\r?$", r"a\n?", r"b\n|a", r"[\na]", r"\n*a"] {
        assert!(pattern("pattern", text, false).unwrap().is_match("a"), "{text}");
    }
}

fn any(texts: &[&str]) -> Result<LinePattern, Refusal> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    PatternParam::any("stop", &texts, false).read()
}

#[test]
fn several_are_one_that_matches_where_any_does() {
    let stop = any(&["^a$", r"b|\d", "c"]).unwrap();
    for (line, expect) in [("a", true), ("xb", true), ("7", true), ("c", true), ("ax", false)] {
        assert_eq!(stop.is_match(line), expect, "{line}");
    }
}

#[test]
fn one_of_several_is_called_by_its_place_and_there_are_not_too_many() {
    for (texts, code, part) in [
        (vec!["a", "b", "c", "d("], Code::Invalid, "invalid `stop[3]`: unclosed"),
        (vec!["a", "b\n"], Code::Invalid, "invalid `stop[1]`: it cannot match any"),
        (vec!["a", &"x".repeat(1001)], Code::Invalid, "`stop[1]` is longer than 1000"),
        (vec!["a"; 33], Code::Limit, "`stop` can have at most 32 patterns"),
        (vec![&"x".repeat(1000); 5], Code::Limit, "the patterns of `stop` are longer than 4000"),
        (vec![r"\w{20}"; 32], Code::Invalid, "invalid `stop`: the compiled pattern is too large"),
        (vec![r"\w{200}"], Code::Invalid, "invalid `stop[0]`: the compiled pattern is too large"),
    ] {
        let refusal = any(&texts).unwrap_err();
        assert!(refusal.code == code && refusal.sentence.starts_with(part), "{refusal}");
    }
}

#[test]
fn what_may_become_large_is_not_light() {
    for (text, expect) in [
        ("error|panic", true),
        (r"^\s*took \d+ ms$", true),
        (r"\w{20}", false),
        (r"\w\w\w\w\w", false),
        (&"[ab]".repeat(60), false),
    ] {
        assert_eq!(pattern("pattern", text, false).unwrap().is_light(), expect, "{text}");
    }
}
