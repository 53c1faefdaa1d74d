//! Everything that is known of an agent now, and since when: the result of all observations.

mod questions;

use paned_model::{AgentState, BlockKind, TerminalState, Time};

use questions::AskedQuestion;

use super::composer_memory::ComposerMemory;
use super::engine::HookReport;
use super::findings::{RuleMatch, ScreenFindings};
use super::keystrokes::Keystroke;
use super::osc_reader::OscSignal;
use super::profile::Profile;
use super::rest_modes::RestModes;
use super::status::{ProgramStatus, StatusRecords, StatusReport};
use super::{Composer, ScreenSnapshot, limit};

/// How long after an erasing key a vanished draft is attributed to it.
const ERASE_WINDOW: u64 = 1000;
/// How long a question may be missing from the screen while the program draws it again.
pub(crate) const REDRAW_TIMEOUT: u64 = 5000;

/// Commands that quit most programs.
const QUIT_WORDS: [&str; 9] =
    ["exit", "quit", "/exit", "/quit", ":q", "exit()", "quit()", ".exit", "\\q"];

/// What is known of one agent.
#[derive(Clone, Debug)]
pub(super) struct AgentFacts {
    /// When it was started, or first observed.
    pub(super) started_at: Time,
    pub(super) findings: Option<ScreenFindings>,
    /// Since when the composer is on the screen, or not.
    pub(super) composer: SinceValue<bool>,
    /// Which question is on the screen.
    pub(super) dialog: SinceValue<Option<String>>,
    /// How many questions there have been.
    dialogs: u64,
    /// Those that may come back after a redraw, the last one at the end.
    questions: Vec<AskedQuestion>,
    pub(super) rule_matches: Vec<TimedRuleMatch>,
    /// When something above the composer moved last.
    pub(super) moved_at: Time,
    /// When it printed something last.
    pub(super) printed_at: Time,
    pub(super) title: Option<SignalClaim>,
    /// Whether a title has ever reported busy: only then does a title without a meaning mean ready.
    pub(super) titled: bool,
    pub(super) osc: Option<SignalClaim>,
    pub(super) hook: Option<HookClaim>,
    /// What the program reports of itself by OSC 7501, and since when.
    pub(super) status: Option<(ProgramStatus, Time)>,
    pub(super) statuses: StatusRecords,
    pub(super) enter: Option<EnterPress>,
    /// The beginning of the last prompt that was submitted.
    pub(super) prompt: Option<String>,
    /// When there last was direct evidence of work.
    pub(super) busy: Option<Time>,
    /// Whether a turn is known to run.
    pub(super) turn: bool,
    /// Whether it ever accepted a prompt.
    pub(super) was_ready: bool,
    /// When a key last erased the draft.
    pub(super) erased: Option<Time>,
    /// When a key last interrupted its turn.
    pub(super) interrupted: Option<Time>,
    /// When it was asked to quit.
    pub(super) quit_at: Option<Time>,
    pub(super) exited: Option<Option<i32>>,
    /// What was typed since the last Enter.
    pub(super) line: String,
    /// How its composer looks, in a program without a profile.
    pub(super) learned: ComposerMemory,
    /// When its processes were last seen to use the CPU.
    pub(super) computed: Option<Time>,
    /// When a process was seen to wait for input at the terminal, if nothing else was seen since.
    pub(super) waited: Option<Time>,
    /// The last state of its terminal that the kernel reported.
    pub(super) terminal: Option<TerminalState>,
    /// The modes of its terminal when the program accepted input.
    pub(super) rest_modes: Option<RestModes>,
    /// Rows that matched a rule while the program was ready: they are no evidence of work.
    pub(super) idle_rows: Vec<String>,
}

/// A value, and since when it has not changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SinceValue<T> {
    pub(super) value: T,
    pub(super) since: Time,
}

impl<T: PartialEq> SinceValue<T> {
    fn set(&mut self, is: T, now: Time) -> bool {
        let changed = self.value != is;
        if changed {
            *self = Self { value: is, since: now };
        }
        changed
    }
}

/// A rule that holds, and since when.
#[derive(Clone, Debug)]
pub(super) struct TimedRuleMatch {
    pub(super) rule_match: RuleMatch,
    pub(super) since: Time,
    /// When its row changed last.
    pub(super) moved: Time,
}

