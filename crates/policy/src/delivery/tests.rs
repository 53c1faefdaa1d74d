//! Messages to agents that behave, and to those that do not: each line is an observation and its
//! effect.

use std::sync::{Arc, LazyLock};

use paned_model::{AgentState, BlockKind, Delivery, Dialog, Size, Time};
use paned_term::{Screen, ScreenView};

use super::*;
use crate::agent::{Composer, Observation, Profile};

/// A program like most.
pub(super) fn profile() -> Arc<Profile> {
    static PROFILE: LazyLock<Arc<Profile>> = LazyLock::new(|| {
        let text = "command = 'test'\n[submit]\ndelay = 120\nclear = ['ctrl+u']\n";
        Arc::new(Profile::parse("test.toml", text).unwrap())
    });
    PROFILE.clone()
}

pub(super) fn prepare(text: &str) -> PreparedText {
    PreparedText::new(text, |text| Ok(text.to_owned())).unwrap()
}

const TEXT: &str = "tell me what this program does";

/// A test with one message; the test plays the agent.
pub(super) struct AttemptTest {
    pub(super) attempt: Attempt,
    pub(super) now: Time,
    pub(super) scene: Observation,
    /// What is stored before the text is typed.
    begun: Option<AttemptStart>,
}

/// An agent that waits for a prompt.
pub(super) fn ready() -> Observation {
    Observation {
        state: AgentState::Ready,
        inferred: false,
        dialog: None,
        composer: Composer::Empty,
        placeholder: false,
        view: view("\u{1b}[?2004h> "),
        end: 100,
        typed: Some(3),
        typed_at: None,
        has_unread_line: false,
    }
}

fn view(printed: &str) -> ScreenView {
    let mut screen = Screen::new(Size { cols: 60, rows: 8 });
    screen.feed(printed.as_bytes());
    screen.view()
}

pub(super) fn question() -> Dialog {
    let text = "Would you like to run it?".to_owned();
    Dialog { id: "1".into(), kind: BlockKind::Permission, text, options: Vec::new() }
}

fn draft(text: &str) -> Composer {
    Composer::Draft(text.to_owned())
}

pub(super) const WROTE: WriteResult = WriteResult::Done { refereed: true };

impl AttemptTest {
    fn of(text: &str, when_busy: WhenBusy, leftover: Option<Leftover>) -> Self {
        let attempt = Attempt::new(prepare(text), profile(), when_busy, leftover);
        Self { attempt, now: Time(1_000_000), scene: ready(), begun: None }
    }

    fn new() -> Self {
        Self::of(TEXT, WhenBusy::Queue, None)
    }

    /// Time passes, and a snapshot is taken.
    fn after(&mut self, ms: u64) -> DeliveryStep {
        self.now = Time(self.now.0 + ms);
        self.attempt.step(&self.scene, self.now)
    }

    fn shows(&mut self, state: AgentState, composer: Composer) -> &mut Self {
        (self.scene.state, self.scene.composer) = (state, composer);
        self.scene.end += 10;
        self
    }

    #[track_caller]
    fn writes(&mut self, ms: u64, expect: &InputAction) {
        let (end, typed) = (self.scene.end, self.scene.typed);
        match self.after(ms) {
            DeliveryStep::Write(act, guard) => {
                assert_eq!(&act, expect);
                assert_eq!((guard.end, guard.typed), (Some(end), typed));
            }
            other => panic!("{other:?} at {:?}", self.attempt),
        }
    }

    #[track_caller]
    fn pastes(&mut self, ms: u64) {
        self.writes(ms, &InputAction::Paste(TEXT.into()));
        self.begun = self.attempt.attempt_start(None);
        assert_eq!(self.attempt.write_finished(&WROTE, self.now), None);
    }

    fn leftover(&self, outcome: &Outcome) -> Option<Leftover> {
        self.begun.unwrap().leftover(TEXT, outcome.delivery)
    }

    #[track_caller]
    fn presses(&mut self, ms: u64) {
        self.writes(ms, &InputAction::Press(profile().submit.enter.clone()));
        assert_eq!(self.attempt.write_finished(&WROTE, self.now), None);
    }

