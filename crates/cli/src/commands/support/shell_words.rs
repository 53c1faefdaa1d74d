//! A command line as a user would type it.

/// The arguments, quoted for a shell.
pub(crate) fn shell_words(argv: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let word = |word: &String| match word.is_empty() || !word.chars().all(plain) {
        true => format!("'{}'", word.replace('\'', "'\\''")),
        false => word.clone(),
    };
    argv.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A path with the user's home folder as `~`.
pub(crate) fn with_tilde(path: &str, home: Option<&str>) -> String {
    let home = home.map(|home| home.trim_end_matches('/')).filter(|home| !home.is_empty());
    let rest = home.and_then(|home| path.strip_prefix(home));
    match rest {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_where_a_shell_needs_it() {
        let argv = ["sh", "-c", "echo 'a b'", ""].map(str::to_owned);
        assert_eq!(shell_words(&argv), "sh -c 'echo '\\''a b'\\''' ''");
    }

    #[test]
    fn only_the_home_folder_itself_becomes_a_tilde() {
        let short = |path| with_tilde(path, Some("/home/ann/"));
        assert_eq!(
            ["/home/ann/x", "/home/ann", "/home/anna", "/tmp"].map(short),
            ["~/x", "~", "/home/anna", "/tmp"]
        );
        assert_eq!(with_tilde("/x", Some("/")), "/x");
        assert_eq!(with_tilde("/x", None), "/x");
    }
}
