//! Files of variables for `--env-file`: `NAME=VALUE` lines, as `.env` files have them.

use std::fs;
use std::path::Path;

use paned_model::Refusal;

/// Reads the variables of a file, in their order.
///
/// # Errors
/// When the file cannot be read, or a line is not a variable; the line is named by its number, and
/// never quoted, because it may hold a secret.
pub(crate) fn read(path: &Path) -> Result<Vec<(String, String)>, Refusal> {
    let shown = path.display();
    let text = fs::read(path).map_err(|error| {
        Refusal::invalid(format!("cannot read the variables in `{shown}`: {error}"))
    })?;
    let text = String::from_utf8(text)
        .map_err(|_| Refusal::invalid(format!("`{shown}` is not UTF-8 text")))?;
    parse(&text).map_err(|(line, why)| Refusal::invalid(format!("`{shown}`, line {line}: {why}")))
}

/// The variables, or the number of the first wrong line and what is wrong with it.
fn parse(text: &str) -> Result<Vec<(String, String)>, (usize, &'static str)> {
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let variables = lines.filter_map(|(n, line)| match parse_line(line.trim()) {
        Ok(variable) => variable.map(Ok),
        Err(why) => Some(Err((n + 1, why))),
    });
    variables.collect()
}

fn parse_line(line: &str) -> Result<Option<(String, String)>, &'static str> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let exported = line.strip_prefix("export").filter(|rest| rest.starts_with([' ', '\t']));
    let line = exported.unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=').ok_or("write it as NAME=VALUE")?;
    let name = name.trim_end();
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err("the name before `=` is empty or has a space in it");
    }
    Ok(Some((name.to_owned(), parse_value(value.trim_start())?)))
}

/// A value: in single quotes as it is, in double quotes with escapes, or up to a comment.
fn parse_value(text: &str) -> Result<String, &'static str> {
    let (value, rest) = match text.chars().next() {
        Some('\'') => {
            let (value, rest) = text[1..].split_once('\'').ok_or("the quote `'` is not closed")?;
            (value.to_owned(), rest)
        }
        Some('"') => double_quoted(&text[1..])?,
        Some(_) | None => return Ok(without_comment(text).trim_end().to_owned()),
    };
    match without_comment(rest).trim().is_empty() {
        true => Ok(value),
        false => Err("there is text after the closing quote"),
    }
}

fn double_quoted(text: &str) -> Result<(String, &str), &'static str> {
    let mut value = String::new();
    let mut chars = text.chars();
    loop {
        match chars.next().ok_or("the quote `\"` is not closed")? {
            '"' => return Ok((value, chars.as_str())),
            '\\' => match chars.next().ok_or("the quote `\"` is not closed")? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                literal @ ('"' | '\\' | '$' | '`') => value.push(literal),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
}

/// A text up to a `#` at its start or after a space.
fn without_comment(text: &str) -> &str {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        if c == '#' && before.is_whitespace() {
            return &text[..at];
        }
        before = c;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, value: &str) {
        assert_eq!(parse(line), Ok(vec![("A".to_owned(), value.to_owned())]), "{line}");
    }

    #[test]
    fn values_are_read_with_quotes_and_comments() {
        check("A=1", "1");
        check("  export A = 1 2  # a comment", "1 2");
        check("A=", "");
        check("A=b#c", "b#c");
        check("A=#c", "");
        check("A='a # \\n $B'  # c", "a # \\n $B");
        check(r#"A="a\n\"b\" \$C \x""#, "a\n\"b\" $C \\x");
        check("\u{feff}# first\r\n\r\nA=1=2\r\n", "1=2");
        check("export=x\n".replace("export", "A").as_str(), "x");
    }

    #[test]
    fn wrong_lines_are_named_by_their_number() {
        for (text, line) in [("A=1\nB", 2), ("=x", 1), ("a b=c", 1), ("A='x", 1), ("\nA=\"x\\", 2)]
        {
            assert_eq!(parse(text).unwrap_err().0, line, "{text}");
        }
        assert!(parse("A='x' y").is_err());
    }
}