    #[track_caller]
    fn waits(&mut self, ms: u64, word: Delivery) -> Outcome {
        match self.after(ms) {
            DeliveryStep::Wait(until, standing) => {
                assert_eq!(standing.delivery, word, "{standing:?}");
                assert!(until.is_none_or(|until| self.now < until), "{until:?} is over");
                standing
            }
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn ends(&mut self, ms: u64, word: Delivery, because: &str) -> Outcome {
        match self.after(ms) {
            DeliveryStep::Finished(outcome) => {
                assert_eq!(outcome.delivery, word, "{outcome:?}");
                let told = outcome.evidence.iter().any(|said| said.contains(because));
                assert!(told, "no `{because}` in {:?}", outcome.evidence);
                outcome
            }
            other => panic!("{other:?}"),
        }
    }

    /// Up to the moment when Enter was pressed.
    fn pressed() -> Self {
        let mut play = Self::new();
        play.pastes(0);
        play.shows(AgentState::Ready, draft(TEXT)).waits(10, Delivery::Queued);
        play.presses(200);
        play
    }
}

#[test]
fn a_ready_agent_gets_text_then_enter_and_is_seen_to_take_it() {
    let mut play = AttemptTest::pressed();
    play.shows(AgentState::Ready, Composer::Empty).waits(30, Delivery::Queued);
    let outcome = play.ends(150, Delivery::Submitted, "the composer was emptied");
    assert_eq!(play.leftover(&outcome), None);
}

#[test]
fn a_composer_that_is_empty_while_the_screen_is_drawn_is_no_sign() {
    let mut play = AttemptTest::pressed();
    // A program that took Enter for a line end draws its composer anew, in pieces.
    play.shows(AgentState::Ready, Composer::Empty).waits(30, Delivery::Queued);
    play.shows(AgentState::Ready, draft(TEXT)).waits(100, Delivery::Queued);
    play.presses(2_000);
    play.shows(AgentState::Ready, Composer::Empty).waits(30, Delivery::Queued);
    play.ends(150, Delivery::Submitted, "the composer was emptied");
}

#[test]
fn enter_comes_after_the_delay_and_after_the_text_is_seen() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.waits(500, Delivery::Queued);
    play.shows(AgentState::Ready, draft(TEXT)).waits(0, Delivery::Queued);
    play.presses(40);
    let mut quick = AttemptTest::new();
    quick.pastes(0);
    quick.shows(AgentState::Ready, draft(TEXT)).waits(10, Delivery::Queued);
    quick.waits(100, Delivery::Queued);
    quick.presses(10);
}

#[test]
fn a_text_that_shows_in_part_must_stand_still() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.shows(AgentState::Ready, draft("tell me what")).waits(100, Delivery::Queued);
    play.shows(AgentState::Ready, draft("tell me what this")).waits(300, Delivery::Queued);
    play.waits(200, Delivery::Queued);
    play.presses(200);
    let mut collapsed = AttemptTest::new();
    collapsed.pastes(0);
    collapsed
        .shows(AgentState::Ready, draft("[Pasted text #1 +9 lines]"))
        .waits(100, Delivery::Queued);
    collapsed.presses(40);
}

#[test]
fn busy_after_enter_is_a_sign_and_before_it_is_none() {
    let mut play = AttemptTest::pressed();
    play.shows(AgentState::Busy, draft(TEXT)).waits(10, Delivery::Queued);
    play.scene.inferred = true;
    play.shows(AgentState::Busy, Composer::Hidden).waits(10, Delivery::Queued);
    play.scene.inferred = false;
    play.shows(AgentState::Busy, Composer::Hidden).ends(10, Delivery::Submitted, "became busy");
    let mut busy = AttemptTest::of(TEXT, WhenBusy::Send, None);
    busy.scene.state = AgentState::Busy;
    busy.pastes(0);
    busy.shows(AgentState::Busy, draft(TEXT)).waits(10, Delivery::Queued);
    busy.presses(200);
    busy.waits(100, Delivery::Queued);
    busy.shows(AgentState::Busy, Composer::Empty).waits(10, Delivery::Queued);
    busy.ends(150, Delivery::Submitted, "emptied");
}

