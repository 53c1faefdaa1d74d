//! Output of every kind, for the properties.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// One operation on a screen.
#[derive(Clone, Debug)]
pub(super) enum ScreenInput {
    Print(String),
    Resize(Size),
}

pub(super) fn step() -> impl Strategy<Value = ScreenInput> {
    prop_oneof![18 => print(), 1 => size().prop_map(ScreenInput::Resize)]
}

pub(super) fn print() -> impl Strategy<Value = ScreenInput> {
    prop_oneof![text(), sequence()].prop_map(ScreenInput::Print)
}

pub(in crate::screen) fn size() -> impl Strategy<Value = Size> {
    (2..13u16, 1..7u16).prop_map(|(cols, rows)| Size { cols, rows })
}

pub(in crate::screen) fn text() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "a", "bc", "défgh", "日", "本語", "🦀", "e\u{301}", "\u{308}", " ", "\t", "q", "~",
    ]);
    let control =
        select(vec!["\r\n", "\n", "\r", "\x08", "\x0e", "\x0f", "\x1bM", "\x1bD", "\x1bE"]);
    let piece = prop_oneof![4 => piece, 1 => control];
    proptest::collection::vec(piece, 1..8).prop_map(|pieces| pieces.concat())
}

pub(in crate::screen) fn sequence() -> impl Strategy<Value = String> {
    let number = prop_oneof![6 => 0..9u16, 1 => Just(99u16)];
    let pair = (number.clone(), number.clone(), select(vec!['H', 'r']));
    let single = (number, select("ABCDEFGIJKLMPSTXZ@dg`".chars().collect::<Vec<_>>()));
    let modes =
        vec![1, 3, 5, 6, 7, 12, 25, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1042, 1049, 2004];
    let private = (select(modes), select(vec!['h', 'l']));
    prop_oneof![
        4 => pair.prop_map(|(a, b, last)| format!("\x1b[{a};{b}{last}")),
        8 => single.prop_map(|(count, last)| format!("\x1b[{count}{last}")),
        3 => private.prop_map(|(mode, last)| format!("\x1b[?{mode}{last}")),
        4 => select(LOOKS.to_vec()).prop_map(str::to_owned),
        2 => select(OTHERS.to_vec()).prop_map(str::to_owned),
    ]
}

const LOOKS: [&str; 12] = [
    "\x1b[m",
    "\x1b[1;31m",
    "\x1b[2;3;4m",
    "\x1b[4:3;58;5;9m",
    "\x1b[7;92;103m",
    "\x1b[38;5;200;48;5;17m",
    "\x1b[38;2;1;2;3m",
    "\x1b[48;2;9;8;7m",
    "\x1b[8;9m",
    "\x1b[22;24m",
    "\x1b]8;;http://a/;b\x07",
    "\x1b]8;;\x07",
];

const OTHERS: [&str; 22] = [
    "\x1b7",
    "\x1b8",
    "\x1b[s",
    "\x1b[u",
    "\x1bc",
    "\x1b#8",
    "\x1b(0",
    "\x1b(B",
    "\x1b)0",
    "\x1b=",
    "\x1b>",
    "\x1b[4h",
    "\x1b[4l",
    "\x1b[20h",
    "\x1bH",
    "\x1b[>5u",
    "\x1b[<u",
    "\x1b[=3;2u",
    "\x1b[3 q",
    "\x1b]2;né\x1b\\",
    "\x1b[22t",
    "\x1b]4;5;#010203\x07",
];

pub(super) fn run(screen: &mut Screen, steps: &[ScreenInput]) {
    for step in steps {
        match step {
            ScreenInput::Print(text) => screen.feed(text.as_bytes()),
            ScreenInput::Resize(size) => screen.resize(*size),
        }
    }
}

/// Sequences that set the state of a screen besides its content.
pub(super) fn setting() -> impl Strategy<Value = String> {
    select(vec![
        "\x1b)0",
        "\x1b(0",
        "\x1b(B",
        "\x1b)B",
        "\x1b7",
        "\x1b8",
        "\x1b[s",
        "\x1b[u",
        "\x1b[4 q",
        "\x1b[0 q",
        "\x1b[22t",
        "\x1b[23t",
        "\x1b]2;x\x07",
        "\x1b]0;y\x1b\\",
        "\x1bc",
        "\x1b[r",
        "\x1b[2;3r",
        "\x1b[0;7m",
    ])
    .prop_map(str::to_owned)
}

pub(super) fn sync() -> impl Strategy<Value = String> {
    select(vec!["\x1b[?2026h", "\x1b[?25;2026h", "\x1b[?2026l", "\x1b[6n"]).prop_map(str::to_owned)
}
