//! Builds a profile from a document, and finds every mistake in it.

use paned_model::{AgentState, BlockKind};
use paned_term::keys::Key;

use super::pattern::Trust;
use super::reader::ProfileTableReader;
use super::tree::ProfileNode;
use super::{
    Arguments, ChoiceMethod, ComposerShape, DialogShape, EscapeAction, HookRule, Hue,
    InterruptKeys, MessageMarks, OptionStyle, OscMeaning, Profile, ProfileError, PromptEscape,
    QuestionRule, Quit, ScreenCondition, ScreenRegion, ScreenRule, Submit, Timing, TitleMeaning,
    TranscriptSource, TypingMode,
};

/// The states that evidence may support.
const STATES: [(&str, AgentState); 6] = [
    ("starting", AgentState::Starting),
    ("ready", AgentState::Ready),
    ("busy", AgentState::Busy),
    ("blocked", AgentState::Blocked),
    ("limited", AgentState::Limited),
    ("error", AgentState::Error),
];

const KINDS: [(&str, BlockKind); 6] = [
    ("permission", BlockKind::Permission),
    ("plan", BlockKind::Plan),
    ("question", BlockKind::Question),
    ("trust", BlockKind::Trust),
    ("login", BlockKind::Login),
    ("limit", BlockKind::Limit),
];

/// Reads a whole profile.
pub(super) fn profile(
    name: &str,
    node: ProfileNode,
    trust: Trust,
) -> Result<Profile, Vec<ProfileError>> {
    let mut mistakes = Vec::new();
    let profile = whole(name, ProfileTableReader::new(node, trust, &mut mistakes));
    if mistakes.is_empty() {
        return Ok(profile);
    }
    mistakes.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    Err(mistakes)
}

fn whole(name: &str, mut reader: ProfileTableReader<'_>) -> Profile {
    let command = command(&mut reader);
    let programs = reader.texts("programs");
    let profile = Profile {
        name: name.to_owned(),
        about: reader.text("about").unwrap_or_default(),
        accuracy: reader.text("accuracy"),
        programs: programs.unwrap_or_else(|| command.first().cloned().into_iter().collect()),
        command,
        screen: reader.pattern("screen"),
        versions: reader.texts("versions").unwrap_or_default(),
        implicit: reader.flag("implicit").unwrap_or(true),
        spawn: reader.flag("spawn").unwrap_or(true),
        arguments: reader.table("arguments").map(arguments).unwrap_or_default(),
        submit: submit(reader.table("submit")),
        interrupt: interrupt(reader.table("interrupt")),
        quit: quit(reader.table("quit")),
        transcript: reader.table("transcript").and_then(transcript),
        messages: reader.table("messages").map(messages).unwrap_or_default(),
        context: reader.pattern("context"),
        context_region: reader
            .word("context-in", &ScreenRegion::WORDS)
            .unwrap_or(ScreenRegion::Live),
        timing: reader.table("timing").map(timing).unwrap_or_default(),
        composer: reader.table("composer").map(composer),
        dialog: reader.table("dialog").map(dialog),
        rules: reader.tables("rules", rule),
        title: reader.table("title").map(title).unwrap_or_default(),
        osc: reader.table("osc").map(osc).unwrap_or_default(),
        hooks: reader.tables("hooks", hook),
    };
    reader.finish();
    profile
}

fn command(reader: &mut ProfileTableReader<'_>) -> Vec<String> {
    let is_there = reader.has("command");
    let command = reader.texts("command").unwrap_or_default();
    if command.first().is_none_or(String::is_empty) {
        let why = if is_there { "is empty" } else { "is missing" };
        reader.report_error(format!("`command` {why}; it is the program and its usual arguments"));
    }
    command
}

fn arguments(mut reader: ProfileTableReader<'_>) -> Arguments {
    let arguments = Arguments {
        model: reader.texts("model"),
        models: reader.strings("models"),
        ask: reader.texts("ask").unwrap_or_default(),
        auto: reader.texts("auto"),
        prompt: reader.texts("prompt"),
    };
    let needs = [(&arguments.model, "model", "{model}"), (&arguments.prompt, "prompt", "{prompt}")];
    for (words, key, hole) in needs {
        if words.as_ref().is_some_and(|words| !words.iter().any(|word| word.contains(hole))) {
            reader.report_error(format!("`{key}` must have `{hole}` in one of its words"));
        }
    }
    reader.finish();
    arguments
}

fn key(name: &str) -> Key {
    name.parse().expect("a key that has a name")
}

