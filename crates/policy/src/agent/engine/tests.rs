//! States from observations; and properties that hold whatever is observed.

mod generic;

use std::sync::LazyLock;

use paned_model::Size;
use paned_term::Screen;
use proptest::prelude::*;

use super::super::{ProfileLibrary, ProfilePattern};
use super::*;

static LIBRARY: LazyLock<ProfileLibrary> = LazyLock::new(ProfileLibrary::embedded);

/// A program with a composer between rules, a footer, a spinner and a title.
const SMALL: &str = "\
command = 'small'
[composer]
top = '^───'
bottom = '^───'
prompt = '^> '
[timing]
settle = 200
expect = 1000
lost = 500
[title]
busy = '^\\* '
silence = true
[rules.working]
says = 'busy'
in = 'footer'
match = 'esc to stop'
[rules.limit]
says = 'limited'
in = 'turn'
match = '^! limit'
[rules.error]
says = 'error'
in = 'turn'
match = '^! '
[dialog]
options = ['numbered']
kind = 'permission'
[messages]
user = '^: '
[quit]
text = '/quit'
[hooks.start]
event = 'Start'
says = 'busy'
[hooks.stop]
event = 'Stop'
says = 'ready'
[hooks.ask]
event = 'Ask'
says = 'blocked'
kind = 'plan'
";

struct EngineTest {
    engine: Engine,
    now: u64,
}

impl EngineTest {
    fn new() -> Self {
        let profile = Profile::parse("small.toml", SMALL).unwrap();
        Self { engine: Engine::new(Arc::new(profile), Time(0)), now: 0 }
    }

    /// Time passes, and the engine is called at its deadlines.
    fn wait(&mut self, millis: u64) -> &mut Self {
        let until = self.now + millis;
        while let Some(due) = self.engine.deadline().filter(|due| due.0 <= until) {
            self.engine.tick(due);
        }
        self.now = until;
        self.engine.tick(Time(until));
        self
    }

    fn see(&mut self, seen: &EngineInput) -> &mut Self {
        self.engine.observe(seen, Time(self.now));
        self
    }

    fn show(&mut self, rows: &str) -> &mut Self {
        self.see(&EngineInput::Screen(look(rows)))
    }

    fn title(&mut self, title: &str) -> &mut Self {
        self.see(&EngineInput::Output(format!("\x1b]0;{title}\x07").into_bytes()))
    }

    fn status(&mut self, report: &str) -> &mut Self {
        self.see(&EngineInput::Output(format!("\x1b]7501;{report}\x1b\\").into_bytes()))
    }

    fn typed(&mut self, text: &str) -> &mut Self {
        self.see(&EngineInput::Typed(text.into()))
    }

    fn hook(&mut self, event: &str) -> &mut Self {
        self.see(&EngineInput::Report(HookReport {
            event: Some(event.into()),
            ..HookReport::default()
        }))
    }

    #[track_caller]
    fn is(&mut self, state: &str) -> &mut Self {
        let said = self.engine.judgement();
        assert_eq!(said.state.as_str(), state, "at {} ms: {said:?}", self.now);
        self
    }
}

fn look(rows: &str) -> ScreenSnapshot {
    let mut screen = Screen::new(Size { cols: 40, rows: 16 });
    screen.feed(rows.replace('\n', "\r\n").as_bytes());
    ScreenSnapshot::of(&screen)
}

/// An agent that was ready and was given a prompt, by Enter on a draft.
fn prompted() -> EngineTest {
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(500).is("ready");
    stage.typed("do it").show(DRAFT).typed("\r").show(SENT).is("busy");
    stage
}

#[test]
fn the_last_prompt_is_what_was_typed_and_no_answer_to_a_question() {
    let mut stage = prompted();
    assert_eq!(stage.engine.prompt(), Some("do it"));
    stage.show(IDLE).wait(5000).is("ready");
    stage.typed("x\x7f").typed("\x1b[200~one\rtwo\x1b[201~").typed("\r");
    assert_eq!(stage.engine.prompt(), Some("one\ntwo"));
}

#[test]
fn a_reported_status_alone_never_makes_an_agent_ready() {
    EngineTest::new().status("state=idle").wait(2000).is("starting");
    let mut stage = EngineTest::new();
    stage.engine =
        Engine::new(Arc::new(Profile::parse("x.toml", "command = 'x'").unwrap()), Time(0));
    stage.status("state=idle").wait(60_000).is("starting");
    stage.status("state=working").is("busy");
}

