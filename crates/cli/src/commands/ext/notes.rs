//! What a user should know of an extension beside its status, and what to type next.

use std::io;
use std::path::Path;

use paned_kernel::extensions::{ExtensionInfo, ExtensionStatus};
use paned_model::Scope;

use crate::commands::support::shell_words::shell_words;
use crate::out::{Out, StyledLine, TextStyle, in_commands};

/// Whether it should run and does not.
pub(super) fn has_failed(extension: &ExtensionInfo) -> bool {
    let is_down = matches!(
        extension.status,
        ExtensionStatus::Failed | ExtensionStatus::Invalid | ExtensionStatus::Restarting
    );
    extension.enabled && is_down
}

/// The status in its colour.
pub(super) fn status(extension: &ExtensionInfo) -> StyledLine {
    let style = match extension.status {
        ExtensionStatus::Running => TextStyle::Good,
        ExtensionStatus::Starting => TextStyle::Plain,
        ExtensionStatus::Restarting => TextStyle::Warn,
        ExtensionStatus::Stopped => TextStyle::Faint,
        ExtensionStatus::Failed | ExtensionStatus::Invalid => TextStyle::Bad,
    };
    let text = if extension.enabled { extension.status.as_str() } else { "off" };
    StyledLine::new(style, text)
}

/// `it is running`, or that it is not.
pub(super) fn state(extension: &ExtensionInfo) -> StyledLine {
    let before = match extension.status {
        ExtensionStatus::Running | ExtensionStatus::Starting => "  it is ",
        _ => "  it does not run: ",
    };
    StyledLine::from(before).with(status(extension))
}

/// `guard running`.
pub(super) fn name_and_status(extension: &ExtensionInfo) -> StyledLine {
    StyledLine::new(TextStyle::Strong, &extension.name)
        .then(TextStyle::Plain, " ")
        .with(status(extension))
}

/// Scopes as a list: `read, spawn`.
pub(super) fn scopes<'a>(scopes: impl IntoIterator<Item = &'a Scope>) -> String {
    let names: Vec<_> = scopes.into_iter().map(|scope| scope.as_str()).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// Prints why it does not run, and what is missing, below a line that names it.
pub(super) fn print(out: Out, extension: &ExtensionInfo) -> io::Result<()> {
    if let Some(reason) = &extension.reason {
        for line in out.wrap(&in_commands(reason), 2) {
            out.line(format!("  {line}"))?;
        }
    }
    let Some(command) = &extension.install_command else { return Ok(()) };
    out.line(format!("  not installed: {}; run", extension.missing.join(", ")))?;
    // Uncut, so that it can be copied.
    out.line(format!("    {command}"))?;
    out.line(format!("    paned ext reload {}", extension.name))
}

/// The same in lines on standard error.
pub(super) fn print_aside(out: Out, extension: &ExtensionInfo) -> io::Result<()> {
    let name = &extension.name;
    if let Some(reason) = &extension.reason {
        out.note(format!("{name}: {}", in_commands(reason)))?;
    }
    let Some(command) = &extension.install_command else { return Ok(()) };
    out.note(format!("{name}: not installed: {}; run `{command}`", extension.missing.join(", ")))
}

/// A path as a shell reads it.
pub(super) fn path_word(path: &Path) -> String {
    shell_words(&[path.to_string_lossy().into_owned()])
}
