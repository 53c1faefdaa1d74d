//! Tests of `decode`.

use proptest::collection::vec;
use proptest::prelude::*;

use super::super::ids::{TmuxPane, WindowId};
use super::super::notice::WindowScope;
use super::*;

fn reply(number: u64, lines: &[&str]) -> Item {
    let lines = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
    let header = ReplyHeader { time: 7, number, flags: 1 };
    Item::Reply(TmuxReply { header, lines, ok: true, cut: false })
}

#[track_caller]
fn check(stream: &str, expect: &[Item]) {
    assert_eq!(TmuxDecoder::default().feed(stream.as_bytes()), expect, "{stream}");
}

#[test]
fn replies_and_notices_take_turns() {
    let stream = "%begin 7 1 1\na\n\nb\n%end 7 1 1\n%window-add @1\n%begin 7 2 1\n%end 7 2 1\n";
    let notice = Item::Notice(Notice::WindowAdded(WindowId(1), WindowScope::Attached));
    check(stream, &[reply(1, &["a", "", "b"]), notice, reply(2, &[])]);
}

#[test]
fn an_error_says_so() {
    let items = TmuxDecoder::default().feed(b"%begin 7 1 1\nno such thing\n%error 7 1 1\n");
    assert!(matches!(&items[..], [Item::Reply(TmuxReply { ok: false, .. })]), "{items:?}");
}

#[test]
fn a_forged_ending_ends_nothing() {
    let forged = ["%end", "%end 7 1 0", "%end 7 2 1", "%error 8 1 1", "%end 7 1 1 ", "%end 7 01"];
    for forged in forged.into_iter().chain(["%end  7 1 1", " %end 7 1 1", "%begin 7 1 1"]) {
        let stream = format!("%begin 7 1 1\n{forged}\n%end 7 1 1\n");
        check(&stream, &[reply(1, &[forged])]);
    }
}

#[test]
fn a_reply_of_known_length_cannot_be_forged() {
    let mut decoder = TmuxDecoder::default();
    decoder.expect_lines(2);
    // Of a hook, not of ours: it has a length of its own.
    let hook = decoder.feed(b"%begin 7 1 0\n%end 7 1 0\n");
    assert_eq!(hook.len(), 1);
    let items = decoder.feed(b"%begin 7 1 1\n%end 7 1 1\nb\n%end 7 1 1\n");
    assert_eq!(items, [reply(1, &["%end 7 1 1", "b"])]);
    decoder.expect_lines(2);
    let items = decoder.feed(b"%begin 7 1 1\nno such pane\n%error 7 1 1\n");
    assert!(matches!(&items[..], [Item::Reply(TmuxReply { ok: false, .. })]), "{items:?}");
    // And the one after it is read as ever.
    assert_eq!(decoder.feed(b"%begin 7 2 1\n%end 7 2 1\n"), [reply(2, &[])]);
}

#[test]
fn what_is_left_of_a_forged_reply_is_seen() {
    let stream = "%begin 7 1 1\n%end 7 1 1\nrest\n%end 7 1 1\n";
    let strays = ["rest", "%end 7 1 1"].map(|line| Item::Stray(line.as_bytes().to_vec()));
    check(stream, &[reply(1, &[]), strays[0].clone(), strays[1].clone()]);
}

#[test]
fn a_line_without_end_is_bounded() {
    let mut decoder = TmuxDecoder::with_longest(12);
    assert_eq!(decoder.feed(b"%begin 7 1 1\n"), []);
    for _ in 0..1000 {
        assert_eq!(decoder.feed(&[b'x'; 100]), []);
        assert!(decoder.bytes.len() <= 13, "{}", decoder.bytes.len());
    }
    let items = decoder.feed(b"\nyy\n%end 7 1 1\n");
    let [Item::Reply(reply)] = &items[..] else { panic!("{items:?}") };
    assert_eq!(reply.lines, [b"xxxxxxxxxxxx".to_vec(), b"yy".to_vec()]);
    assert!(reply.cut);
}