#[test]
fn a_turn_is_as_long_as_the_program_reports_where_the_screen_shows_nothing_of_it() {
    let mut stage = prompted();
    stage.status("state=working:app=x").wait(20_000).is("busy");
    stage.status("state=done").wait(100).is("ready");
    let mut stage = prompted();
    stage.status("state=working").wait(20_000).is("busy");
    stage.status("state=error").wait(100).is("error");
}

#[test]
fn a_task_in_the_background_is_no_turn() {
    let mut stage = prompted();
    stage.status("state=working").show(WORKING).wait(1000).is("busy");
    stage.show(IDLE).wait(200).is("busy").wait(2000).is("ready");
    stage.status("state=done").wait(200).is("ready");
    stage.status("state=working").wait(5000).is("ready");
}

#[test]
fn a_reported_question_is_one_until_the_composer_comes_back() {
    let mut stage = prompted();
    stage.status("state=blocked:kind=question").is("blocked");
    assert_eq!(stage.engine.judgement().kind, Some(BlockKind::Question));
    let told = stage.engine.explain(Time(stage.now));
    assert!(
        told.iter().any(|it| it.sentence.contains("`blocked` (question) by OSC 7501")),
        "{told:?}"
    );
    stage.wait(60_000).is("blocked");
    stage.status("state=working").is("busy");
    stage.status("state=blocked:kind=permission").show("May I?").wait(1000).is("blocked");
    stage.show(IDLE).wait(10_000).is("ready");
}

#[test]
fn a_question_is_reported_before_it_is_drawn() {
    let mut stage = prompted();
    stage.title("* demo").status("state=blocked:kind=permission").wait(500).is("busy");
    stage.show(ASKING).title("demo").wait(100).is("blocked");
}

const SENT: &str = "hello\n: do it\nSo far.\n──────────\n> \n──────────\n? for help";
const IDLE: &str = "hello\n──────────\n> \n──────────\n? for help";
const DRAFT: &str = "hello\n──────────\n> do it\n──────────\n? for help";
const WORKING: &str = "hello\n: do it\n──────────\n> \n──────────\nesc to stop";
const FAILED: &str = "hello\n: do it\n! no such model\n──────────\n> \n──────────\n? for help";
const ASKING: &str = "hello\n: do it\nMay I?\n❯ 1. Yes\n  2. No";

#[test]
fn a_turn_from_enter_to_its_end() {
    let mut stage = EngineTest::new();
    stage.is("starting").wait(100).show(IDLE).is("ready");
    stage.wait(100).typed("do it").show(DRAFT).is("ready");
    stage.wait(100).typed("\r").is("busy").wait(50).show(WORKING).is("busy");
    // The screen must look ready for a while: programs redraw.
    stage.wait(900).show(IDLE).is("busy").wait(150).is("busy").wait(60).is("ready");
}

/// The id of the question on the screen.
fn asked(stage: &EngineTest) -> String {
    stage.engine.judgement().dialog.as_ref().unwrap().id.clone()
}

/// A question that is half drawn: its options are not there yet, or not all of its words.
const HALF: &str = "hello\n: do it\nMay I?";
const TORN: &str = "hello\n: do it\n\n❯ 1. Yes\n  2. No";

#[test]
fn a_question_that_is_drawn_again_is_the_same() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).typed("do it").show(DRAFT).typed("\r").wait(100).show(ASKING);
    let first = asked(&stage);
    stage.typed("\x1b[B").wait(50).show(HALF).wait(900).show(ASKING).is("blocked");
    assert_eq!(asked(&stage), first);
    stage.wait(50).show(TORN);
    assert_ne!(asked(&stage), first, "other words have another id");
    assert_eq!(asked(&stage).rsplit('-').next(), first.rsplit('-').next(), "and the same number");
    stage.wait(50).show(HALF).wait(400).show(ASKING).is("blocked");
    assert_eq!(asked(&stage), first);
}

