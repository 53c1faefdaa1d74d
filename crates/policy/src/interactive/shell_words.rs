//! The words of a simple shell script. A script with anything that the shell would expand or
//! redirect is not simple.

/// The commands of a script as lists of words; `None` if it has pipes, redirections, expansions or
/// other shell syntax.
///
/// A sequence of commands (`;`, `&&`, `||`, a new line) is still simple: each command counts as if
/// it ran.
pub(super) fn commands(text: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' | '"' => quoted(char, &mut chars, word.get_or_insert_default())?,
            ' ' | '\t' => commands.last_mut()?.extend(word.take()),
            ';' | '\n' | '&' | '|' => {
                // A single `&` or `|` runs a job in the background or a pipe, not a sequence.
                if matches!(char, '&' | '|') && chars.next() != Some(char) {
                    return None;
                }
                commands.last_mut()?.extend(word.take());
                commands.push(Vec::new());
            }
            '\\' | '$' | '`' | '<' | '>' | '(' | ')' | '{' | '}' | '*' | '?' | '[' | ']' | '~'
            | '#' | '!' => {
                return None;
            }
            char => word.get_or_insert_default().push(char),
        }
    }
    commands.last_mut()?.extend(word);
    commands.retain(|words| !words.is_empty());
    Some(commands)
}

/// Reads up to the closing quote; `None` if the shell would expand anything inside.
fn quoted(quote: char, chars: &mut impl Iterator<Item = char>, word: &mut String) -> Option<()> {
    for char in chars {
        match char {
            char if char == quote => return Some(()),
            '\\' | '$' | '`' | '!' if quote == '"' => return None,
            char => word.push(char),
        }
    }
    None
}
