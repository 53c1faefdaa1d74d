//! Where an extension comes from: a git address or a local folder.

use std::path::{Path, PathBuf};

use paned_model::Refusal;

/// Longer addresses are refused.
const LONGEST: usize = 2048;
const LONGEST_REV: usize = 200;

/// Where an extension comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Git(GitSource),
    /// A local folder, as an absolute path.
    Folder(PathBuf),
}

/// A repository that git can fetch, and what of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GitSource {
    pub(super) url: String,
    /// A branch, a tag or a commit.
    pub(super) rev: Option<String>,
}

impl Source {
    /// Reads what a caller typed. `rev` comes before what follows a `#`.
    pub(super) fn parse(text: &str, rev: Option<&str>) -> Result<Self, Refusal> {
        let shown: String = text.chars().take(200).collect();
        let refuse = |why: &str| {
            Refusal::invalid(format!("cannot install from `{}`: {why}", shown.escape_debug()))
        };
        if LONGEST < text.len() {
            return Err(refuse("the address is too long"));
        }
        if text.trim().is_empty() {
            return Err(Refusal::invalid("write the git address or the folder to install from"));
        }
        if text.chars().any(|c| c.is_control() || c == '\u{feff}') {
            return Err(refuse("it contains a control character"));
        }
        if text.starts_with('-') {
            return Err(refuse("it looks like an option"));
        }
        if text.starts_with('/') {
            return match rev {
                None => Ok(Self::Folder(text.into())),
                Some(_) => {
                    Err(refuse("a folder has no revisions; use file://PATH for a repository"))
                }
            };
        }
        let (url, fragment) = match text.split_once('#') {
            Some((url, fragment)) => (url, Some(fragment)),
            None => (text, None),
        };
        check_url(url).map_err(refuse)?;
        let rev = rev.or(fragment).map(str::to_owned);
        rev.as_deref().map_or(Ok(()), check_rev)?;
        Ok(Self::Git(GitSource { url: url.to_owned(), rev }))
    }

    /// The name of the folder that holds it, in lower case.
    pub(super) fn folder_name(&self) -> String {
        let last = match self {
            Self::Git(source) => {
                let path = source.url.trim_end_matches('/');
                let path = path.strip_suffix(".git").unwrap_or(path);
                path.rsplit(['/', ':']).next().unwrap_or_default().to_owned()
            }
            Self::Folder(folder) => name_of(folder),
        };
        last.to_ascii_lowercase()
    }
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Only transports that run no command of the address's choice.
fn check_url(url: &str) -> Result<(), &'static str> {
    const KNOWN: &str = "use https://, ssh://, git@HOST:PATH, file:// or the path of a folder";
    // `ext::sh -c …` names a command, as other `helper::address` forms do.
    if url.contains("::") && !url.contains('[') {
        return Err(KNOWN);
    }
    if url.contains(' ') {
        return Err("an address has no blanks");
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        return match scheme {
            "https" | "ssh" => check_authority(rest),
            "file" if rest.starts_with('/') => Ok(()),
            "file" => Err("write file:// and an absolute path"),
            "http" | "git" => Err("it is not encrypted; use https:// or ssh://"),
            _ => Err(KNOWN),
        };
    }
    if url.contains("::") {
        return Err(KNOWN);
    }
    match url.split_once(':') {
        Some((host, path)) if !path.is_empty() && !path.starts_with('-') && !host.contains('/') => {
            check_user_and_host(host)
        }
        Some(_) => Err(KNOWN),
        None => Err("write an absolute path for a folder; for git use https://, ssh:// or \
                     git@HOST:PATH"),
    }
}

fn check_authority(rest: &str) -> Result<(), &'static str> {
    let (authority, path) = rest.split_once('/').ok_or("the path of the repository is missing")?;
    if path.is_empty() {
        return Err("the path of the repository is missing");
    }
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    if user.is_some_and(|user| user.contains(':')) {
        // It would be in the journal and in the list of processes.
        return Err("it contains a password; let git ask a credential helper instead");
    }
    let host =
        host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host);
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_:".contains(c);
    check_word(host, is_host).and(user.map_or(Ok(()), |user| check_word(user, is_user)))
}

fn check_user_and_host(text: &str) -> Result<(), &'static str> {
    let is_host = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    match text.rsplit_once('@') {
        Some((user, host)) => check_word(user, is_user).and(check_word(host, is_host)),
        None => check_word(text, is_host),
    }
}

