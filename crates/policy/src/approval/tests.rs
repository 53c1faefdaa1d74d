//! Tests of the life of an approval, and of who may answer it.

use super::*;

const END: Time = Time(100);

/// Letters are steps, each one millisecond after the last, but `z` is long after the end: `a`llow,
/// `d`eny, caller `l`eaves, `r`esume, `w`ithdraw, `z` expire. Checks what each step returned and
/// the status at the end.
#[track_caller]
fn check(steps: &str, expect: &str, status: ApprovalStatus) {
    let mut life = ApprovalLife::awaited(Some(END));
    let mut seen = String::new();
    let mut now = Time(0);
    for step in steps.chars() {
        now = if step == 'z' { Time(1000) } else { Time(now.0 + 1) };
        seen.push(match step {
            'a' | 'd' => match life.answer(step == 'a', now) {
                Ok(()) => '+',
                Err(Unanswerable::Ended(_)) => '-',
                Err(Unanswerable::Expired) => 'x',
            },
            'l' => {
                life.caller_left();
                '.'
            }
            'r' => match life.resume(now) {
                Resumption::Wait => 'w',
                Resumption::Allowed => 'A',
                Resumption::Denied => 'D',
                Resumption::New => 'n',
            },
            'w' => {
                if life.end(ApprovalStatus::Withdrawn) {
                    '!'
                } else {
                    '.'
                }
            }
            'z' => {
                if life.expire(now).is_some() {
                    '!'
                } else {
                    '.'
                }
            }
            other => unreachable!("{other}"),
        });
    }
    assert_eq!((seen.as_str(), life.status()), (expect, status), "{steps}");
}

#[test]
fn the_first_answer_counts_and_is_used_at_once_by_a_caller_that_waits() {
    check("", "", ApprovalStatus::Open);
    check("a", "+", ApprovalStatus::Used);
    check("ad", "+-", ApprovalStatus::Used);
    check("da", "+-", ApprovalStatus::Denied);
    check("ar", "+n", ApprovalStatus::Used);
}

#[test]
fn a_caller_that_left_gets_the_answer_once_when_it_comes_back() {
    check("lar", ".+A", ApprovalStatus::Used);
    check("larr", ".+An", ApprovalStatus::Used);
    check("ldrr", ".+Dn", ApprovalStatus::Denied);
    check("lrar", ".w+n", ApprovalStatus::Used);
    check("la", ".+", ApprovalStatus::Allowed);
    check("lad", ".+-", ApprovalStatus::Allowed);
}

#[test]
fn a_second_request_does_not_take_the_place_of_one_that_waits() {
    check("r", "n", ApprovalStatus::Open);
    check("lrr", ".wn", ApprovalStatus::Open);
}

#[test]
fn nothing_comes_of_an_approval_after_its_time() {
    check("z", "!", ApprovalStatus::Expired);
    check("za", "!-", ApprovalStatus::Expired);
    check("zr", "!n", ApprovalStatus::Expired);
    check("laz", ".+!", ApprovalStatus::Expired);
    check("lazr", ".+!n", ApprovalStatus::Expired);
    check("ldz", ".+!", ApprovalStatus::Denied);
    check("az", "+.", ApprovalStatus::Used);
    check("wz", "!.", ApprovalStatus::Withdrawn);
}

#[test]
fn an_answer_after_the_time_is_late_although_no_timer_has_run() {
    let mut life = ApprovalLife::awaited(Some(END));
    assert_eq!(life.answer(true, END), Err(Unanswerable::Expired));
    assert_eq!(life.resume(END), Resumption::New);
    assert_eq!(life.deadline(), Some(END));
    let mut kept = ApprovalLife::awaited(Some(END));
    kept.caller_left();
    kept.answer(true, Time(99)).unwrap();
    assert_eq!(kept.resume(END), Resumption::New, "an allowance is not used after its time");
}

#[test]
fn an_agents_question_does_not_expire() {
    let mut life = ApprovalLife::unattended();
    assert_eq!((life.deadline(), life.expire(Time(u64::MAX))), (None, None));
    assert!(life.end(ApprovalStatus::Used) && life.has_ended());
}

fn grants(names: &str) -> Vec<GrantId> {
    names.split_whitespace().map(|name| GrantId(name.to_owned())).collect()
}

fn lineage(names: &str) -> Vec<Instance> {
    names.split('<').filter(|name| !name.is_empty()).map(|it| Instance(it.to_owned())).collect()
}

/// The asker is pane `p` with grant `gp`, started from pane `above`.
#[track_caller]
fn check_answerer(answerer: Answerer, expect: Result<(), AnswerDenial>) {
    let asker = Asker { grants: grants("gp"), pane: Some(Instance("p".into())), is_person: false };
    assert_eq!(may_answer(&asker, &answerer), expect, "{answerer:?}");
}

#[test]
fn neither_the_asker_nor_what_comes_from_it_answers() {
    let caller = |names: &str, panes: &str| Answerer {
        grants: grants(names),
        lineage: lineage(panes),
        is_whole_lineage: true,
        reaches: true,
        ..Answerer::default()
    };
    check_answerer(caller("owner", ""), Ok(()));
    check_answerer(caller("other", "above"), Ok(()));
    check_answerer(caller("gp", ""), Err(AnswerDenial::OwnRequest));
    check_answerer(caller("made gp", ""), Err(AnswerDenial::OwnRequest));
    check_answerer(caller("owner", "p<above"), Err(AnswerDenial::Descendant));
    check_answerer(caller("owner", "child<p<above"), Err(AnswerDenial::Descendant));
    check_answerer(caller("owner", "sibling<above"), Ok(()));
    let endless = Answerer { is_whole_lineage: false, ..caller("owner", "x<y") };
    check_answerer(endless, Err(AnswerDenial::Descendant));
    let narrow = Answerer { reaches: false, ..caller("other", "") };
    check_answerer(narrow, Err(AnswerDenial::Unreachable));
    let agent = Answerer { is_agent: true, ..caller("owner", "agent") };
    check_answerer(agent.clone(), Err(AnswerDenial::Agent));
    check_answerer(Answerer { pane_may_approve: true, ..agent }, Ok(()));
}

#[test]
fn a_person_confirms_an_own_request() {
    let person = Asker { grants: Vec::new(), pane: None, is_person: true };
    let owner = Answerer { reaches: true, is_whole_lineage: true, ..Answerer::default() };
    assert_eq!(may_answer(&person, &owner), Ok(()));
}
