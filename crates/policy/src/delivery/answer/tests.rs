//! Answers to questions that are redrawn, replaced or not selected.

use paned_model::BlockKind;

use super::super::tests::{WROTE, ready};
use super::*;

fn dialog(options: &[(&str, Option<bool>)]) -> Dialog {
    let option = |(n, (label, allows)): (usize, &(&str, Option<bool>))| DialogOption {
        label: (*label).to_owned(),
        keys: vec![(n + 1).to_string()],
        selected: n == 0,
        allows: *allows,
    };
    Dialog {
        id: "d".into(),
        kind: BlockKind::Permission,
        text: "Run it?".into(),
        options: options.iter().enumerate().map(option).collect(),
    }
}

#[track_caller]
fn check(choice: OptionChoice, expect: Result<&str, &str>) {
    let asked = dialog(&[
        ("Yes", Some(true)),
        ("Yes, and don't ask again for `touch`", Some(true)),
        ("No, tell it what to do (esc)", Some(false)),
    ]);
    let got = choose(&asked, &choice).map(|option| option.keys[0].clone());
    let got = got.map_err(|refused| refused.to_string());
    match expect {
        Ok(key) => assert_eq!(got.as_deref(), Ok(key)),
        Err(words) => assert!(got.as_ref().unwrap_err().contains(words), "{got:?}"),
    }
}

fn label(text: &str) -> OptionChoice {
    OptionChoice::Label(text.to_owned())
}

/// A question with three buttons, of which one is selected.
fn buttons(id: &str, selected: usize) -> Dialog {
    let mut asked = dialog(&[("Once", Some(true)), ("Always", Some(true)), ("Reject", None)]);
    asked.id = id.to_owned();
    for (at, option) in asked.options.iter_mut().enumerate() {
        option.selected = at == selected;
        option.keys = vec!["right".to_owned(); at];
        option.keys.push("enter".to_owned());
    }
    asked
}

/// Answers the question with its last option while these screens are seen, each for some
/// milliseconds.
fn play(screens: &[(u64, Option<Dialog>)]) -> (Vec<String>, Step<AnswerOutcome>) {
    let asked = buttons("1", 0);
    let mut answering = AnswerAttempt::new(&asked, &asked.options[2]).unwrap();
    let (mut scene, mut now) = (ready(), Time(1_000_000));
    for (ms, dialog) in screens {
        scene.dialog.clone_from(dialog);
        scene.end += 1;
        let until = Time(now.0 + ms);
        while now < until {
            match answering.step(&scene, now) {
                Step::Write(..) => {
                    assert!(scene.dialog.as_ref().is_some_and(|it| it.id == "1"), "{now:?}");
                    answering.write_finished(&WROTE, now);
                }
                Step::Wait(..) => {}
                end => return (answering.pressed().to_vec(), end),
            }
            now = Time(now.0 + 10);
        }
    }
    (answering.pressed().to_vec(), Step::Wait(None, ()))
}

#[test]
fn no_key_is_pressed_on_a_question_that_was_just_drawn() {
    let asked = Some(buttons("1", 0));
    assert_eq!(play(&[(FIRST, asked.clone())]).0.len(), 0);
    assert_eq!(play(&[(FIRST + 10, asked)]).0.len(), 1);
}

#[test]
fn a_box_before_a_label_need_not_be_said() {
    let asked = dialog(&[("[ ] Header", None), ("[✔] Footer", None)]);
    assert_eq!(choose(&asked, &label("header")).unwrap().keys, ["1"]);
    assert_eq!(choose(&asked, &label("[✔] Foot")).unwrap().keys, ["2"]);
}

#[test]
fn a_redraw_between_two_keys_is_no_answer() {
    let at = |selected| Some(buttons("1", selected));
    let other = Some(buttons("2", 0));
    // Blank, then half drawn as if another question, with something printed all the time.
    let redraw = [(350, at(0)), (600, None), (600, other), (400, None), (300, at(1))];
    let end = [(300, at(2)), (400, None)];
    let (pressed, progress) = play(&[&redraw[..], &end[..]].concat());
    assert_eq!(
        (pressed.join(" ").as_str(), progress),
        ("right right enter", Step::Finished(AnswerOutcome::Answered))
    );
}