#[test]
fn the_same_words_after_an_answer_are_another_question() {
    for answer in ["\r", "1", "\x1b"] {
        let mut stage = EngineTest::new();
        stage.show(IDLE).wait(100).typed("do it").show(DRAFT).typed("\r").wait(100).show(ASKING);
        let first = asked(&stage);
        stage.wait(50).typed(answer).wait(10).show(ASKING);
        assert_eq!(asked(&stage), first, "it is still there after {answer:?}");
        stage.wait(50).show(HALF).wait(50).show(ASKING);
        assert_ne!(asked(&stage), first, "after {answer:?}");
    }
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).typed("do it").show(DRAFT).typed("\r").wait(100).show(ASKING);
    let first = asked(&stage);
    stage.wait(50).show(HALF).wait(6_000).show(ASKING);
    assert_ne!(asked(&stage), first, "it was away for long");
    let second = asked(&stage);
    stage.wait(50).hook("Start").show(HALF).wait(50).show(ASKING);
    assert_ne!(asked(&stage), second, "a hook said that it goes on");
}

#[test]
fn a_title_that_names_the_state_is_enough() {
    let mut stage = EngineTest::new();
    stage.title("demo").show(IDLE).is("ready").typed("x\r").title("* demo").is("busy");
    stage.wait(5000).show(IDLE).is("busy").title("demo").is("ready");
}

#[test]
fn a_title_is_silent_until_it_has_spoken() {
    let mut stage = EngineTest::new();
    stage.title("demo").show(IDLE).is("ready").typed("x\r").show(WORKING).title("other").is("busy");
}

#[test]
fn enter_that_does_nothing_is_forgotten() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).typed("x").show(DRAFT).typed("\r").is("busy").show(DRAFT);
    stage.wait(900).is("busy").wait(200).is("ready");
    // On an empty line it is nothing at all.
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("\r").is("ready");
}

#[test]
fn a_draft_that_leaves_at_once_was_sent_by_somebody() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).show(DRAFT).is("ready").wait(100).show(IDLE).is("busy");
    stage.wait(100).show(WORKING).wait(500).show(IDLE).wait(300).is("ready");
    // Unless it was erased, or nothing follows.
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).show(DRAFT).typed("\x15").show(IDLE).is("ready");
    stage.wait(2000).show(DRAFT).wait(100).show(IDLE).is("busy").wait(1100).is("ready");
}

#[test]
fn a_question_blocks_at_once_and_its_answer_frees() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("x\r").wait(50).show(WORKING).wait(500).show(ASKING).is("blocked");
    let dialog = stage.engine.judgement().dialog.clone().unwrap();
    assert_eq!(dialog.options.len(), 2);
    stage.wait(60_000).is("blocked").typed("\r").wait(50).show(WORKING).is("busy");
    // The same text asked again is a new question.
    stage.wait(500).show(ASKING).is("blocked");
    assert_ne!(stage.engine.judgement().dialog.as_ref().unwrap().id, dialog.id);
}

#[test]
fn a_failed_turn_is_an_error_until_the_next() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("x\r").wait(50).show(WORKING).wait(500).show(FAILED).wait(300);
    stage.is("error").wait(60_000).is("error").typed("y\r").is("busy");
    stage.wait(100).show(WORKING).wait(500).show(IDLE).wait(300).is("ready");
}

#[test]
fn a_limit_says_until_when() {
    let mut stage = EngineTest::new();
    let limited = FAILED.replace("no such model", "limit, try again in 2 minutes");
    stage.show(IDLE).typed("x\r").wait(50).show(WORKING).wait(450).show(&limited).wait(300);
    assert_eq!(stage.is("limited").engine.judgement().until, Some(Time(500 + 120_000)));
}

#[test]
fn a_hook_is_believed_until_it_is_silent_and_the_screen_disagrees() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("x\r").hook("Start").is("busy").wait(1500).show(IDLE).is("busy");
    stage.wait(4000).show(IDLE).is("ready");
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("x\r").show(WORKING).wait(2000).hook("Ask").is("blocked");
    assert_eq!(stage.engine.judgement().kind, Some(BlockKind::Plan));
    stage.hook("Start").is("busy").wait(100).show(WORKING).hook("Stop").is("busy");
    stage.wait(100).show(IDLE).wait(100).is("ready");
    assert_eq!(stage.engine.judgement().source, StateSource::Hook);
}

