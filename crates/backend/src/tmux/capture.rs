//! What a pane shows: lines, as tmux has them.

use super::client::ControlClient;
use super::command::TmuxCommand;
use super::error::Error;
use super::ids::TmuxPane;

/// More lines than this nobody asks for at once.
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
    /// The last lines of a pane, with what has scrolled off. Empty lines below the last text do not count; then there
    /// are exactly as many as asked for, or all there are.
    ///
    /// # Errors
    /// [`Error::InvalidLines`] for none or more than a million; otherwise when there is no such pane.
    pub async fn last_lines(
        &self,
        pane: TmuxPane,
        lines: usize,
        style: CaptureStyle,
    ) -> Result<Vec<Vec<u8>>, Error> {
        if !(1..=MAX_LINES).contains(&lines) {
            return Err(Error::InvalidLines(format!("{lines} is not between 1 and {MAX_LINES}")));
        }
        let mut captured = self.capture(pane, lines, style).await?;
        let text = captured.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
        captured.truncate(text);
        captured.drain(..text.saturating_sub(lines));
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
            _ => Err(Error::InvalidLines("that is more than can be taken at once".to_owned())),
        }
    }
}

/// Some lines of history and the whole screen: two parts. How many lines that will be is asked first and in the same
/// breath, so that no text of the pane is taken for the end of the answer.
pub(super) fn capture(pane: TmuxPane, history: usize, style: CaptureStyle) -> TmuxCommand {
    let least = format!("#{{?#{{e|<|:{history},#{{history_size}}}},{history},#{{history_size}}}}");
    // Not `display-message`, which does not mind a pane that is not there.
    let count = TmuxCommand::new("list-panes").target(pane);
    let count = count.word("-f").format(&format!("#{{==:#{{pane_id}},{pane}}}"));
    let count = count.word("-F").format(&format!("{least} #{{pane_height}}"));
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

/// Whether nothing is to be seen: spaces and colours alone.
fn is_blank(line: &[u8]) -> bool {
    let mut escape = false;
    line.iter().all(|byte| match byte {
        0x1b => {
            escape = true;
            true
        }
        b'm' if escape => {
            escape = false;
            true
        }
        byte => escape || *byte == b' ',
    })
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