#[test]
fn a_swallowed_enter_is_pressed_again_while_the_text_stands_there() {
    let mut play = AttemptTest::pressed();
    play.scene.end += 1;
    play.waits(500, Delivery::Queued);
    play.presses(400);
    play.scene.end += 1;
    play.waits(900, Delivery::Queued);
    play.presses(500);
    play.scene.end += 1;
    play.shows(AgentState::Busy, Composer::Empty).ends(5, Delivery::Submitted, "again (3 times");
}

#[test]
fn a_text_that_enter_does_not_move_is_drafted() {
    let mut play = AttemptTest::pressed();
    for _ in 1..4 {
        play.presses(10_000);
    }
    let outcome = play.ends(20_000, Delivery::Drafted, "is still in");
    assert_eq!(play.leftover(&outcome), Some(Leftover { text: TEXT.into(), typed: Some(3) }));
}

#[test]
fn a_question_refuses_a_message() {
    let mut play = AttemptTest::new();
    (play.scene.state, play.scene.dialog) = (AgentState::Blocked, Some(question()));
    let outcome = play.ends(0, Delivery::Refused, "a question is on its screen");
    assert_eq!(outcome.dialog, Some(question()));
}

#[test]
fn a_question_does_not_refuse_a_message_that_waits() {
    let mut play = AttemptTest::new();
    play.shows(AgentState::Busy, Composer::Empty).waits(0, Delivery::Queued);
    (play.scene.state, play.scene.dialog) = (AgentState::Blocked, Some(question()));
    play.waits(10, Delivery::Queued);
    play.scene.dialog = None;
    play.shows(AgentState::Ready, Composer::Empty).pastes(10);
}

#[test]
fn a_question_after_the_paste_stops_enter() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.shows(AgentState::Ready, draft(TEXT)).waits(10, Delivery::Queued);
    play.writes(200, &InputAction::Press(profile().submit.enter.clone()));
    // It appeared between the snapshot and the key, and the keeper noticed it.
    assert_eq!(play.attempt.write_finished(&WriteResult::Stale, play.now), None);
    (play.scene.state, play.scene.dialog) = (AgentState::Blocked, Some(question()));
    let outcome = play.ends(20, Delivery::Drafted, "Enter was not pressed");
    assert_eq!(outcome.dialog, Some(question()));
}

#[test]
fn a_question_that_came_up_before_the_paste_was_written_refuses_it() {
    let mut play = AttemptTest::new();
    play.writes(0, &InputAction::Paste(TEXT.into()));
    assert_eq!(play.attempt.write_finished(&WriteResult::Stale, play.now), None);
    (play.scene.state, play.scene.dialog) = (AgentState::Blocked, Some(question()));
    play.ends(20, Delivery::Refused, "nothing was typed");
}

#[test]
fn a_draft_holds_a_message_until_it_is_gone() {
    let mut play = AttemptTest::new();
    play.shows(AgentState::Ready, draft("dear agent"));
    assert!(play.waits(0, Delivery::Held).evidence[0].contains("`dear agent`"));
    play.waits(600_000, Delivery::Held);
    (play.scene.typed, play.scene.typed_at) = (Some(4), Some(Time(play.now.0 + 100)));
    play.shows(AgentState::Ready, Composer::Empty).waits(200, Delivery::Queued);
    play.pastes(800);
}

#[test]
fn somebody_who_types_into_the_text_has_it() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.shows(AgentState::Ready, draft(TEXT)).waits(10, Delivery::Queued);
    play.scene.typed = Some(4);
    play.ends(10, Delivery::Drafted, "a user typed");
}