#[test]
fn nothing_known_is_unknown_and_never_ready() {
    let mut stage = EngineTest::new();
    stage.show("a pager\n(END)").wait(1000).is("starting").wait(200_000).is("unknown");
    let mut stage = EngineTest::new();
    stage.show(IDLE).is("ready").wait(100).show("a pager\n(END)").wait(400).is("ready");
    stage.wait(200).is("unknown").wait(60_000).is("unknown").show(IDLE).is("ready");
}

#[test]
fn quitting_is_no_work_and_the_end_is_final() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(100).typed("/quit").typed("\r").is("ready").wait(100).is("ready");
    stage.see(&EngineInput::Exited { code: Some(0) }).is("exited").show(IDLE).is("exited");
}

#[test]
fn it_explains_itself() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).typed("x\r").wait(50).show(WORKING).wait(200);
    let reasons = stage.engine.explain(Time(stage.now));
    let sentences: Vec<_> = reasons.iter().map(|reason| reason.sentence.as_str()).collect();
    assert_eq!(sentences.first(), Some(&"the footer shows `esc to stop` (0.2 s ago)"));
    assert!(sentences.contains(&"the composer is visible and empty (0.2 s ago)"), "{sentences:?}");
    assert!(reasons.is_sorted_by(|one, other| other.weight <= one.weight));
}

#[test]
fn an_agent_met_at_work_is_never_ready_first() {
    let codex = LIBRARY.get("codex").unwrap().clone();
    let mut screen = Screen::new(Size { cols: 40, rows: 12 });
    screen.feed("\x1b]0;⠋ demo\x07• words\r\n\r\n› \r\n\r\n  fake · /tmp\x1b[3;3H".as_bytes());
    let mut engine = Engine::already_running(codex, Time(0));
    assert_eq!(engine.judgement().state, AgentState::Unknown);
    engine.observe(&EngineInput::Screen(ScreenSnapshot::of(&screen)), Time(5));
    assert_eq!(engine.judgement().state, AgentState::Unknown);
    assert_eq!(engine.deadline(), Some(Time(85)));
    engine.tick(Time(85));
    assert_eq!(engine.judgement().state, AgentState::Busy);
    // A line editor that does not read is at work, too.
    let mut engine = Engine::already_running(LIBRARY.get("aider").unwrap().clone(), Time(0));
    engine.observe(&EngineInput::Screen(look("words")), Time(5));
    assert_eq!(engine.judgement().state, AgentState::Busy);
}

#[test]
fn another_profile_keeps_what_was_said() {
    let mut stage = EngineTest::new();
    stage.show(IDLE).is("ready");
    let codex = LIBRARY.get("codex").unwrap().clone();
    let engine = stage.engine.with_profile(codex, Time(10));
    assert_eq!(engine.judgement().state, AgentState::Ready);
}

/// Pieces of output that mean something to one profile or another.
fn output() -> impl Strategy<Value = String> {
    let words = [
        "\x1b[2J\x1b[H",
        "\r\n",
        "› ",
        "> ",
        "esc to interrupt",
        "\x1b]0;⠋ x\x07",
        "\x1b]0;x\x07",
        "  1. Yes\r\n",
        "› 1. Yes\r\n  2. No\r\n",
        "Press enter to confirm or esc to cancel",
        "────────────",
        "\x1b[?2004h",
        "\x1b[?25l",
        "\x1b[5;3H",
        "\x1b[2m",
        "\x1b[0m",
        "┃  text",
        "╹▀▀▀▀▀▀▀▀▀▀",
        "⬝⬝⬝■■■■ esc interrupt",
        "(Y)es/(N)o [Yes]: ",
        "日本",
        "e\u{301}",
        "\x1b[?2026h",
        "\x1b[?2026l",
        "● Allow\r\n○ Deny",
        "\u{0}",
        "\x1b]9;4;1;3\x07",
        "\x1b]133;A\x07",
    ];
    prop_oneof![4 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned), 1 => ".{0,12}"]
}

fn profiles() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "codex", "opencode", "gemini", "aider", "pi", "goose", "qwen", "claude", "shell",
    ])
}

