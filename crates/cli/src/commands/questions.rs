//! Questions that a program asks its terminal, taken out of what a terminal is shown. Pure.
//!
//! Each terminal that is shown a question answers it, and every answer comes to the program, or to the shell after it,
//! as if it were typed. One is to answer: the server, while it is there, as it does when nobody looks on. What asks
//! for more than the terminal itself (the clipboard, the title, what is on the screen) is never shown to anybody's.

mod verdict;

use memchr::memchr3;

use verdict::{Kind, Verdict};

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
/// A control that asks by itself for what its owner has the terminal answer.
const ENQ: u8 = 0x05;
/// What the controls of eight bits begin with as UTF-8; some terminals know them so.
const WIDE: u8 = 0xc2;
/// The longest sequence that is held until it is whole. The beginning of a longer one says what it is.
const LONGEST: usize = 4096;

/// Who answers what a program asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answers {
    /// The terminal that is shown the bytes, where that harms nobody.
    Terminal,
    /// Somebody else.
    Elsewhere,
}

/// Takes questions out of a stream. How it is cut never matters.
#[derive(Debug, Default)]
pub(super) struct Questions {
    state: State,
    /// The sequence whose end has not come, from its ESC on.
    held: Vec<u8>,
}

/// Where in the grammar the next byte stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After what may begin a control of eight bits.
    Wide,
    /// After ESC and any intermediate bytes.
    Escape,
    Csi,
    String(Kind),
    /// After an ESC inside a string.
    StringEscape(Kind),
    /// Inside a string that is too long to be held, and whether it is shown.
    Long(Kind, bool),
}

impl Questions {
    /// What is left of these bytes, with what was held before them.
    pub(super) fn take_out(&mut self, bytes: &[u8], answers: Answers) -> Vec<u8> {
        let (mut left, mut rest) = (Vec::with_capacity(bytes.len()), bytes);
        while let Some((&byte, after)) = rest.split_first() {
            if self.state == State::Text {
                let text = memchr3(ESC, ENQ, WIDE, rest).unwrap_or(rest.len());
                left.extend(&rest[..text]);
                rest = &rest[text..];
                if let Some((&byte, after)) = rest.split_first() {
                    self.begin(byte);
                    rest = after;
                }
                continue;
            }
            rest = after;
            if byte != ENQ {
                self.sequence(byte, answers, &mut left);
            }
        }
        left
    }

    /// A byte that ends text.
    fn begin(&mut self, byte: u8) {
        self.state = match byte {
            ESC => State::Escape,
            WIDE => State::Wide,
            _ => return,
        };
        self.held.push(byte);
    }

    /// The next byte of a sequence.
    fn sequence(&mut self, byte: u8, answers: Answers, left: &mut Vec<u8>) {
        match (self.state, byte) {
            (State::StringEscape(_), b'\\') => {
                self.held.push(byte);
                self.end(answers, left);
            }
            // One that is meant for a terminal behind this one writes each ESC twice.
            (State::StringEscape(kind), ESC) if verdict::is_passed_through(&self.held) => {
                self.state = State::String(kind);
            }
            (State::StringEscape(_), _) => {
                self.held.pop();
                self.end(answers, left);
                self.begin(ESC);
                self.sequence(byte, answers, left);
            }
            (State::String(kind), ESC) => {
                self.held.push(byte);
                self.state = State::StringEscape(kind);
            }
            (State::Long(kind, is_shown), _) => self.long(kind, is_shown, byte, left),
            (_, ESC) => {
                self.end(answers, left);
                self.begin(ESC);
            }
            (State::Wide, _) => self.wide(byte, answers, left),
            (_, CAN | SUB) | (State::String(Kind::Osc), BEL) => {
                self.held.push(byte);
                self.end(answers, left);
            }
            // Other controls do at once what they do in text, and the sequence goes on.
            (State::Escape | State::Csi, 0..0x20) => left.push(byte),
            (State::Escape, _) => self.escape(byte, answers, left),
            (State::Csi, 0x40..=0x7e) => {
                self.held.push(byte);
                self.end(answers, left);
            }
            (State::Csi | State::String(_) | State::Text, _) => self.hold(byte, answers, left),
        }
    }

    fn escape(&mut self, byte: u8, answers: Answers, left: &mut Vec<u8>) {
        self.held.push(byte);
        self.state = match (self.held.len(), byte) {
            (2, b'[') => State::Csi,
            (2, b']') => State::String(Kind::Osc),
            (2, b'P' | b'X' | b'^' | b'_') => State::String(Kind::Other),
            (..=LONGEST, 0x20..=0x2f | 0x7f) => State::Escape,
            _ => return self.end(answers, left),
        };
    }

