//! Tests of the queue: which requests wait, for how long, and in which order.

use super::*;

pub(super) fn wait() -> NotShownReason {
    NotShownReason::NoMain
}

fn numbers<'a>(entries: impl IntoIterator<Item = &'a LayoutQueueEntry<LayoutRequest>>) -> String {
    let number =
        |entry: &LayoutQueueEntry<LayoutRequest>| entry.request.pane.as_str().replace("agent-", "");
    entries.into_iter().map(number).collect::<Vec<_>>().join(" ")
}

fn queue(count: usize) -> LayoutQueue<LayoutRequest> {
    let mut queue = LayoutQueue::default();
    for number in 0..count {
        queue.push(pane(number), request(number), wait(), Time(number as u64)).unwrap();
    }
    queue
}

#[test]
fn twenty_wait_and_the_next_is_told_the_limit() {
    let mut queue = queue(20);
    let full = queue.push(pane(20), request(20), NotShownReason::NoMain, Time(0)).unwrap_err();
    let refusal = Refusal::from(full);
    assert_eq!(refusal.code, Code::Limit);
    let says = "20 requests are already waiting for room, the maximum; the main pane is not in this \
        window";
    assert_eq!(refusal.sentence, says);
    // A second request for a waiting pane is not counted again.
    let reason = NotShownReason::AlreadyShown(TmuxPaneId(1));
    queue.push(pane(3), request(3), reason, Time(99)).unwrap();
    let third = queue.entries().nth(3).unwrap();
    assert_eq!(
        (third.since, &third.reason),
        (Time(3), &NotShownReason::AlreadyShown(TmuxPaneId(1)))
    );
    assert_eq!(queue.entries().len(), 20);
}

#[test]
fn waiting_ends_after_five_minutes_and_not_before() {
    let mut queue = queue(3);
    assert_eq!(queue.next_deadline(), Some(Time(300_000)));
    assert_eq!(queue.expire(Time(299_999)), []);
    assert_eq!(numbers(&queue.expire(Time(300_001))), "0 1");
    assert_eq!(queue.next_deadline(), Some(Time(300_002)));
    assert_eq!(queue.entries().next().unwrap().age(Time(1002)), Duration::from_secs(1));
    assert_eq!(numbers(&queue.remove(&pane(2))), "2");
    assert_eq!(queue.remove(&pane(2)), None);
    assert!(queue.is_empty() && queue.next_deadline().is_none());
}