#[test]
fn a_line_that_was_cut_ends_nothing() {
    let mut decoder = TmuxDecoder::with_longest(12);
    assert_eq!(decoder.feed(b"%begin 7 1 1\n%error 7 1 1 and more\n"), []);
    assert_eq!(decoder.feed(b"%end 7 1 1\n").len(), 1);
}

/// Writes an item as tmux would.
fn encode(item: &Item, out: &mut Vec<u8>) {
    match item {
        Item::Reply(TmuxReply {
            header: ReplyHeader { time, number, flags }, lines, ok, ..
        }) => {
            out.extend(format!("%begin {time} {number} {flags}\n").bytes());
            for line in lines {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
            let end = if *ok { "%end" } else { "%error" };
            out.extend(format!("{end} {time} {number} {flags}\n").bytes());
        }
        Item::Notice(Notice::Output { pane, data, age }) => {
            match age {
                Some(age) => out.extend(format!("%extended-output {pane} {age} : ").bytes()),
                None => out.extend(format!("%output {pane} ").bytes()),
            }
            for byte in data {
                match byte {
                    b' '..=b'[' | b']'..=b'~' => out.push(*byte),
                    _ => out.extend(format!("\\{byte:03o}").bytes()),
                }
            }
            out.push(b'\n');
        }
        other => panic!("not written here: {other:?}"),
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let any = vec(any::<u8>().prop_filter("no end of line", |byte| *byte != b'\n'), 0..40);
    let near = "%(begin|end|error) [0-9] [0-9] [01]".prop_map(String::into_bytes);
    prop_oneof![any, near]
}

fn item() -> impl Strategy<Value = Item> {
    let reply = (10..99u64, 10..99u64, 0..2u64, vec(line(), 0..8), any::<bool>());
    let reply = reply.prop_map(|(time, number, flags, lines, ok)| {
        let header = ReplyHeader { time, number, flags };
        Item::Reply(TmuxReply { header, lines, ok, cut: false })
    });
    let output = (any::<u32>(), vec(any::<u8>(), 0..40), any::<Option<u64>>());
    let output = output.prop_map(|(pane, data, age)| {
        Item::Notice(Notice::Output { pane: TmuxPane(pane), data, age })
    });
    prop_oneof![reply, output]
}

/// Lines that look like the protocol, and lines that do not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let protocol =
        "(%(begin|end|error) [0-9]{1,2} [0-9] [01]\n|%[a-z-]{1,12} [%@$][0-9] ?[a-z\\\\0-9]*\n)";
    let lines = prop_oneof![
        protocol.prop_map(String::into_bytes),
        line().prop_map(|mut line| {
            line.push(b'\n');
            line
        }),
        vec(any::<u8>(), 0..100),
    ];
    vec(lines, 0..20).prop_map(|lines| lines.concat())
}

proptest! {
    #[test]
    fn what_is_written_is_read(items in vec(item(), 0..10)) {
        let mut bytes = Vec::new();
        items.iter().for_each(|item| encode(item, &mut bytes));
        prop_assert_eq!(TmuxDecoder::default().feed(&bytes), items);
    }

    #[test]
    fn cutting_it_differently_changes_nothing(
        bytes in stream(), cuts in vec(any::<prop::sample::Index>(), 0..12), longest in 0..80usize,
    ) {
        let whole = TmuxDecoder::with_longest(longest).feed(&bytes);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        let (mut decoder, mut items, mut from) = (TmuxDecoder::with_longest(longest), Vec::new(), 0);
        for to in cuts.into_iter().chain([bytes.len()]) {
            items.extend(decoder.feed(&bytes[from..to]));
            from = to;
        }
        prop_assert_eq!(items, whole);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..500)) {
        fuzz(&bytes);
    }
}