fn submit(reader: Option<ProfileTableReader<'_>>) -> Submit {
    let mut submit = Submit {
        typing: TypingMode::Paste,
        delay_ms: 150,
        enter: vec![key("enter")],
        clear: Vec::new(),
        pasted: Vec::new(),
        escapes: Vec::new(),
    };
    let Some(mut reader) = reader else {
        return submit;
    };
    let typings = [("paste", TypingMode::Paste), ("typed", TypingMode::Typed)];
    submit.typing = reader.word("by", &typings).unwrap_or_default();
    submit.delay_ms = reader.millis("delay").unwrap_or(submit.delay_ms);
    if submit.delay_ms < 100 {
        reader
            .report_error("`delay` must be at least 100: programs lose an Enter that comes sooner");
    }
    let enter = reader.parsed("enter");
    if !enter.is_empty() {
        submit.enter = enter;
    }
    submit.clear = reader.parsed("clear");
    submit.pasted = reader.patterns("pasted");
    submit.escapes = reader.tables("care", prompt_escape);
    reader.finish();
    submit
}

fn prompt_escape(name: String, mut reader: ProfileTableReader<'_>) -> Option<PromptEscape> {
    let pattern = reader.pattern("match");
    let actions = [
        reader.text("before").map(EscapeAction::Prefix),
        reader.text("after").map(EscapeAction::Suffix),
        reader.text("refuse").map(EscapeAction::Refuse),
    ];
    let mut actions = actions.into_iter().flatten();
    let action = actions.next();
    let more = actions.next();
    if pattern.is_none() && action.is_some() && !reader.has("match") {
        reader.report_error("`match` is missing, or no pattern; it says which texts need care");
    }
    if action.is_none() || more.is_some() {
        reader.report_error("exactly one of `before`, `after` and `refuse` is needed");
    }
    reader.finish();
    Some(PromptEscape { name, pattern: pattern?, action: action? })
}

fn interrupt(reader: Option<ProfileTableReader<'_>>) -> InterruptKeys {
    let mut interrupt = InterruptKeys {
        keys: vec![key("esc")],
        presses: 1,
        within_ms: 1000,
        again: None,
        restores: false,
    };
    let Some(mut reader) = reader else {
        return interrupt;
    };
    let keys = reader.parsed("keys");
    if !keys.is_empty() {
        interrupt.keys = keys;
    }
    interrupt.presses = reader.count("presses", 1, 5).unwrap_or(1);
    interrupt.within_ms = reader.millis("within").unwrap_or(interrupt.within_ms);
    interrupt.again = reader.pattern("again");
    interrupt.restores = reader.flag("restores").unwrap_or(false);
    reader.finish();
    interrupt
}

fn quit(reader: Option<ProfileTableReader<'_>>) -> Quit {
    let Some(mut reader) = reader else {
        return Quit { text: None, keys: vec![key("ctrl+c")], presses: 2 };
    };
    let quit = Quit {
        text: reader.text("text"),
        keys: reader.parsed("keys"),
        presses: reader.count("presses", 1, 5).unwrap_or(1),
    };
    if quit.text.is_some() != quit.keys.is_empty() {
        reader.report_error("exactly one of `text` and `keys` is needed");
    }
    reader.finish();
    quit
}

fn transcript(mut reader: ProfileTableReader<'_>) -> Option<TranscriptSource> {
    let kind = reader.text("kind");
    let path = reader.text("path");
    if kind.is_none() || path.is_none() {
        reader.report_error("`kind` and `path` are both needed");
    }
    reader.finish();
    Some(TranscriptSource { kind: kind?, path: path? })
}

fn messages(mut reader: ProfileTableReader<'_>) -> MessageMarks {
    let messages = MessageMarks {
        user: reader.pattern("user"),
        tinted: reader.flag("tinted").unwrap_or(false),
        agent: reader.pattern("agent"),
        noise: reader.patterns("noise"),
        queued: reader.pattern("queued"),
        unanswered: reader.flag("unanswered").unwrap_or(false),
    };
    reader.finish();
    messages
}

fn timing(mut reader: ProfileTableReader<'_>) -> Timing {
    let usual = Timing::default();
    let timing = Timing {
        settle: reader.millis("settle").unwrap_or(usual.settle),
        quiet: reader.millis("quiet").unwrap_or(usual.quiet),
        expect: reader.millis("expect").unwrap_or(usual.expect),
        rest: reader.millis("rest").unwrap_or(usual.rest),
        lost: reader.millis("lost").unwrap_or(usual.lost),
        starting: reader.millis("starting").unwrap_or(usual.starting),
        stale: reader.millis("stale").unwrap_or(usual.stale),
    };
    reader.finish();
    timing
}

#[expect(clippy::cast_possible_truncation, reason = "a weight is from 0 to 1")]
fn weight(reader: &mut ProfileTableReader<'_>, usual: f32) -> f32 {
    reader.number("weight", 0.0, 1.0).map_or(usual, |weight| weight as f32)
}

