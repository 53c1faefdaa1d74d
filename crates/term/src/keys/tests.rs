//! Names in, bytes out, for the legacy keyboard and for kitty's.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::screen::view::{MouseEncoding, MouseTracking};

pub(super) const OLD: ScreenModes = ScreenModes {
    alternate_screen: false,
    bracketed_paste: false,
    application_cursor: false,
    application_keypad: false,
    focus_events: false,
    mouse: MouseTracking::Off,
    mouse_encoding: MouseEncoding::Bytes,
    kitty_keyboard: 0,
    reverse_video: false,
};

fn key(name: &str) -> Key {
    name.parse().unwrap_or_else(|error| panic!("{error}"))
}

/// The bytes of the keys, which are separated by blanks, in these modes, with `^` for ESC.
#[track_caller]
fn check_in(modes: ScreenModes, names: &str, expect: &str) {
    let bytes = names.split(' ').map(|name| key(name).encode(&modes).unwrap());
    let texts: Vec<_> = bytes.map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    assert_eq!(texts.join(" ").replace('\x1b', "^"), expect, "{names}");
}

#[track_caller]
fn check(names: &str, expect: &str) {
    check_in(OLD, names, expect);
}

/// With flags of the kitty keyboard protocol. It has no application cursor keys.
#[track_caller]
fn check_kitty(flags: u8, names: &str, expect: &str) {
    check_in(ScreenModes { kitty_keyboard: flags, ..OLD }, names, expect);
    check_in(ScreenModes { kitty_keyboard: flags, application_cursor: true, ..OLD }, names, expect);
}

/// All these are names of the first.
#[track_caller]
fn check_names(names: &str) {
    let first = names.split(' ').next().unwrap();
    for name in names.split(' ') {
        assert_eq!(key(name).to_string(), first, "{name}");
    }
}

/// None of these keys, which are separated by blanks, has bytes in these modes; with `KEY` for its
/// name.
#[track_caller]
fn check_refused(modes: ScreenModes, names: &str, expect: &str) {
    for name in names.split(' ') {
        let refused = key(name).encode(&modes).unwrap_err().to_string();
        assert_eq!(refused, expect.replace("KEY", name));
    }
}

#[track_caller]
fn check_unknown(name: &str, expect: &str) {
    assert_eq!(name.parse::<Key>().unwrap_err().to_string(), expect);
}

#[test]
fn cursor_keys_follow_their_mode_until_modified() {
    let application = ScreenModes { application_cursor: true, ..OLD };
    check("up down right left home end", "^[A ^[B ^[C ^[D ^[H ^[F");
    check_in(application, "up down right left home end", "^OA ^OB ^OC ^OD ^OH ^OF");
    let modified = "shift+up alt+down shift+alt+right ctrl+left ctrl+shift+home ctrl+alt+end";
    let expect = "^[1;2A ^[1;3B ^[1;4C ^[1;5D ^[1;6H ^[1;7F";
    check(modified, expect);
    check_in(application, modified, expect);
    check("ctrl+alt+shift+up super+up", "^[1;8A ^[1;9A");
}

#[test]
fn editing_keys_end_in_a_tilde() {
    check("insert delete pageup pagedown", "^[2~ ^[3~ ^[5~ ^[6~");
    check("shift+insert ctrl+delete alt+pgup ctrl+shift+pgdn", "^[2;2~ ^[3;5~ ^[5;3~ ^[6;6~");
}

#[test]
fn function_keys_are_those_of_xterm() {
    check("f1 f2 f3 f4", "^OP ^OQ ^OR ^OS");
    check("f5 f6 f7 f8 f9 f10 f11 f12", "^[15~ ^[17~ ^[18~ ^[19~ ^[20~ ^[21~ ^[23~ ^[24~");
    check("shift+f1 ctrl+f3 alt+f4 ctrl+f5 ctrl+f12", "^[1;2P ^[1;5R ^[1;3S ^[15;5~ ^[24;5~");
    check("f13 f16 f17 f24 ctrl+f13", "^[1;2P ^[1;2S ^[15;2~ ^[24;2~ ^[1;6P");
}

#[test]
fn characters_type_themselves() {
    check("a A ä Ä + - ^ € 日 ß", "a A ä Ä + - ^ € 日 ß");
    check("shift+a shift+ä shift+1 shift+ß", "A Ä 1 ß");
    assert_eq!(key("space").encode(&OLD).unwrap(), b" ");
    assert_eq!(key(" "), key("space"));
}

