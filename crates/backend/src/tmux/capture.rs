//! The lines of a pane, as tmux has them.

use paned_term::vt::{VtDialect, each_text};

use super::client::ControlClient;
use super::command::TmuxCommand;
use super::error::Error;
use super::ids::TmuxPane;

/// The most lines that one request may ask for.
const MAX_LINES: usize = 1_000_000;

/// How lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureStyle {
    /// Text alone.
    Plain,
    /// With the escape sequences that give it its colours.
    Coloured,
}

impl ControlClient {
    /// The last lines of a pane, scrollback included. Empty lines below the last text do not count.
    /// Returns exactly as many lines as asked for, or all there are.
    ///
    /// # Errors
    /// [`Error::InvalidLines`] for none or more than a million; otherwise when there is no such
    /// pane.
    pub async fn last_lines(
        &self,
        pane: TmuxPane,
        lines: usize,
        style: CaptureStyle,
    ) -> Result<Vec<Vec<u8>>, Error> {
        if !(1..=MAX_LINES).contains(&lines) {
            return Err(Error::InvalidLines(format!(
                "the number of lines must be from 1 to \
                {MAX_LINES}, not {lines}"
            )));
        }
        let mut captured = self.capture(pane, lines, style).await?;
        let used = captured.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
        captured.truncate(used);
        captured.drain(..used.saturating_sub(lines));
        Ok(captured)
    }

    /// The screen of a pane, a line for each row.
    ///
    /// # Errors
    /// When there is no such pane.
    pub async fn screen(&self, pane: TmuxPane, style: CaptureStyle) -> Result<Vec<Vec<u8>>, Error> {
        self.capture(pane, 0, style).await
    }

    async fn capture(
        &self,
        pane: TmuxPane,
        history: usize,
        style: CaptureStyle,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let mut replies = self.run(&capture(pane, history, style)).await?;
        match replies.pop() {
            Some(reply) if !reply.cut => Ok(reply.lines),
            _ => Err(Error::InvalidLines(
                "the pane has more lines than can be captured at once".to_owned(),
            )),
        }
    }
}

/// Some lines of scrollback and the whole screen, as a command of two parts. The first part asks
/// for the number of lines, with nothing in between, so that no text of the pane is taken for the
/// end of the reply.
pub(super) fn capture(pane: TmuxPane, history: usize, style: CaptureStyle) -> TmuxCommand {
    let history_lines =
        format!("#{{?#{{e|<|:{history},#{{history_size}}}},{history},#{{history_size}}}}");
    // Not `display-message`, which succeeds for a pane that does not exist.
    let count = TmuxCommand::new("list-panes").target(pane);
    let count = count.word("-f").format(&format!("#{{==:#{{pane_id}},{pane}}}"));
    let count = count.word("-F").format(&format!("{history_lines} #{{pane_height}}"));
    let mut capture = TmuxCommand::new("capture-pane").word("-p").target(pane);
    if style == CaptureStyle::Coloured {
        capture = capture.word("-e");
    }
    if 0 < history {
        let first = i64::try_from(history).unwrap_or(i64::MAX);
        capture = capture.number("-S", -first);
    }
    count.then(capture).counted()
}

/// Whether the line shows nothing: only spaces and colours.
fn is_blank(line: &[u8]) -> bool {
    let mut is_blank = true;
    each_text(VtDialect::Screen, line, |text| is_blank &= text.iter().all(|byte| *byte == b' '));
    is_blank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_line_may_have_colours() {
        for blank in [&b""[..], b"   ", b"\x1b[0m  \x1b[39;49m"] {
            assert!(is_blank(blank));
        }
        for text in [&b"x"[..], b"\x1b[0mx", b"m"] {
            assert!(!is_blank(text));
        }
    }
}