fn is_user(c: char) -> bool {
    c.is_ascii_alphanumeric() || ".-_+".contains(c)
}

fn is_port(text: &str) -> bool {
    text.len() <= 5 && text.chars().all(|c| c.is_ascii_digit())
}

/// Neither empty nor an option of ssh.
fn check_word(word: &str, fits: impl Fn(char) -> bool) -> Result<(), &'static str> {
    match !word.is_empty() && !word.starts_with('-') && word.chars().all(fits) {
        true => Ok(()),
        false => Err("the name of the user or the host is invalid"),
    }
}

/// A branch, tag or commit, without the characters that mean more to `git fetch`.
fn check_rev(rev: &str) -> Result<(), Refusal> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-/+@".contains(c);
    let is_name = !rev.is_empty()
        && rev.len() <= LONGEST_REV
        && rev.starts_with(|c: char| c.is_ascii_alphanumeric() || "._@".contains(c))
        && rev.chars().all(fits)
        && !rev.contains("..");
    match is_name {
        true => Ok(()),
        false => Err(Refusal::invalid(format!(
            "invalid branch, tag or commit `{}`",
            rev.chars().take(LONGEST_REV).collect::<String>().escape_debug()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(url: &str, rev: Option<&str>) -> Source {
        Source::Git(GitSource { url: url.to_owned(), rev: rev.map(str::to_owned) })
    }

    #[test]
    fn addresses_of_git_and_folders_are_read() {
        let parse = |text: &str| Source::parse(text, None).unwrap();
        assert_eq!(parse("https://h.example/a/b.git"), git("https://h.example/a/b.git", None));
        assert_eq!(parse("https://h/a#v1.2"), git("https://h/a", Some("v1.2")));
        assert_eq!(parse("ssh://git@h:22/a"), git("ssh://git@h:22/a", None));
        assert_eq!(parse("ssh://[::1]:22/a"), git("ssh://[::1]:22/a", None));
        assert_eq!(parse("git@h:me/a.git#x/y"), git("git@h:me/a.git", Some("x/y")));
        assert_eq!(parse("file:///srv/a"), git("file:///srv/a", None));
        assert_eq!(parse("/srv/a #1"), Source::Folder("/srv/a #1".into()));
        let rev = Source::parse("https://h/a#b", Some("pkg@1.0+x")).unwrap();
        assert_eq!(rev, git("https://h/a", Some("pkg@1.0+x")));
        for (text, name) in [
            ("https://h/me/Paned-Logger.git", "paned-logger"),
            ("git@h:logger.git", "logger"),
            ("/srv/Guard/", "guard"),
        ] {
            assert_eq!(parse(text).folder_name(), name);
        }
    }

    #[test]
    fn addresses_that_could_run_something_are_refused() {
        for text in [
            "",
            " ",
            "--upload-pack=touch /tmp/x",
            "-oProxyCommand=x",
            "ext::sh -c touch% /tmp/x",
            "ext::sh",
            "fd::3",
            "http::https://h/a",
            "http://h/a",
            "git://h/a",
            "ftp://h/a",
            "HTTPS://h/a",
            "javascript://h/a",
            "https://h",
            "https:///a",
            "https://user:secret@h/a",
            "https://-h/a",
            "ssh://-oProxyCommand=x/a",
            "ssh://-l@h/a",
            "ssh://%2doProxyCommand=x/a",
            "ssh://h;x/a",
            "-h:a",
            "git@-h:a",
            "git@h:-a",
            "git@h:",
            "file://relative",
            "https://h/a b",
            "https://h/a\n",
            "https://h/a\0",
            "relative/path",
            "./relative",
            "..",
        ] {
            assert!(Source::parse(text, None).is_err(), "{text:?}");
        }
        assert!(Source::parse(&format!("https://h/{}", "a".repeat(3000)), None).is_err());
    }

    #[test]
    fn revisions_are_names_only() {
        for rev in ["", "-x", "--upload-pack=x", "a:b", "+a", "^a", "a..b", "a b", "a~1", "@{u}"] {
            assert!(Source::parse("https://h/a", Some(rev)).is_err(), "{rev:?}");
        }
        assert!(Source::parse("/srv/a", Some("main")).is_err());
    }

    #[test]
    fn a_password_in_an_address_is_not_repeated() {
        let refusal = Source::parse("https://me:hunter2@h/a", None).unwrap_err();
        assert!(refusal.sentence.contains("credential helper"), "{refusal}");
    }
}
