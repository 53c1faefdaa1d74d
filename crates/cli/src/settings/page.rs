//! What is written from the table of settings: the sample file and `docs/configuration.md`.

use std::fmt::Write as _;

use super::other_tools::WITHOUT_EFFECT;
use super::table::{OTHER_VARIABLES, SettingRow, TABLE};

/// The width of the sample's comments.
const COLUMNS: usize = 78;

const SAMPLE_HEAD: &str = "\
# Settings of paned. Each line that begins with `#key =` shows a default: remove
# the `#` and change the value. A relative path is relative to this file; `~` is
# your home folder. `paned config check` checks this file. The server reads it
# when it starts (`paned server restart`; panes keep running).
";

const PAGE_HEAD: &str = "\
# Configuration

paned needs no configuration. What can be set is listed here, generated from the program's own table
(`cargo xtask docs`).

```sh
paned config init
paned config edit
paned config check
paned config show
paned config path
```

`init` writes a sample with every setting commented out, `edit` opens it in your editor and checks it
afterwards, `check` reports every mistake with its line, `show` prints each setting with its value and
where that came from, `path` prints the path of the file.

The file is `~/.config/paned/config.toml` (`$XDG_CONFIG_HOME/paned/config.toml`), or the one that
`--config` or `PANED_CONFIG` names. The server reads it when it starts: `paned server restart` applies a
change, and panes keep running.

A flag beats a `PANED_*` variable, which beats the variables of the tools that paned replaces, which
beat the file, which beats agentmux's own file (`~/.config/agentmux/config.json`), which beats the
default. An empty variable counts as unset. In paths, `~` is the home folder; a relative path is
relative to the file it is in, and to the current folder for flags and variables.

A mistake in the file is an error, also where a flag overrides that key.
";

const VARIABLES_HEAD: &str = "
## Variables without a key

| variable | meaning |
|---|---|
";

const TOOLS_HEAD: &str = "
## Variables of other tools

Variables of poly, agentmux and opencode-pty that have an effect are in the tables above. These have
none. One that is set is reported by `paned config check` and in the server's log.

| variable | use instead |
|---|---|
";

const TOOLS_END: &str = "
A server with an open listener for opencode-pty does not start while `PTY_WEB_PASSWORD` is set: the
password would protect nothing.
";

/// A `config.toml` with every setting, commented out.
pub(crate) fn sample() -> String {
    let mut text = SAMPLE_HEAD.to_owned();
    let mut section = "";
    for row in TABLE {
        let (place, name) = row.key.split_once('.').unwrap_or(("", row.key));
        if place != section {
            section = place;
            let _ = write!(text, "\n[{section}]\n");
        }
        let about = format!("{}.", row.about);
        text.push('\n');
        wrap(&about, COLUMNS).iter().for_each(|line| {
            let _ = writeln!(text, "# {line}");
        });
        let _ = writeln!(text, "#{name} = {}", default_toml(row));
    }
    text
}

/// The default as a TOML value.
fn default_toml(row: &SettingRow) -> String {
    match row.default_text() {
        "" if !row.kind.is_quoted() => "[]".to_owned(),
        text if row.kind.is_quoted() => format!("{text:?}"),
        text => text.to_owned(),
    }
}

/// `docs/configuration.md`.
pub(crate) fn configuration_page() -> String {
    let mut text = PAGE_HEAD.to_owned();
    let mut section = None;
    for row in TABLE {
        let (place, name) = row.key.split_once('.').unwrap_or(("", row.key));
        if section != Some(place) {
            section = Some(place);
            let title =
                if place.is_empty() { "The server".to_owned() } else { format!("`[{place}]`") };
            let _ = write!(
                text,
                "\n## {title}\n\n| key | default | set by | meaning |\n|---|---|---|---|\n"
            );
        }
        let _ = writeln!(
            text,
            "| `{name}` | {} | {} | {} |",
            default_cell(row),
            sources(row),
            meaning(row)
        );
    }
    text += VARIABLES_HEAD;
    for (name, about) in OTHER_VARIABLES {
        let _ = writeln!(text, "| `{name}` | {about} |");
    }
    text += TOOLS_HEAD;
    for (name, instead) in WITHOUT_EFFECT {
        let _ = writeln!(text, "| `{name}` | {instead} |");
    }
    text + TOOLS_END
}

fn default_cell(row: &SettingRow) -> String {
    match row.default_text() {
        "" => "none".to_owned(),
        text => format!("`{text}`"),
    }
}

/// The flag and the variables that set it.
fn sources(row: &SettingRow) -> String {
    let names: Vec<_> = row.flag.iter().chain(row.env).map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The sentence, with the values that the setting takes.
fn meaning(row: &SettingRow) -> String {
    let about = row.about;
    row.kind.range().map_or_else(|| about.to_owned(), |range| format!("{about} ({range})"))
}

/// Wraps words into lines of a maximum width.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.len() + 1 + word.len() <= columns) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::ConfigFile;

    #[test]
    fn the_sample_sets_nothing_and_is_valid_when_it_is_uncommented() {
        let sample = sample();
        let read = |text: &str| ConfigFile::parse(Path::new("c.toml"), text);
        assert_eq!(read(&sample), read(""));
        let is_key = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        let uncommented: Vec<_> =
            sample.lines().map(|line| if is_key(&line) { &line[1..] } else { line }).collect();
        let file = read(&uncommented.join("\n"));
        assert_eq!(file.mistakes, []);
        for row in TABLE {
            let (value, _) = file.get(row.key).unwrap_or_else(|| panic!("{} is missing", row.key));
            assert_eq!(value, row.default_text(), "{}", row.key);
        }
        for line in sample.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_page_has_every_key_and_every_variable() {
        let page = configuration_page();
        for row in TABLE {
            let name = row.key.rsplit('.').next().unwrap();
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
            for env in row.env {
                assert!(page.contains(&format!("`{env}`")), "{env}");
            }
        }
    }
}