#[test]
fn what_an_earlier_message_left_is_cleared_away_if_it_is_ours_alone() {
    let left = Leftover { text: "an earlier message of ours".into(), typed: Some(3) };
    let mut play = AttemptTest::of(TEXT, WhenBusy::Queue, Some(left.clone()));
    play.shows(AgentState::Ready, draft("an earlier message of ours"));
    play.writes(0, &InputAction::Press(profile().submit.clear.clone()));
    play.attempt.write_finished(&WROTE, play.now);
    play.waits(10, Delivery::Queued);
    play.shows(AgentState::Ready, Composer::Empty).pastes(10);
    let mut theirs = AttemptTest::of(TEXT, WhenBusy::Queue, Some(left));
    theirs.scene.typed = Some(4);
    theirs.shows(AgentState::Ready, draft("an earlier message of ours"));
    theirs.waits(0, Delivery::Held);
}

#[test]
fn busy_is_dealt_with_as_asked() {
    let mut play = AttemptTest::of(TEXT, WhenBusy::Refuse, None);
    play.shows(AgentState::Busy, Composer::Empty).ends(
        0,
        Delivery::Refused,
        "so nothing was typed",
    );
    let mut play = AttemptTest::new();
    play.scene.inferred = true;
    assert!(play.shows(AgentState::Busy, Composer::Empty).waits(0, Delivery::Queued).transient);
    play.scene.inferred = false;
    assert!(!play.shows(AgentState::Busy, Composer::Empty).waits(0, Delivery::Queued).transient);
}

#[test]
fn an_agent_that_cannot_be_made_out_is_waited_for_and_then_refused() {
    for state in [AgentState::Starting, AgentState::Unknown] {
        let mut play = AttemptTest::new();
        assert!(play.shows(state, Composer::Empty).waits(0, Delivery::Queued).transient);
        play.ends(60_000, Delivery::Refused, "nothing was typed");
    }
    let mut play = AttemptTest::new();
    play.shows(AgentState::Ready, Composer::Hidden).waits(0, Delivery::Queued);
    play.shows(AgentState::Ready, Composer::Empty).pastes(50_000);
}

#[test]
fn a_text_that_never_shows_is_not_submitted_blindly() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.ends(11_000, Delivery::Unknown, "not visible");
}

#[test]
fn an_unknown_state_after_the_paste_stops_enter() {
    let mut play = AttemptTest::new();
    play.pastes(0);
    play.shows(AgentState::Unknown, draft(TEXT)).waits(10, Delivery::Queued);
    play.waits(5_000, Delivery::Queued);
    play.ends(6_000, Delivery::Drafted, "could not be determined");
}

#[test]
fn an_end_is_told_as_far_as_it_is_known() {
    let mut play = AttemptTest::new();
    play.shows(AgentState::Exited, Composer::Hidden).ends(0, Delivery::Refused, "has exited");
    let mut play = AttemptTest::pressed();
    play.shows(AgentState::Exited, Composer::Hidden).ends(0, Delivery::Unknown, "exited after");
}

#[test]
fn a_screen_that_never_stands_still_refuses_in_the_end() {
    let mut play = AttemptTest::new();
    for _ in 0..2000 {
        play.writes(20, &InputAction::Paste(TEXT.into()));
        if let Some(outcome) = play.attempt.write_finished(&WriteResult::Stale, play.now) {
            assert_eq!(outcome.delivery, Delivery::Refused);
            return;
        }
    }
    panic!("it tries for ever");
}

#[test]
fn a_program_that_reads_no_more_gets_no_more() {
    let mut play = AttemptTest::pressed();
    for _ in 0..200 {
        match play.after(200) {
            DeliveryStep::Wait(..) => {}
            DeliveryStep::Write(InputAction::Press(_), _) => {
                if let Some(outcome) = play.attempt.write_finished(&WriteResult::Unread, play.now) {
                    assert_eq!(outcome.delivery, Delivery::Unknown);
                    return;
                }
            }
            other => panic!("{other:?}"),
        }
    }
    panic!("it tries for ever");
}

/// A message that an earlier server was about to type as its eighth write; by now its keeper has
/// done this many.
fn resumed(writes: Option<u64>, scene: Observation) -> AttemptTest {
    let begun = AttemptStart { typed: Some(3), guarded: Some(7), pieces: 1 };
    let mut play = AttemptTest::of(TEXT, WhenBusy::Queue, None);
    play.attempt = play.attempt.resume(begun, writes, play.now);
    play.scene = scene;
    play
}

