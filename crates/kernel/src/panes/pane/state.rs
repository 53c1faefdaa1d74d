//! What is read from the state of a pane.

use std::num::NonZeroU64;

use super::*;
use crate::panes::text::output_tail::OutputTail;

/// The sequences that show the alternate screen.
const ALTERNATE: [&str; 3] = ["\x1b[?1049h", "\x1b[?1047h", "\x1b[?47h"];

impl PaneState {
    pub(crate) fn status(&self) -> PaneStatus {
        match (&self.record.end, &self.connection) {
            (Some(end), _) => end.status,
            (None, KeeperConnection::Starting) => PaneStatus::Starting,
            (
                None,
                KeeperConnection::Connected { .. }
                | KeeperConnection::Unresponsive { .. }
                | KeeperConnection::Detached { .. },
            ) => PaneStatus::Running,
        }
    }

    pub(crate) fn output(&self) -> Option<Arc<dyn Output>> {
        self.tape().cloned()
    }

    fn tape(&self) -> Option<&Arc<dyn Output>> {
        match &self.connection {
            KeeperConnection::Starting => None,
            KeeperConnection::Connected { output, .. } => Some(output),
            KeeperConnection::Unresponsive { output, .. }
            | KeeperConnection::Detached { output } => output.as_ref(),
        }
    }

    /// The current values of its tape.
    pub(in crate::panes) fn output_stats(&self) -> OutputStats {
        let Some(output) = self.tape() else {
            return OutputStats { size: self.size, lines: 0, bytes: 0, dropped: 0, damage: None };
        };
        // The tape has a new size before the event of it arrives.
        let Summary { first, end, lines, size, damage } = output.summary();
        OutputStats { size, lines, bytes: end, dropped: first, damage }
    }

    /// The end of its output up to an offset.
    pub(in crate::panes) fn output_tail(&self, end: u64) -> OutputTail {
        let draws_screen = ALTERNATE.iter().any(|mode| self.record.modes.contains(mode));
        let tape = self.tape();
        tape.map(|output| OutputTail::read(output.as_ref(), end, draws_screen)).unwrap_or_default()
    }

    /// Everything, with the end of its output: for callers that may read that.
    pub(in crate::panes) fn info_with_tail(&self, stats: OutputStats) -> PaneInfo {
        let OutputTail { last_line, printed_at } = self.output_tail(stats.bytes);
        PaneInfo { last_line, printed_at, ..self.info(stats) }
    }

    /// Everything but the end of its output: also for events, and for callers that may not read.
    pub(in crate::panes) fn info(&self, stats: OutputStats) -> PaneInfo {
        let record = &self.record;
        let end = record.end;
        let exit = end.and_then(|end| end.exit);
        PaneInfo {
            id: record.id.clone(),
            instance: record.instance.clone(),
            title: record.title.text().to_owned(),
            argv: record.argv.clone(),
            cwd: record.cwd.clone(),
            pid: record.pid,
            size: stats.size,
            size_held_by: self.size_held_by.clone(),
            status: self.status(),
            killing: 0 < self.kills && end.is_none(),
            exit_code: exit.and_then(Exit::code),
            exit_signal: exit.and_then(Exit::signal),
            timed_out: end.is_some_and(|end| end.timed_out),
            created_at: record.created_at,
            ended_at: end.map(|end| end.at),
            substrate: match (&record.view, &record.origin) {
                (None, None) => BackendKind::Pty,
                (Some(_), _) | (_, Some(_)) => BackendKind::Tmux,
            },
            view: record.view.as_ref().map(PaneView::from),
            adopted: record.origin.as_ref().map(TmuxOrigin::from),
            guarantee: match record.origin {
                None => Guarantee::Exact,
                Some(_) => Guarantee::BestEffort,
            },
            meta: record.meta.clone(),
            tags: record.tags.clone(),
            persist: record.persist,
            parent: record.parent().map(|parent| parent.id.clone()),
            restart: record.restart.as_ref().map(RestartRecord::info),
            previous_of: record.previous_run.as_ref().map(|previous| previous.of.clone()),
            lines: stats.lines,
            bytes: stats.bytes,
            dropped: stats.dropped,
            printed_at: None,
            last_line: None,
            max_lines: record.max_lines.map(NonZeroU64::get),
            damage: stats.damage.map(|damage| damage.to_string()),
            agent: self.agent.clone(),
        }
    }

    /// Sets the title that the program asks for. Returns whether that changed anything.
    pub(crate) fn retitle(&mut self, title: String) -> bool {
        let changed = match &self.record.title {
            PaneTitle::Given(_) | PaneTitle::Own(_) => false,
            PaneTitle::Command(_) => !title.is_empty(),
            PaneTitle::Program(current) => *current != title && !title.is_empty(),
        };
        if changed {
            self.record.title = PaneTitle::Program(title);
        }
        changed
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.record.meta
    }
}