#[test]
fn ctrl_makes_control_characters() {
    check("ctrl+a Ctrl+C ctrl+Z ctrl+shift+c", "\x01 \x03 \x1a \x03");
    check("ctrl+space ctrl+@ ctrl+2 ctrl+[ ctrl+3", "\0 \0 \0 ^ ^");
    check("ctrl+\\ ctrl+4 ctrl+] ctrl+5 ctrl+^ ctrl+6", "\x1c \x1c \x1d \x1d \x1e \x1e");
    check("ctrl+_ ctrl+7 ctrl+/ ctrl+8 ctrl+?", "\x1f \x1f \x1f \x7f \x7f");
    check("ctrl+1 ctrl+0 ctrl+; ctrl++ ctrl+- ctrl+ä", "1 0 ; + - ä");
}

#[test]
fn alt_puts_an_escape_in_front() {
    check("alt+a alt+A alt+ä ctrl+alt+a alt+[", "^a ^A ^ä ^\x01 ^[");
    check("alt+enter alt+backspace alt+tab alt+esc", "^\r ^\x7f ^\t ^^");
    assert_eq!(key("alt+space").encode(&OLD).unwrap(), b"\x1b ");
}

#[test]
fn keys_with_bytes_of_their_own_keep_them() {
    check("enter tab backspace esc", "\r \t \x7f ^");
    check("ctrl+enter shift+enter ctrl+tab ctrl+esc", "\r \r \t ^");
    check("shift+tab ctrl+shift+tab alt+shift+tab", "^[Z ^[Z ^^[Z");
    check("ctrl+backspace ctrl+alt+backspace shift+backspace", "\x08 ^\x08 \x7f");
}

#[test]
fn the_super_key_never_types_text() {
    let expect = "`KEY` requires the kitty keyboard protocol, which the program has not enabled";
    let typing =
        "super+a ctrl+super+c super+enter shift+super+tab super+esc super+backspace super+kp_1";
    check_refused(OLD, typing, expect);
    check_refused(ScreenModes { kitty_keyboard: 2 | 4 | 16, ..OLD }, "super+a", expect);
    check("super+del super+up super+f1", "^[3;9~ ^[1;9A ^[1;9P");
    check_kitty(1, "cmd+c super+enter super+shift+tab super+del", "^[99;9u ^[13;9u ^[9;10u ^[3;9~");
}

const DIGITS: &str = "kp_0 kp_1 kp_2 kp_3 kp_4 kp_5 kp_6 kp_7 kp_8 kp_9";
const OPERATORS: &str =
    "kp_decimal kp_divide kp_multiply kp_minus kp_plus kp_enter kp_equal kp_separator";

#[test]
fn the_keypad_types_what_is_on_it() {
    check(DIGITS, "0 1 2 3 4 5 6 7 8 9");
    check(OPERATORS, ". / * - + \r = ,");
    check("shift+kp_1 ctrl+kp_3 alt+kp_plus ctrl+kp_enter alt+kp_enter", "1 3 ^+ \r ^\r");
}

#[test]
fn an_application_keypad_sends_sequences() {
    let application = ScreenModes { application_keypad: true, ..OLD };
    check_in(application, DIGITS, "^Op ^Oq ^Or ^Os ^Ot ^Ou ^Ov ^Ow ^Ox ^Oy");
    check_in(application, OPERATORS, "^On ^Oo ^Oj ^Om ^Ok ^OM ^OX ^Ol");
    check_in(application, "ctrl+kp_1 alt+kp_enter shift+kp_plus", "^O5q ^O3M ^O2k");
    check_in(application, "1 + enter up f1", "1 + \r ^[A ^OP");
}

#[test]
fn kitty_tells_the_keypad_apart_unless_it_types_text() {
    check_kitty(1, "kp_0 kp_plus shift+kp_1 kp_enter", "0 + 1 ^[57414u");
    check_kitty(1, "ctrl+kp_0 alt+kp_decimal ctrl+kp_enter", "^[57399;5u ^[57409;3u ^[57414;5u");
    check_kitty(8, "kp_0 kp_1 kp_9 kp_decimal", "^[57399u ^[57400u ^[57408u ^[57409u");
    check_kitty(9, "kp_divide kp_multiply kp_minus", "^[57410u ^[57411u ^[57412u");
    check_kitty(9, "kp_plus kp_enter kp_equal kp_comma", "^[57413u ^[57414u ^[57415u ^[57416u");
    check_kitty(24, "kp_1 shift+kp_1 kp_enter", "^[57400;;49u ^[57400;2;49u ^[57414u");
    let both = ScreenModes { kitty_keyboard: 9, application_keypad: true, ..OLD };
    check_in(both, "kp_1", "^[57400u");
}

#[test]
fn menu_has_a_sequence_on_every_keyboard() {
    check("menu shift+menu", "^[29~ ^[29;2~");
    check_kitty(1, "menu shift+menu", "^[57363u ^[57363;2u");
}