#[test]
fn after_a_restart_a_text_that_was_not_typed_is_typed() {
    resumed(Some(7), ready()).pastes(0);
    // A question does not refuse it: the sender cannot know of it.
    let mut play = resumed(Some(7), ready());
    play.scene.dialog = Some(question());
    play.waits(0, Delivery::Queued);
    play.scene.dialog = None;
    play.pastes(100);
}

#[test]
fn after_a_restart_enter_that_was_pressed_is_not_pressed_again() {
    let mut play = resumed(Some(9), ready());
    play.waits(0, Delivery::Queued);
    play.ends(200, Delivery::Submitted, "the composer was emptied");
    // It may have caused a question.
    let mut play = resumed(Some(9), ready());
    play.scene.view = view(&format!("\u{1b}[?2004h> {TEXT}\r\n\r\nMay I run it?\r\n 1. yes"));
    play.shows(AgentState::Blocked, Composer::Hidden);
    play.scene.dialog = Some(question());
    play.waits(0, Delivery::Queued);
    play.ends(200, Delivery::Submitted, "moved from the composer to the conversation");
    // It was lost on its way.
    let mut play = resumed(Some(9), Observation { composer: draft(TEXT), ..ready() });
    play.waits(0, Delivery::Queued);
    play.presses(2_500);
}

/// A message for which Enter was written before the restart, and a screen that shows nothing of it:
/// a question is open, or the agent works.
fn resumed_unseen(
    when_busy: WhenBusy,
    state: AgentState,
    change: impl Fn(&mut Observation),
) -> AttemptTest {
    let begun = AttemptStart { typed: Some(3), guarded: Some(7), pieces: 1 };
    let mut play = AttemptTest::of(TEXT, when_busy, None);
    play.attempt = play.attempt.resume(begun, Some(9), play.now);
    play.scene.view = view("a long answer\r\n\r\nMay I run it?\r\n 1. yes");
    play.shows(state, Composer::Hidden);
    play.scene.dialog = (state == AgentState::Blocked).then(question);
    change(&mut play.scene);
    play
}

#[test]
fn after_a_restart_a_question_or_work_shows_that_the_text_was_taken() {
    let mut play = resumed_unseen(WhenBusy::Queue, AgentState::Blocked, |_| {});
    play.waits(0, Delivery::Queued);
    play.ends(200, Delivery::Submitted, "the agent asked a question");
    let mut play = resumed_unseen(WhenBusy::Queue, AgentState::Busy, |_| {});
    play.ends(0, Delivery::Submitted, "the agent became busy");
    // A screen that can be read only later is no reason to give up before.
    let mut play = resumed_unseen(WhenBusy::Queue, AgentState::Unknown, |_| {});
    play.waits(5_000, Delivery::Queued);
    play.shows(AgentState::Blocked, Composer::Hidden);
    play.scene.dialog = Some(question());
    play.waits(0, Delivery::Queued);
    play.ends(200, Delivery::Submitted, "the agent asked a question");
}

#[test]
fn after_a_restart_what_may_have_another_cause_shows_nothing() {
    let unknown = |when_busy, state, change: &dyn Fn(&mut Observation)| {
        let mut play = resumed_unseen(when_busy, state, change);
        play.waits(0, Delivery::Queued);
        play.waits(1_000, Delivery::Queued);
        play.ends(12_000, Delivery::Unknown, "");
    };
    let kind = |kind| move |scene: &mut Observation| scene.dialog.as_mut().unwrap().kind = kind;
    let (blocked, queue) = (AgentState::Blocked, WhenBusy::Queue);
    // Questions of the program itself.
    for other in [BlockKind::Question, BlockKind::Trust, BlockKind::Login, BlockKind::Limit] {
        unknown(queue, blocked, &kind(other));
    }
    // The turn of another message, or of a user.
    unknown(WhenBusy::Send, blocked, &|_| {});
    unknown(WhenBusy::Send, AgentState::Busy, &|_| {});
    unknown(queue, blocked, &|scene| scene.typed = Some(4));
    unknown(queue, blocked, &|scene| scene.typed = None);
    unknown(queue, AgentState::Busy, &|scene| scene.inferred = true);
    // A line that the program has not read.
    unknown(queue, blocked, &|scene| scene.has_unread_line = true);
    unknown(queue, AgentState::Ready, &|_| {});
    // The text is still at the cursor.
    unknown(queue, AgentState::Unknown, &|scene| scene.view = view("> something else"));
    let mut play = resumed_unseen(queue, blocked, |scene| scene.view = view(&format!("> {TEXT}")));
    play.waits(1_000, Delivery::Queued);
    play.ends(12_000, Delivery::Drafted, "still in the composer");
}