/// The state that a title or another signal reports.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SignalClaim {
    pub(super) says: Option<AgentState>,
    pub(super) words: String,
    pub(super) since: Time,
    /// When its text changed last.
    pub(super) moved: Time,
    /// Whether its text changes while its meaning stays the same.
    pub(super) moves: bool,
}

/// The state that a hook reported.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookClaim {
    pub(super) says: AgentState,
    pub(super) kind: Option<BlockKind>,
    pub(super) weight: f32,
    pub(super) name: String,
    pub(super) at: Time,
}

/// Enter on a draft.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EnterPress {
    pub(super) at: Time,
    /// The draft at that time.
    draft: Option<String>,
    /// Whether the composer still holds it, or was not observed since.
    pub(super) kept: bool,
}

/// How many characters of a prompt are kept, to find it on the screen.
const PROMPT_CHARS: usize = 1000;

fn beginning(prompt: &str) -> String {
    prompt.trim().chars().take(PROMPT_CHARS).collect()
}

/// A row with its digits masked: counters change while the row means the same.
pub(super) fn mask_digits(row: &str) -> String {
    row.trim_end().replace(|c: char| c.is_ascii_digit(), "0")
}

impl AgentFacts {
    pub(super) fn new(now: Time) -> Self {
        Self {
            started_at: now,
            findings: None,
            composer: SinceValue { value: false, since: now },
            dialog: SinceValue { value: None, since: now },
            dialogs: 0,
            questions: Vec::new(),
            rule_matches: Vec::new(),
            moved_at: now,
            printed_at: now,
            title: None,
            titled: false,
            osc: None,
            hook: None,
            status: None,
            statuses: StatusRecords::default(),
            enter: None,
            prompt: None,
            busy: None,
            turn: false,
            was_ready: false,
            erased: None,
            interrupted: None,
            quit_at: None,
            exited: None,
            line: String::new(),
            learned: ComposerMemory::default(),
            computed: None,
            waited: None,
            terminal: None,
            rest_modes: None,
            idle_rows: Vec::new(),
        }
    }

    pub(super) fn observe_screen(&mut self, look: &ScreenSnapshot, profile: &Profile, now: Time) {
        self.observe_title(&look.view.title, profile, now);
        let mut findings = ScreenFindings::of(look, profile);
        let last = self.findings.as_ref();
        if last.is_some_and(|last| last.above != findings.above && last.size == findings.size) {
            self.moved_at = now;
        }
        let last_queued = last.is_some_and(|last| last.queued);
        self.composer.set(findings.composer != Composer::Hidden, now);
        let id = findings.dialog.as_ref().map(|dialog| dialog.id.clone());
        let stayed = !self.dialog.set(id, now);
        if let Some(dialog) = &mut findings.dialog {
            let number = self.number(dialog, stayed, now);
            dialog.id = format!("{}-{number}", dialog.id);
        }
        self.update_rule_matches(&findings, now);
        // The queued message is submitted now, as if Enter were pressed on it.
        if last_queued && !findings.queued && self.turn {
            self.enter = Some(EnterPress { at: now, draft: None, kept: false });
            self.busy = None;
        }
        if let Some(draft) = self.vanished_draft(&findings, now) {
            if profile.quit.text.as_ref().is_some_and(|quit| quit == draft.trim()) {
                self.quit_at = Some(now);
            } else {
                self.prompt = Some(beginning(draft));
                self.enter = Some(EnterPress { at: now, draft: None, kept: false });
                self.turn = true;
            }
        }
        if let Some(enter) = &mut self.enter {
            enter.kept = match &findings.composer {
                Composer::Draft(draft) => enter.draft.as_ref().is_none_or(|old| old == draft),
                Composer::Empty | Composer::Hidden => false,
            };
        }
        self.findings = Some(findings);
    }

    /// A draft that left the composer at once, without a key seen here that erases it: a client
    /// whose keys do not pass through us has pressed Enter.
    fn vanished_draft(&self, findings: &ScreenFindings, now: Time) -> Option<&String> {
        let Composer::Draft(draft) = &self.findings.as_ref()?.composer else {
            return None;
        };
        let erased = self.erased.is_some_and(|at| now.since(at) < ERASE_WINDOW);
        let is_left = findings.composer == Composer::Empty && 1 < draft.chars().count();
        let is_news = self.was_ready && !self.turn && !erased && self.quit_at.is_none();
        (is_left && is_news).then_some(draft)
    }