#[test]
fn keys_that_old_keyboards_do_not_send_are_refused() {
    check_refused(
        OLD,
        "pause printscreen ctrl+pause",
        "`KEY` requires the kitty keyboard protocol, which the program has not enabled",
    );
    check_kitty(1, "printscreen pause ctrl+pause", "^[57361u ^[57362u ^[57362;5u");
}

#[test]
fn locks_are_told_to_those_who_want_all_keys() {
    let expect = "`KEY` requires flag 8 of the kitty keyboard protocol (report all keys), which \
                 the program has not enabled";
    for kitty_keyboard in [0, 1, 7, 16] {
        let modes = ScreenModes { kitty_keyboard, ..OLD };
        check_refused(modes, "capslock numlock scrolllock shift+capslock", expect);
    }
    check_kitty(
        8,
        "capslock scrolllock numlock ctrl+numlock",
        "^[57358u ^[57359u ^[57360u ^[57360;5u",
    );
}

#[test]
fn kitty_tells_apart_what_looks_the_same() {
    check_kitty(1, "a A ä enter tab backspace", "a A ä \r \t \x7f");
    check_kitty(1, "esc ctrl+c ctrl+i ctrl+[ ctrl+space", "^[27u ^[99;5u ^[105;5u ^[91;5u ^[32;5u");
    check_kitty(1, "alt+a alt+A ctrl+shift+a Ctrl+A", "^[97;3u ^[97;4u ^[97;6u ^[97;5u");
    check_kitty(1, "shift+enter ctrl+enter shift+tab ctrl+bs", "^[13;2u ^[13;5u ^[9;2u ^[127;5u");
}

#[test]
fn kitty_writes_special_keys_in_one_form() {
    check_kitty(1, "up home ctrl+left insert ctrl+pgup", "^[A ^[H ^[1;5D ^[2~ ^[5;5~");
    check_kitty(
        1,
        "f1 f2 f3 f4 f5 f6 f10 f11 f12",
        "^[P ^[Q ^[13~ ^[S ^[15~ ^[17~ ^[21~ ^[23~ ^[24~",
    );
    check_kitty(
        1,
        "shift+f1 shift+f3 f13 f24 ctrl+f13",
        "^[1;2P ^[13;2~ ^[57376u ^[57387u ^[57376;5u",
    );
}

#[test]
fn kitty_reports_all_keys_if_asked() {
    check_kitty(8, "a A enter tab backspace esc", "^[97u ^[97;2u ^[13u ^[9u ^[127u ^[27u");
    check_kitty(9, "space ä up ctrl+c shift+tab", "^[32u ^[228u ^[A ^[99;5u ^[9;2u");
}

#[test]
fn kitty_tells_shifted_keys_and_text_if_asked() {
    check_kitty(5, "A ctrl+shift+a ctrl+a shift+enter", "A ^[97:65;6u ^[97;5u ^[13;2u");
    check_kitty(24, "a A ctrl+a enter", "^[97;;97u ^[97;2;65u ^[97;5u ^[13u");
    check_kitty(31, "a A 1 alt+A", "^[97;;97u ^[97:65;2;65u ^[49;;49u ^[97:65;4u");
}

#[test]
fn other_flags_alone_change_nothing() {
    check_in(
        ScreenModes { kitty_keyboard: 2 | 4 | 16, ..OLD },
        "esc ctrl+c f1 up",
        "^ \x03 ^OP ^[A",
    );
}

#[test]
fn names_are_read_in_every_spelling() {
    check_names("ctrl+c C-c c-c ^C ^c Ctrl+C control+c CTRL-C <C-c> <ctrl+c>");
    check_names("+ plus");
    check_names("ctrl+- C-minus ctrl+minus");
    check_names("< lt <lt> <");
    check_names("enter Return <CR>");
    check_names("kp_enter KP_Enter KPEnter kp-enter <KP_Enter>");
    check_names("kp_0 KP0 kp0 KP_0");
    check_names("kp_plus kp_add KP_Add KP+ kp_+");
    check_names("kp_minus kp_subtract KP_Subtract KP-");
    check_names("ctrl+kp_minus C-KP- ctrl+KP_Subtract");
    check_names("kp_multiply KP*");
    check_names("kp_divide KP/");
    check_names("kp_decimal KP. kp_period");
    check_names("printscreen print Print_Screen PrtSc");
    check_names("capslock Caps_Lock CapsLock");
    check_names("scrolllock Scroll_Lock scroll-lock");
    check_names("menu ContextMenu");
    check_names("pagedown next pgdn PgDn");
    check_names("ctrl+alt+x C-M-x M-C-x opt+ctrl+x Meta-Ctrl-X");
    check_names("shift+tab S-Tab BTab backtab shift+btab");
    check_names("alt+enter M-Enter meta+return option+CR A-enter");
    check_names("super+k cmd+k Command-K win+k");
    check_names("backspace BSpace BS Backspace");
    check_names("delete del DC Delete");
    check_names("insert ins IC");
    check_names("pageup pgup PPage PageUp page-up PAGE_UP Prior");
    check_names("pagedown pgdown PgDn NPage Page-Down");
    check_names("esc escape Escape ESC");
    check_names("ctrl+space C-Space ^space");
    check_names("ctrl++ C-+ control-+");
    check_names("ctrl+- C-- ^-");
    check_names("shift+a A S-a shift+A");
    check_names("up Up arrowup ArrowUp uparrow");
}

