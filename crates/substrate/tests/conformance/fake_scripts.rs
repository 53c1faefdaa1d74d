//! Scripts that simulate those programs in memory.

use paned_model::Size;
use paned_substrate::{Cat, FakeSubstrate, Program, Script, ScriptStep};

/// A fake with a script for every program of [`super::programs`].
pub(crate) fn fake() -> FakeSubstrate {
    FakeSubstrate::new(|program| {
        let words: Vec<&str> = program.argv.iter().map(String::as_str).collect();
        Some(match words[..] {
            ["cat"] => Box::new(Cat::default()),
            ["sh", "-c", _, "print", lines] => says(&numbered(lines.parse().unwrap())),
            ["sh", "-c", _, "say", text] => {
                says(&text.replace("\\033", "\x1b").replace("\\n", "\r\n"))
            }
            ["sh", "-c", _, "bytes", first] => Box::new(ShowBytes(first.replace("\\033", "\x1b"))),
            ["sh", "-c", _, "catch"] => Box::new(CatchInterrupt),
            ["sh", "-c", _, "size"] => Box::new(ReportSize),
            // In memory the program sends no query.
            ["sh", "-c", _, "ask"] => says("one\r\ntwo^[[2;4R"),
            ["sh", "-c", _, "pid"] => says("0\r\n"),
            ["sh", "-c", _, "place"] => says(&placed(program)),
            _ => return None,
        })
    })
}

fn says(first: &str) -> Box<dyn Script> {
    Box::new(PrintThenCat(first.to_owned(), Cat::default()))
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("line {number}\r\n")).collect()
}

fn placed(program: &Program) -> String {
    let word = program.env.iter().find(|(name, _)| name == "WORD").map_or("", |(_, word)| word);
    format!("{word}\r\n{}\r\n", program.cwd.as_ref().unwrap().display())
}

/// Prints something, then acts as [`Cat`].
struct PrintThenCat(String, Cat);

impl Script for PrintThenCat {
    fn start(&mut self, _: Size) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn typed(&mut self, bytes: &[u8], size: Size) -> ScriptStep {
        self.1.typed(bytes, size)
    }
}

struct ShowBytes(String);

impl Script for ShowBytes {
    fn start(&mut self, _: Size) -> Vec<u8> {
        format!("{}ready\r\n", self.0).into_bytes()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> ScriptStep {
        ScriptStep::Print(bytes.iter().flat_map(|byte| shown(*byte).into_bytes()).collect())
    }
}

fn shown(byte: u8) -> String {
    match byte {
        b'\n' => "$\r\n".to_owned(),
        0x7f => "^?".to_owned(),
        ..0x20 => format!("^{}", char::from(byte + 0x40)),
        0x80.. => format!("M-{}", shown(byte - 0x80)),
        byte => char::from(byte).to_string(),
    }
}

struct CatchInterrupt;

impl Script for CatchInterrupt {
    fn start(&mut self, _: Size) -> Vec<u8> {
        b"ready\r\n".to_vec()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> ScriptStep {
        let caught = bytes.contains(&3);
        ScriptStep::Print(if caught { b"^Ccaught\r\n".to_vec() } else { bytes.to_vec() })
    }
}

struct ReportSize;

impl Script for ReportSize {
    fn start(&mut self, _: Size) -> Vec<u8> {
        b"ready\r\n".to_vec()
    }

    fn typed(&mut self, bytes: &[u8], size: Size) -> ScriptStep {
        let is_line = bytes.contains(&b'\r');
        let says = format!("\r\n{} {}\r\n", size.rows, size.cols);
        ScriptStep::Print(if is_line { says.into_bytes() } else { bytes.to_vec() })
    }
}