    fn update_rule_matches(&mut self, findings: &ScreenFindings, now: Time) {
        let held = std::mem::take(&mut self.rule_matches);
        let hold = |hit: &RuleMatch| {
            let old = held.iter().find(|old| old.rule_match.rule == hit.rule);
            let since = old.map_or(now, |old| old.since);
            let moved =
                old.filter(|old| old.rule_match.row == hit.row).map_or(now, |old| old.moved);
            TimedRuleMatch { rule_match: hit.clone(), since, moved }
        };
        let is_draft = |hit: &&RuleMatch| hit.is_at_cursor && self.is_typed(&hit.row);
        let matches = findings.rule_matches.iter().filter(|hit| !is_draft(hit));
        self.rule_matches = matches.map(hold).collect();
    }

    pub(super) fn observe_signal(&mut self, signal: OscSignal, profile: &Profile, now: Time) {
        let osc = &profile.osc;
        let claim = |says, words: &str| {
            Some(SignalClaim {
                says: Some(says),
                words: words.into(),
                since: now,
                moved: now,
                moves: false,
            })
        };
        // After a shell prompt or a terminal reset, the program that reported no longer runs.
        if matches!(signal, OscSignal::Reset | OscSignal::Mark('A')) {
            self.statuses = StatusRecords::default();
            self.status = None;
        }
        match signal {
            OscSignal::Title(title) => self.observe_title(&title, profile, now),
            OscSignal::Status(report) => self.observe_status(report, now),
            OscSignal::Progress(true) if osc.progress => {
                self.osc = claim(AgentState::Busy, "progress")
            }
            OscSignal::Progress(false) if osc.progress => {
                self.osc = claim(AgentState::Ready, "the end of progress");
            }
            OscSignal::Mark('C') if osc.marks => {
                self.osc = claim(AgentState::Busy, "a command's begin")
            }
            OscSignal::Mark('A' | 'B') if osc.marks => {
                self.osc = claim(AgentState::Ready, "a prompt")
            }
            OscSignal::Notice(words) => {
                if osc.blocked.as_ref().is_some_and(|pattern| pattern.is_in(&words)) {
                    self.osc = claim(AgentState::Blocked, &words);
                } else if osc.ready.as_ref().is_some_and(|pattern| pattern.is_in(&words)) {
                    self.osc = claim(AgentState::Ready, &words);
                }
            }
            OscSignal::Progress(_) | OscSignal::Mark(_) | OscSignal::Reset => {}
        }
    }

    fn observe_status(&mut self, report: StatusReport, now: Time) {
        self.statuses.apply(report);
        let status = self.statuses.overall();
        if self.status.map(|(status, _)| status) != status {
            self.status = status.map(|status| (status, now));
        }
    }

    fn observe_title(&mut self, title: &str, profile: &Profile, now: Time) {
        if self.title.as_ref().is_some_and(|claim| claim.words == title) {
            return;
        }
        let meaning = &profile.title;
        let is = |pattern: &Option<super::ProfilePattern>| {
            pattern.as_ref().is_some_and(|pattern| pattern.is_in(title))
        };
        let says = if title.is_empty() {
            None
        } else if is(&meaning.blocked) {
            Some(AgentState::Blocked)
        } else if is(&meaning.busy) {
            Some(AgentState::Busy)
        } else if is(&meaning.ready) || (meaning.silence && self.titled) {
            Some(AgentState::Ready)
        } else {
            None
        };
        self.titled |= says == Some(AgentState::Busy);
        let same = self.title.as_ref().filter(|claim| claim.says == says);
        let since = same.map_or(now, |claim| claim.since);
        let moves = same.is_some() && says == Some(AgentState::Busy);
        self.title = Some(SignalClaim { says, words: title.into(), since, moved: now, moves });
    }