#[test]
fn a_question_is_gone_when_the_screen_stands_still_without_it() {
    let asked = Some(buttons("1", 0));
    assert_eq!(
        play(&[(350, asked.clone()), (1_000, None)]).1,
        Step::Finished(AnswerOutcome::QuestionGone(1))
    );
    let other = Some(buttons("2", 0));
    assert_eq!(
        play(&[(350, asked.clone()), (1_000, other)]).1,
        Step::Finished(AnswerOutcome::QuestionGone(1))
    );
    // It prints on and on.
    let busy: Vec<_> = (0..100).map(|_| (100, None)).collect();
    let (pressed, progress) = play(&[&[(350, asked)][..], &busy].concat());
    assert_eq!((pressed.len(), progress), (1, Step::Finished(AnswerOutcome::QuestionGone(1))));
}

#[test]
fn a_question_that_is_read_in_full_only_later_is_the_same_for_who_named_none() {
    let (torn, whole) = (buttons("a-1", 0), buttons("b-1", 0));
    let scene = Observation { dialog: Some(whole), ..ready() };
    let exact = AnswerAttempt::new(&torn, &torn.options[0]).unwrap();
    let step = |mut answering: AnswerAttempt| {
        answering.step(&scene, Time(1));
        answering.step(&scene, Time(1_001))
    };
    assert_eq!(step(exact.clone()), Step::Finished(AnswerOutcome::QuestionGone(0)));
    assert!(matches!(step(exact.allow_redraw()), Step::Write(..)));
    let next = Observation { dialog: Some(buttons("b-2", 0)), ..ready() };
    let mut other = AnswerAttempt::new(&torn, &torn.options[0]).unwrap().allow_redraw();
    other.step(&next, Time(1));
    assert_eq!(other.step(&next, Time(1_001)), Step::Finished(AnswerOutcome::QuestionGone(0)));
}

#[test]
fn enter_confirms_only_the_option_that_is_shown_as_selected() {
    let (pressed, progress) = play(&[(8_000, Some(buttons("1", 1)))]);
    assert_eq!((pressed.len(), progress), (2, Step::Finished(AnswerOutcome::NotSelected(2))));
}

#[test]
fn once_is_told_from_always_by_whole_words() {
    let goose = dialog(&[
        ("Allow (Allow the tool call once)", Some(true)),
        ("Always Allow", Some(true)),
        ("Deny", Some(false)),
    ]);
    let chosen = |word: &str| choose(&goose, &label(word)).unwrap().label.as_str();
    assert_eq!(chosen("yes"), "Allow (Allow the tool call once)");
    assert_eq!((chosen("always"), chosen("no")), ("Always Allow", "Deny"));
    assert!(is_permanent("Yes, and don\u{2019}t ask again"));
}

#[test]
fn an_option_is_chosen_by_number_label_or_meaning() {
    check(OptionChoice::Number(2), Ok("2"));
    check(label("yes"), Ok("1"));
    check(label("Always"), Ok("2"));
    check(label("no"), Ok("3"));
    check(label("No, tell"), Ok("3"));
}

#[test]
fn what_fits_nothing_or_too_much_is_told_with_the_options() {
    check(OptionChoice::Number(0), Err("1 `Yes`"));
    check(OptionChoice::Number(4), Err("no such option"));
    check(label("maybe"), Err("no such option"));
    check(label("ye"), Err("several"));
}

#[test]
fn without_a_narrow_yes_none_is_made_up() {
    let asked = dialog(&[("Always allow", Some(true)), ("Reject", Some(false))]);
    assert!(choose(&asked, &label("yes")).is_err());
    assert_eq!(choose(&asked, &label("no")).unwrap().label, "Reject");
}