#[test]
fn after_a_restart_with_a_keeper_that_does_not_count_only_what_the_screen_shows_counts() {
    let resumed = |scene: Observation| resumed(None, scene);
    // Our draft, and no input was typed since: it is finished.
    let mut play = resumed(Observation { composer: draft(TEXT), ..ready() });
    play.waits(0, Delivery::Queued);
    play.presses(200);
    // The draft of a user is left alone.
    let mut play = resumed(Observation { composer: draft("something else"), ..ready() });
    play.waits(0, Delivery::Queued);
    play.ends(15_000, Delivery::Drafted, "Enter was not pressed");
    // It is in the conversation.
    let said = view(&format!("\u{1b}[?2004h> {TEXT}\r\n\r\n* Working\r\n\r\n> "));
    let mut play = resumed(Observation { view: said, ..ready() });
    play.ends(0, Delivery::Submitted, "conversation");
    // Nothing shows it.
    let mut play = resumed(ready());
    play.waits(0, Delivery::Queued);
    play.ends(15_000, Delivery::Unknown, "not visible");
}

#[test]
fn a_text_of_few_characters_in_the_conversation_may_be_another_one() {
    let text = "größer, süßer";
    assert_eq!((text.chars().count(), text.len()), (13, 17));
    let begun = AttemptStart { typed: Some(3), guarded: Some(7), pieces: 1 };
    let mut play = AttemptTest::of(text, WhenBusy::Queue, None);
    play.attempt = play.attempt.resume(begun, None, play.now);
    let said = view(&format!("\u{1b}[?2004h> {text}\r\n\r\n* Working\r\n\r\n> "));
    play.scene = Observation { view: said, ..ready() };
    play.waits(0, Delivery::Queued);
}

#[test]
fn a_program_that_takes_no_pastes_is_typed_to_in_pieces() {
    let mut play = AttemptTest::of(&"word ".repeat(200), WhenBusy::Queue, None);
    play.scene.view = view("> ");
    let mut typed = String::new();
    let mut ms = 0;
    for _ in 0..3 {
        let DeliveryStep::Write(InputAction::Type(piece), _) = play.after(ms) else {
            panic!("{:?}", play.attempt)
        };
        play.attempt.write_finished(&WROTE, play.now);
        typed += &piece;
        play.shows(AgentState::Ready, draft(&typed));
        ms = 50;
    }
    assert_eq!(typed, "word ".repeat(200));
    play.waits(10, Delivery::Queued);
    play.presses(300);
}

#[test]
fn a_line_that_the_program_has_not_read_was_not_taken() {
    // The kernel has echoed the line, and the prompt looks empty.
    let mut play = AttemptTest::pressed();
    play.scene.has_unread_line = true;
    play.shows(AgentState::Ready, Composer::Empty).waits(30, Delivery::Queued);
    play.waits(5_000, Delivery::Queued);
    play.ends(8_000, Delivery::Unknown, "has not read the line");
    let mut slow = AttemptTest::pressed();
    slow.scene.has_unread_line = true;
    slow.shows(AgentState::Busy, Composer::Hidden).waits(1_000, Delivery::Queued);
    slow.scene.has_unread_line = false;
    slow.ends(100, Delivery::Submitted, "became busy");
}