    /// What follows the first byte of a control of eight bits: nearly always it is a letter.
    fn wide(&mut self, byte: u8, answers: Answers, left: &mut Vec<u8>) {
        match byte {
            0x80..=0x9f => {
                self.held = vec![ESC];
                self.escape(byte - 0x40, answers, left);
            }
            WIDE => left.push(WIDE),
            _ => {
                left.push(WIDE);
                left.push(byte);
                self.rest();
            }
        }
    }

    /// One more byte of a sequence that goes on.
    fn hold(&mut self, byte: u8, answers: Answers, left: &mut Vec<u8>) {
        self.held.push(byte);
        if self.held.len() < LONGEST {
            return;
        }
        let State::String(kind) = self.state else { return self.end(answers, left) };
        let is_shown = self.show(verdict::of_beginning(&self.held), answers, left);
        self.rest();
        self.state = State::Long(kind, is_shown);
    }

    fn long(&mut self, kind: Kind, is_shown: bool, byte: u8, left: &mut Vec<u8>) {
        let is_over = matches!(byte, CAN | SUB) || kind == Kind::Osc && byte == BEL;
        if byte == ESC {
            // Whether a `\` or another sequence follows, this one is over.
            self.rest();
            return self.begin(ESC);
        }
        if is_shown {
            left.push(byte);
        }
        if is_over {
            self.rest();
        }
    }

    /// A sequence is over: whole, or cut off.
    fn end(&mut self, answers: Answers, left: &mut Vec<u8>) {
        self.show(verdict::of(&self.held), answers, left);
        self.rest();
    }

    fn show(&self, verdict: Verdict, answers: Answers, left: &mut Vec<u8>) -> bool {
        let is_shown = match verdict {
            Verdict::Harmless => true,
            Verdict::Question | Verdict::Graphics => answers == Answers::Terminal,
            Verdict::Never => false,
        };
        if is_shown {
            left.extend(&self.held);
        } else if verdict == Verdict::Graphics {
            left.extend(verdict::without_answer(&self.held));
        }
        is_shown || verdict == Verdict::Graphics
    }

