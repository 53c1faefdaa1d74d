//! The program status protocol (OSC 7501): what a program reports of itself and of its tasks.
//! Parses reports and keeps records.
//!
//! A report is `key=value` pairs between colons. Each replaces the record of its `id`; without one
//! it is about the program itself. Texts and progress are not kept.

use paned_model::{AgentState, BlockKind};

/// How many records are kept; the oldest are dropped.
const MOST: usize = 64;
/// The longest id of a record, in bytes.
const LONGEST_ID: usize = 128;

/// A report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StatusReport {
    /// The task that it is about; empty for the program itself.
    id: String,
    /// Its status; `None` removes its record, and those below it.
    status: Option<ProgramStatus>,
}

/// What a program or a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramStatus {
    Idle,
    Working,
    Done,
    Blocked(Option<BlockKind>),
    Error,
}

impl ProgramStatus {
    /// The state of an agent that does this.
    pub(super) fn state(self) -> AgentState {
        match self {
            Self::Idle | Self::Done => AgentState::Ready,
            Self::Working => AgentState::Busy,
            Self::Blocked(_) => AgentState::Blocked,
            Self::Error => AgentState::Error,
        }
    }

    /// The kind of question that it waits on.
    pub(super) fn kind(self) -> Option<BlockKind> {
        match self {
            Self::Blocked(kind) => kind,
            Self::Idle | Self::Working | Self::Done | Self::Error => None,
        }
    }

    /// The protocol's own word.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Working => "working",
            Self::Done => "done",
            Self::Blocked(_) => "blocked",
            Self::Error => "error",
        }
    }
}

impl StatusReport {
    /// Parses what follows the number; `None` if the protocol requires that the report is dropped.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut id = "";
        let mut state = None;
        let mut kind = None;
        for (key, value) in text.split(':').filter_map(|pair| pair.split_once('=')) {
            match key {
                "id" => id = value,
                "state" => state = Some(value),
                "kind" => kind = Some(value),
                _ => {}
            }
        }
        let kind = match kind {
            Some("permission") => Some(BlockKind::Permission),
            Some("question") => Some(BlockKind::Question),
            Some("auth") => Some(BlockKind::Login),
            Some(_) | None => None,
        };
        let status = match state? {
            "idle" => Some(ProgramStatus::Idle),
            "working" => Some(ProgramStatus::Working),
            "done" => Some(ProgramStatus::Done),
            "blocked" => Some(ProgramStatus::Blocked(kind)),
            "error" => Some(ProgramStatus::Error),
            "clear" => None,
            _ => return None,
        };
        (id.len() <= LONGEST_ID).then(|| Self { id: id.to_owned(), status })
    }
}

/// The last report of a program about itself and about each task.
#[derive(Clone, Debug, Default)]
pub(super) struct StatusRecords(Vec<(String, ProgramStatus)>);

impl StatusRecords {
    pub(super) fn apply(&mut self, StatusReport { id, status }: StatusReport) {
        let is_below = |other: &str| {
            other.strip_prefix(&id).is_some_and(|rest| id.is_empty() || rest.starts_with('/'))
        };
        let is_replaced = |other: &str| *other == id || status.is_none() && is_below(other);
        self.0.retain(|(other, _)| !is_replaced(other));
        if let Some(status) = status {
            self.0.push((id, status));
        }
        if MOST < self.0.len() {
            self.0.remove(0);
        }
    }

    /// The status of the whole program. A blocked task blocks the program; otherwise the program's
    /// own status counts, and that of its tasks only if the program has none.
    pub(super) fn overall(&self) -> Option<ProgramStatus> {
        let all = || self.0.iter().map(|(_, status)| *status);
        let own = self.0.iter().find(|(id, _)| id.is_empty()).map(|(_, status)| *status);
        let is_blocked = |status: &ProgramStatus| matches!(status, ProgramStatus::Blocked(_));
        let any = |wanted| all().find(|status| *status == wanted);
        own.filter(is_blocked)
            .or_else(|| all().find(is_blocked))
            .or(own)
            .or_else(|| any(ProgramStatus::Working))
            .or_else(|| any(ProgramStatus::Error))
            .or_else(|| all().next_back())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a program does as a whole after these reports.
    #[track_caller]
    fn check(reports: &[&str], expect: Option<ProgramStatus>) {
        let mut records = StatusRecords::default();
        reports
            .iter()
            .filter_map(|text| StatusReport::read(text))
            .for_each(|report| records.apply(report));
        assert_eq!(records.overall(), expect, "{reports:?}");
    }

    #[test]
    fn each_state_is_read() {
        check(&["state=idle:app=claude-code"], Some(ProgramStatus::Idle));
        check(&["app=x:progress=40:state=working:msg=aGk="], Some(ProgramStatus::Working));
        check(&["state=done"], Some(ProgramStatus::Done));
        check(&["state=error:msg=aGk="], Some(ProgramStatus::Error));
        let blocked = |kind| Some(ProgramStatus::Blocked(kind));
        check(&["state=blocked:kind=permission"], blocked(Some(BlockKind::Permission)));
        check(&["kind=question:state=blocked"], blocked(Some(BlockKind::Question)));
        check(&["state=blocked:kind=auth"], blocked(Some(BlockKind::Login)));
        check(&["state=blocked:kind=mood"], blocked(None));
    }

    #[test]
    fn what_is_no_report_changes_nothing() {
        let long = format!("state=idle:id={}", "x".repeat(200));
        for text in ["?", "", "state=", "state=asleep", "idle", &long] {
            check(&["state=working", text], Some(ProgramStatus::Working));
        }
        check(&["state=working:odd:=:state=idle"], Some(ProgramStatus::Idle));
    }

    #[test]
    fn a_report_replaces_its_record_and_clear_takes_it_away() {
        check(&["state=blocked:kind=auth", "state=working"], Some(ProgramStatus::Working));
        check(&["state=working", "state=clear"], None);
        let tasks = ["state=working:id=a/b", "state=done:id=ab"];
        check(&[tasks[0], tasks[1], "state=clear:id=a"], Some(ProgramStatus::Done));
        check(&[tasks[0], tasks[1], "state=clear"], None);
    }

    #[test]
    fn a_question_of_a_task_counts_and_its_work_does_not() {
        let ask = "state=blocked:kind=permission:id=t1";
        check(&["state=working", ask], Some(ProgramStatus::Blocked(Some(BlockKind::Permission))));
        check(&["state=done", "state=working:id=t1"], Some(ProgramStatus::Done));
        check(&["state=done:id=t1", "state=working:id=t2"], Some(ProgramStatus::Working));
    }

    #[test]
    fn there_are_only_so_many_records() {
        let reports: Vec<String> = (0..500).map(|n| format!("state=idle:id=t{n}")).collect();
        let mut records = StatusRecords::default();
        reports
            .iter()
            .filter_map(|text| StatusReport::read(text))
            .for_each(|report| records.apply(report));
        assert_eq!(records.0.len(), MOST);
    }
}
