//! The words of a simple shell text. Whatever a shell would make something else of is not simple.

/// The commands of a text, word by word; nothing when it has pipes, redirections, expansions or worse.
///
/// Commands after one another (`;`, `&&`, `||`, a new line) are still simple: each is taken as if it ran.
pub(super) fn commands(text: &str) -> Option<Vec<Vec<String>>> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\'' | '"' => quoted(char, &mut chars, word.get_or_insert_default())?,
            ' ' | '\t' => commands.last_mut()?.extend(word.take()),
            ';' | '\n' | '&' | '|' => {
                // One `&` or `|` is not a mere next command.
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

/// The rest of a quotation, without anything that a shell would replace.
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