#[test]
fn an_unknown_name_gets_the_nearest_ones() {
    check_unknown("entre", "unknown key `entre`; did you mean `enter`?");
    check_unknown("ctrl+bakspace", "unknown key `bakspace`; did you mean `backspace` or `bspace`?");
    check_unknown("pgeup", "unknown key `pgeup`; did you mean `pageup` or `pgup`?");
    check_unknown("kp_entr", "unknown key `kp_entr`; did you mean `kp_enter`?");
    check_unknown("crtl+c", "unknown modifier `crtl`; did you mean `ctrl`?");
}

#[test]
fn a_name_far_from_all_gets_examples() {
    let such = "a key is one character or a name such as `enter`, `up` or `f1`";
    check_unknown("", &format!("unknown key ``; {such}"));
    check_unknown("ls -l | wc", &format!("unknown key `ls -l | wc`; {such}"));
    check_unknown("\\n", "unknown key `\\n`; did you mean `enter`?");
    check_unknown("\n", "unknown key `\\n`; did you mean `enter`?");
    check_unknown("\\e", "unknown key `\\e`; did you mean `esc`?");
    check_unknown("\x03", &format!("unknown key `\\u{{3}}`; {such}"));
    check_unknown("f25", "unknown key `f25`; did you mean `f2` or `f5` or `f15`?");
    let long = "x".repeat(1 << 20);
    check_unknown(&long, &format!("unknown key `{}…`; {such}", &long[..32]));
}

/// Bytes, or a sentence; always bytes if the program asked for all keys.
fn is_answered(key: Key, modes: &ScreenModes) -> bool {
    match key.encode(modes) {
        Ok(bytes) => !bytes.is_empty() && String::from_utf8(bytes).is_ok(),
        Err(refused) => modes.kitty_keyboard & 8 == 0 && !refused.to_string().is_empty(),
    }
}

#[test]
fn every_name_is_a_key_in_every_mode() {
    for name in names() {
        assert_eq!(key(name).to_string(), name);
        for kitty_keyboard in 0..32 {
            for application in [false, true] {
                let (application_cursor, application_keypad) = (application, application);
                let modes =
                    ScreenModes { kitty_keyboard, application_cursor, application_keypad, ..OLD };
                assert!(is_answered(key(name), &modes), "{name} in {modes:?}");
            }
        }
    }
}

/// A key by its whole name, modifiers in any number and order.
fn any_name() -> impl Strategy<Value = String> {
    let modifiers = vec!["ctrl+", "C-", "alt+", "M-", "shift+", "S-", "super+", "cmd-"];
    let named = select(names().map(str::to_owned).collect::<Vec<_>>());
    let typed = any::<char>().prop_filter("a key types text", |c| !c.is_control());
    let code = prop_oneof![named, typed.prop_map(String::from)];
    let modifiers = prop::collection::vec(select(modifiers), 0..5);
    (modifiers, code).prop_map(|(modifiers, code)| modifiers.concat() + &code)
}

proptest! {
    #[test]
    fn a_key_is_read_back_from_its_name(name in any_name()) {
        let key = key(&name);
        prop_assert_eq!(key.to_string().parse(), Ok(key));
    }

    #[test]
    fn every_key_has_bytes_or_a_sentence_in_every_mode(
        name in any_name(),
        kitty_keyboard: u8,
        application_cursor: bool,
        application_keypad: bool,
    ) {
        let modes = ScreenModes { kitty_keyboard, application_cursor, application_keypad, ..OLD };
        prop_assert!(is_answered(key(&name), &modes));
    }

    #[test]
    fn noise_is_a_key_or_a_sentence(name: String) {
        match name.parse::<Key>() {
            Ok(key) => prop_assert_eq!(key.to_string().parse(), Ok(key)),
            Err(error) => prop_assert!(!error.to_string().contains(char::is_control)),
        }
    }
}