    fn rest(&mut self) {
        self.held.clear();
        self.state = State::Text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(printed: &str, answers: Answers, shown: &str) {
        for size in 1..=printed.len().min(40) {
            let mut questions = Questions::default();
            let pieces = printed.as_bytes().chunks(size);
            let left: Vec<u8> =
                pieces.flat_map(|piece| questions.take_out(piece, answers)).collect();
            assert_eq!(String::from_utf8_lossy(&left), shown, "{printed:?} in pieces of {size}");
        }
    }

    /// Questions about the terminal itself.
    const QUESTIONS: &[&str] = &[
        "\x1b[c",
        "\x1b[0c",
        "\x1b[>c",
        "\x1b[=c",
        "\x1bZ",
        "\x1b[>q",
        "\x1b[>0q",
        "\x1b[5n",
        "\x1b[6n",
        "\x1b[?6n",
        "\x1b[?15n",
        "\x1b[?996n",
        "\x1b[x",
        "\x1b[1x",
        "\x1b[11t",
        "\x1b[13t",
        "\x1b[13;2t",
        "\x1b[14t",
        "\x1b[15t",
        "\x1b[16t",
        "\x1b[18t",
        "\x1b[19t",
        "\x1b[4$p",
        "\x1b[?2026$p",
        "\x1b[?u",
        "\x1b[1$w",
        "\x1b[2$w",
        "\x1b[1$u",
        "\x1b[&u",
        "\x1b[?4m",
        "\x1b[?1;1;0S",
        "\x1b[#R",
        "\x1b[#|",
        "\x1b[\"v",
        "\x1b['|",
        "\x1bP$qm\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1bP+Q\x1b\\",
        "\x1b]4;1;?\x07",
        "\x1b]4;1;red;2;?\x07",
        "\x1b]10;?\x1b\\",
        "\x1b]11;?\x07",
        "\x1b]12;?\x07",
        "\x1b]010;?\x07",
        "\x1b]50;?\x07",
        "\x1b]60\x07",
        "\x1b]22;?__current__\x1b\\",
        "\x1b]21;foreground=?\x07",
        "\x1b]99;i=1:p=?;\x1b\\",
        "\x1b]7770;?\x07",
        "\x1b]1337;ReportCellSize\x07",
        "\x1b]1337;RequestCapabilities\x07",
        "\x1b]11;?\x1b[m",
        "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\",
    ];
    /// Questions about what is none of a program's business, and what would do as much.
    const NEVER: &[&str] = &[
        "\x05",
        "\x1b[20t",
        "\x1b[21t",
        "\x1b[021t",
        "\x1b[1;1;1;1;1;1*y",
        "\x1b[5i",
        "\x1b[1*z",
        "\x1b]52;c;?\x07",
        "\x1b]52;c;aGVsbG8=\x07",
        "\x1b]052;;?\x1b\\",
        "\x1b]5522;type=read\x1b\\",
        "\x1b]5113;ac=send\x1b\\",
        "\x1b]1337;RequestUpload=format=tgz\x07",
        "\x1b]1337;ReportVariable=cGF0aA==\x07",
        "\x1b]1337;CopyToClipboard=\x07",
        "\x1b]1337;Copy=:aGVsbG8=\x07",
        "\x1bP@kitty-cmd{}\x1b\\",
        "\x1bP1000p\x1b\\",
        "\x1bPtmux;\x1b\x1b[6n\x1b\\",
    ];

    #[test]
    fn questions_are_taken_out_where_somebody_else_answers() {
        for question in QUESTIONS {
            let left = if question.ends_with("\x1b[m") { "ab\x1b[m" } else { "ab" };
            check(&format!("ab{question}"), Answers::Elsewhere, left);
            check(&format!("ab{question}"), Answers::Terminal, &format!("ab{question}"));
        }
        check("a\x1b[cb\x1b[6nc\x1b[>c\x1b[5nd", Answers::Elsewhere, "abcd");
        check("\x1b[18t\x1b[1;1H", Answers::Elsewhere, "\x1b[1;1H");
    }

    #[test]
    fn what_is_none_of_a_programs_business_is_never_asked() {
        for question in NEVER {
            for answers in [Answers::Elsewhere, Answers::Terminal] {
                check(&format!("a{question}b"), answers, "ab");
            }
        }
        let long = format!("a\x1b]52;c;{}\x07b", "A".repeat(10_000));
        check(&long, Answers::Terminal, "ab");
    }

    #[test]
    fn a_question_is_known_however_it_is_written() {
        check("a\x1b[\x076n", Answers::Elsewhere, "a\x07");
        check("a\x1b[\x056nb\x1b]0;t\x05\x07", Answers::Elsewhere, "ab\x1b]0;t\x07");
        check("a\u{9b}6nb\u{9d}52;c;?\x07c\u{9a}", Answers::Elsewhere, "abc");
        check("a\x1b[3\x1b[6nb\x1b]0;x\x1b[6nc", Answers::Elsewhere, "a\x1b[3b\x1b]0;xc");
        let long = format!("a\x1b]4;{}1;?\x07b", "1;red;".repeat(1000));
        check(&long, Answers::Elsewhere, "ab");
    }

    #[test]
    fn a_picture_is_shown_and_says_nothing_of_it() {
        let answered = "\x1b_Ga=T,i=3,q=1,f=100;AAAA\x1b\\";
        check(answered, Answers::Elsewhere, "\x1b_Gq=2,a=T,i=3,f=100;AAAA\x1b\\");
        check(answered, Answers::Terminal, answered);
        let rest = "A".repeat(10_000);
        let long = format!("\x1b_Ga=T,i=3;{rest}\x1b\\end");
        check(&long, Answers::Elsewhere, &format!("\x1b_Gq=2,a=T,i=3;{rest}\x1b\\end"));
    }

    #[test]
    fn everything_else_stays() {
        let long = format!("\x1b]1337;File=inline=1:{}\x07end", "A".repeat(10_000));
        for text in [
            "plain ünïcödé « » \r\n\x07",
            "\x1b[31mred\x1b[0m\x1b[2J\x1b[?1049h\x1b[>1u\x1b[<1u\x1b[4 q\x1b[>4;2m\x1b[?1h\x1b[1;5r",
            "\x1b]0;title;?\x07\x1b]8;;http://x?a=?\x1b\\link\x1b]8;;\x1b\\\x1b]2;what?\x07\x1b]9;done;?\x07",
            "\x1bPq#0;2;0;0;0\x1b\\\x1b(B\x1b7\x1b8\x1bc\x1b[22;2t\x1b[23;2t\x1b[s\x1b[u\x1b[!p",
            "\x1b[3\x1b[4m\x1b[\x18x\x1b]0;cut\x1b[5mz\x1b]11;#400000\x07\x1b]4;1;red\x07\x1b]7;file://h/x\x07",
            "\x1b]133;A\x07\x1b]1337;SetMark\x07\x1b[2S\x1b[3T\x1b[1\"q\x1b[5W\x1b[?1c",
            &long,
        ] {
            check(text, Answers::Elsewhere, text);
            check(text, Answers::Terminal, text);
        }
    }
}