    pub(super) fn observe_report(&mut self, report: &HookReport, profile: &Profile, now: Time) {
        let claim = |says, kind, weight, name: &str| {
            Some(HookClaim { says, kind, weight, name: name.into(), at: now })
        };
        let event = report.event.as_deref().unwrap_or("report");
        if let Some(state) = report.state {
            self.hook = claim(state, report.kind, 0.93, event);
            self.note_hook_answer();
            return;
        }
        let fits = |hook: &&super::profile::HookRule| {
            let named = hook.event.as_ref().is_none_or(|name| {
                report.event.as_ref().is_some_and(|event| event.eq_ignore_ascii_case(name))
            });
            named && hook.fields.iter().all(|field| report.fields.contains(field))
        };
        if let Some(hook) = profile.hooks.iter().find(fits) {
            let claimed = hook.supports.map(|says| claim(says, hook.kind, hook.weight, event));
            self.hook = claimed.flatten();
            self.note_hook_answer();
        }
    }

    /// A hook that reports any state but blocked shows that the question was answered.
    fn note_hook_answer(&mut self) {
        if self.hook.as_ref().is_some_and(|claim| claim.says != AgentState::Blocked) {
            self.mark_answered();
        }
    }

    pub(super) fn observe_keystroke(&mut self, stroke: &Keystroke, profile: &Profile, now: Time) {
        if self.answers(stroke) {
            self.mark_answered();
        }
        self.waited = None;
        match stroke {
            Keystroke::Text(text) => {
                self.line.push_str(text);
                self.learn_composer();
                self.learn_rest_modes();
            }
            Keystroke::Erase => {
                self.line.clear();
                self.erased = Some(now);
            }
            Keystroke::Esc => {
                self.line.clear();
                self.erased = Some(now);
                self.interrupted = Some(now);
            }
            Keystroke::Cancel => {
                self.line.clear();
                self.erased = Some(now);
                self.interrupted = Some(now);
                self.quit_at = Some(now);
            }
            Keystroke::Enter => self.observe_enter(profile, now),
            Keystroke::Other => {}
        }
    }

    fn observe_enter(&mut self, profile: &Profile, now: Time) {
        let line = std::mem::take(&mut self.line);
        let shown = self.findings.as_ref().map(|findings| &findings.composer);
        let draft = match shown {
            Some(Composer::Draft(draft)) => Some(draft.clone()),
            Some(Composer::Empty | Composer::Hidden) | None => None,
        };
        if self.dialog.value.is_some() || (line.trim().is_empty() && draft.is_none()) {
            return;
        }
        let words = [line.trim(), draft.as_deref().unwrap_or_default().trim()];
        let is_quit = |word: &&str| profile.is_generic() && QUIT_WORDS.contains(word);
        if profile.quit.text.as_deref().is_some_and(|quit| words.contains(&quit))
            || words.iter().any(is_quit)
        {
            self.quit_at = Some(now);
            return;
        }
        self.quit_at = None;
        self.prompt = words.into_iter().find(|words| !words.is_empty()).map(beginning);
        self.enter = Some(EnterPress { at: now, draft, kept: true });
        self.turn = true;
    }

    /// The matches that support a state, strongest first as the profile has them.
    pub(super) fn matches_for(&self, state: AgentState) -> impl Iterator<Item = &TimedRuleMatch> {
        self.rule_matches.iter().filter(move |held| held.rule_match.supports == state)
    }

    /// The kind of question, if no question could be parsed.
    pub(super) fn kind(&self) -> Option<BlockKind> {
        let held = self.matches_for(AgentState::Blocked).find_map(|held| held.rule_match.kind);
        let status = self.status.and_then(|(status, _)| status.kind());
        held.or_else(|| self.hook.as_ref().and_then(|claim| claim.kind)).or(status)
    }

    /// Until when it is limited, if the screen tells for how long.
    pub(super) fn until(&self) -> Option<Time> {
        self.matches_for(AgentState::Limited)
            .find_map(|held| limit::until(&held.rule_match.row, held.since))
    }

    /// Updates the facts after a verdict, for the next one.
    pub(super) fn note_verdict(&mut self, state: AgentState) {
        if matches!(state, AgentState::Ready | AgentState::Error | AgentState::Limited) {
            self.learn_turn();
            self.learn_first_modes();
            self.was_ready = true;
            self.turn = false;
            self.enter = None;
            self.idle_rows =
                self.rule_matches.iter().map(|held| mask_digits(&held.rule_match.row)).collect();
        }
    }
}
