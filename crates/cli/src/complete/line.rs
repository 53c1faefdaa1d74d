//! Splits a line of bash into words.

/// The words up to the cursor, without quotes; the last is the one that is completed. A cursor
/// outside the line is at its end.
pub(super) fn words(line: &str, point: usize) -> Vec<String> {
    let line = line.get(..point).unwrap_or(line);
    let mut words = vec![String::new()];
    let mut quote = None;
    let mut letters = line.chars();
    let mut is_open = false;
    while let Some(letter) = letters.next() {
        let Some(word) = words.last_mut() else { break };
        match (quote, letter) {
            (None, ' ' | '\t' | '\n') => {
                if is_open {
                    words.push(String::new());
                }
                is_open = false;
                continue;
            }
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None | Some('"'), '\\') => word.extend(letters.next()),
            (_, letter) => word.push(letter),
        }
        is_open = true;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: &[&str]) {
        assert_eq!(words(line, line.len()), expect, "{line}");
    }

    #[test]
    fn quotes_and_blanks_are_read_as_bash_reads_them() {
        check("a b", &["a", "b"]);
        check("a  b ", &["a", "b", ""]);
        check("a 'b c", &["a", "b c"]);
        check("a \"b 'c\" d", &["a", "b 'c", "d"]);
        check("a b\\ c '' x:y=z", &["a", "b c", "", "x:y=z"]);
        check("", &[""]);
        assert_eq!(words("paned ls web", 8), ["paned", "ls"]);
        assert_eq!(words("ä b", 1), ["ä", "b"]);
    }
}