fn composer(mut reader: ProfileTableReader<'_>) -> ComposerShape {
    let exact = reader.flag("exact").unwrap_or(false);
    let ways = [("shape", false), ("cursor", true)];
    let shape = ComposerShape {
        by_cursor: reader.word("by", &ways).unwrap_or(false),
        prompt: reader.pattern("prompt"),
        top: reader.pattern("top"),
        bottom: reader.pattern("bottom"),
        inside: reader.pattern("inside"),
        end: reader.pattern("end"),
        above: reader.count("above", 0, 10).unwrap_or(0),
        below: reader.count("below", 0, 10).unwrap_or(0),
        reach: reader.count("reach", 0, 255).unwrap_or(255),
        footer: reader.flag("footer").unwrap_or(false),
        placeholders: reader.patterns("placeholders"),
        mode: reader.pattern("mode"),
        needs: reader.words("needs", &ScreenCondition::WORDS),
        exact,
        absent: reader.word("absent", &STATES),
        weight: weight(&mut reader, if exact { 0.95 } else { 0.7 }),
    };
    if shape.prompt.is_none() && shape.bottom.is_none() {
        reader.report_error("[composer] needs `prompt`, or `bottom`, or it cannot be found");
    }
    reader.finish();
    shape
}

fn dialog(mut reader: ProfileTableReader<'_>) -> DialogShape {
    if !reader.has("options") {
        reader.report_error("`options` is missing; it says how options are written");
    }
    let shape = DialogShape {
        styles: reader.words("options", &OptionStyle::WORDS),
        hint: reader.pattern("hint"),
        needs: reader.words("needs", &ScreenCondition::WORDS),
        choosing: reader.word("choose", &ChoiceMethod::WORDS).unwrap_or_default(),
        kind: reader.word("kind", &KINDS).unwrap_or(BlockKind::Question),
        kinds: reader.tables("kinds", kind),
        known: reader.flag("known").unwrap_or(false),
        plain: reader.flag("plain").unwrap_or(false),
        begins: reader.pattern("begins"),
        reach: reader.count("reach", 1, 255).unwrap_or(10),
    };
    reader.finish();
    shape
}

fn kind(name: String, mut reader: ProfileTableReader<'_>) -> Option<QuestionRule> {
    let has_match = reader.has("match");
    let has_kind = reader.has("kind");
    let kind = QuestionRule {
        name,
        pattern: match reader.pattern("match") {
            Some(pattern) => pattern,
            None if has_match => return None,
            None => {
                reader.report_error("`match` is missing; it says how the question is known");
                return None;
            }
        },
        kind: match reader.word("kind", &KINDS) {
            Some(kind) => kind,
            None if has_kind => return None,
            None => {
                reader.report_error("`kind` is missing; it says what kind of question it is");
                return None;
            }
        },
        answer: reader.pattern("answer"),
    };
    reader.finish();
    Some(kind)
}

fn rule(name: String, mut reader: ProfileTableReader<'_>) -> Option<ScreenRule> {
    let has_says = reader.has("says");
    let has_match = reader.has("match");
    let says = reader.word("says", &STATES);
    if !has_says {
        reader.report_error("`says` is missing; it is the state that this speaks for");
    }
    let exact = reader.flag("exact").unwrap_or(false);
    let pattern = reader.pattern("match");
    let rule = ScreenRule {
        name,
        supports: says.unwrap_or(AgentState::Unknown),
        kind: reader.word("kind", &KINDS),
        region: reader.word("in", &ScreenRegion::WORDS).unwrap_or(ScreenRegion::Live),
        rows: reader.count("rows", 1, 255).unwrap_or(255),
        pattern,
        unless: reader.pattern("unless"),
        needs: reader.words("needs", &ScreenCondition::WORDS),
        hue: reader.word("colour", &Hue::WORDS),
        moves: reader.flag("moves").unwrap_or(false),
        exact,
        weight: weight(&mut reader, 0.9),
    };
    if !has_match && rule.needs.is_empty() {
        reader.report_error("`match` or `needs` is missing; one of them says when this holds");
    }
    reader.finish();
    says.map(|_| rule)
}

fn title(mut reader: ProfileTableReader<'_>) -> TitleMeaning {
    let title = TitleMeaning {
        blocked: reader.pattern("blocked"),
        busy: reader.pattern("busy"),
        ready: reader.pattern("ready"),
        silence: reader.flag("silence").unwrap_or(false),
    };
    reader.finish();
    title
}

fn osc(mut reader: ProfileTableReader<'_>) -> OscMeaning {
    let osc = OscMeaning {
        progress: reader.flag("progress").unwrap_or(false),
        marks: reader.flag("marks").unwrap_or(false),
        blocked: reader.pattern("blocked"),
        ready: reader.pattern("ready"),
    };
    reader.finish();
    osc
}

fn hook(name: String, mut reader: ProfileTableReader<'_>) -> Option<HookRule> {
    let clears = reader.flag("clears").unwrap_or(false);
    let hook = HookRule {
        name,
        event: reader.text("event"),
        fields: reader.strings("where"),
        supports: reader.word("says", &STATES),
        kind: reader.word("kind", &KINDS),
        weight: weight(&mut reader, 0.93),
    };
    if hook.event.is_none() && hook.fields.is_empty() {
        reader.report_error("`event` or `where` is missing; one of them says which report this is");
    }
    if clears == hook.supports.is_some() {
        reader.report_error("exactly one of `says` and `clears = true` is needed");
    }
    reader.finish();
    Some(hook)
}