/// The engine's last judgement if output comes in these pieces, all at one moment.
fn finally(profile: &str, pieces: &[&[u8]]) -> (AgentState, Option<BlockKind>) {
    let mut engine = Engine::new(LIBRARY.get(profile).unwrap().clone(), Time(0));
    let mut screen = Screen::new(Size { cols: 60, rows: 12 });
    for piece in pieces {
        screen.feed(piece);
        engine.observe(&EngineInput::Output(piece.to_vec()), Time(10));
    }
    screen.flush_update();
    engine.observe(&EngineInput::Screen(ScreenSnapshot::of(&screen)), Time(20));
    for now in 1..200 {
        engine.tick(Time(20 + now * 100));
    }
    (engine.judgement().state, engine.judgement().kind)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn cutting_the_output_changes_nothing(
        profile in profiles(),
        output in proptest::collection::vec(output(), 1..20),
        cut in 0.0..1.0,
    ) {
        let bytes = output.concat().into_bytes();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
        let at = (bytes.len() as f64 * cut) as usize;
        let (one, other) = bytes.split_at(at);
        prop_assert_eq!(finally(profile, &[&bytes]), finally(profile, &[one, other]));
    }

    #[test]
    fn anything_at_all_is_answered(
        profile in profiles(),
        seen in proptest::collection::vec((0..4u8, proptest::collection::vec(any::<u8>(), 0..40), output()), 0..20),
        cols in 2..90u16,
        rows in 1..30u16,
    ) {
        let mut engine = Engine::new(LIBRARY.get(profile).unwrap().clone(), Time(0));
        let mut screen = Screen::new(Size { cols, rows });
        for (at, (kind, bytes, text)) in (0..).zip(&seen) {
            let now = Time(at * 50);
            screen.feed(bytes);
            screen.feed(text.as_bytes());
            let observation = match kind {
                0 => EngineInput::Output(bytes.clone()),
                1 => EngineInput::Typed(bytes.clone()),
                2 => EngineInput::Typed(text.clone().into_bytes()),
                _ => EngineInput::Screen(ScreenSnapshot::of(&screen)),
            };
            engine.observe(&observation, now);
            let look = ScreenSnapshot::of(&screen);
            let read = (look.composer(engine.profile()), look.dialog(engine.profile()));
            drop((engine.explain(now), read));
        }
    }

    /// Regardless of what else is on the screen, was typed or reported.
    #[test]
    fn it_is_never_ready_while_the_footer_says_busy(
        above in "[ -~\n]{0,80}",
        typed in "[a-z\r\x1b/]{0,12}",
        hooks in proptest::collection::vec(proptest::sample::select(vec!["Start", "Stop", "Ask"]), 0..4),
        waits in proptest::collection::vec(0..2500u64, 1..8),
    ) {
        let mut stage = EngineTest::new();
        stage.show(IDLE).wait(500);
        let above: String = above.lines().take(8).map(|line| format!("{}\n", line.chars().take(38).collect::<String>())).collect();
        stage.show(&format!("{above}──────────\n> \n──────────\nesc to stop")).typed(&typed);
        for event in hooks {
            stage.hook(event);
            prop_assert_ne!(stage.engine.judgement().state, AgentState::Ready);
        }
        for wait in waits {
            stage.wait(wait);
            prop_assert_ne!(stage.engine.judgement().state, AgentState::Ready);
        }
    }
}

#[test]
fn patterns_are_equal_as_they_are_written() {
    let profile = Profile::parse("small.toml", SMALL).unwrap();
    let busy: Option<&ProfilePattern> = profile.title.busy.as_ref();
    assert_eq!(busy.map(ProfilePattern::as_str), Some("^\\* "));
}

#[test]
fn a_reset_and_a_shells_prompt_mark_take_a_reported_status_away() {
    for end in ["\x1bc", "\x1b]133;A\x07"] {
        let mut stage = EngineTest::new();
        stage.show(IDLE).wait(500).status("state=blocked:kind=permission").is("blocked");
        stage.see(&EngineInput::Output(end.into())).wait(100).is("ready");
        let told = stage.engine.explain(Time(stage.now));
        assert!(!told.iter().any(|it| it.sentence.contains("7501")), "{told:?}");
    }
    let mut stage = EngineTest::new();
    stage.show(IDLE).wait(500).status("state=blocked:kind=permission");
    stage.see(&EngineInput::Output("\x1b]133;C\x07\x1b[c".into())).wait(100).is("blocked");
}
