//! Who plays those programs in memory.

use paned_model::Size;
use paned_substrate::sessions::{Cat, Fake, Program, Script, Turn};

/// A fake with a cast for every program of [`super::programs`].
pub(crate) fn fake() -> Fake {
    Fake::new(|program| {
        let words: Vec<&str> = program.argv.iter().map(String::as_str).collect();
        Some(match words[..] {
            ["cat"] => Box::new(Cat::default()),
            ["sh", "-c", _, "print", lines] => says(&numbered(lines.parse().unwrap())),
            ["sh", "-c", _, "say", text] => {
                says(&text.replace("\\033", "\x1b").replace("\\n", "\r\n"))
            }
            ["sh", "-c", _, "bytes", first] => Box::new(Bytes(first.replace("\\033", "\x1b"))),
            ["sh", "-c", _, "catch"] => Box::new(Catch),
            ["sh", "-c", _, "size"] => Box::new(Sizes),
            // Nobody asks in memory.
            ["sh", "-c", _, "ask"] => says("one\r\ntwo^[[2;4R"),
            ["sh", "-c", _, "pid"] => says("0\r\n"),
            ["sh", "-c", _, "place"] => says(&placed(program)),
            _ => return None,
        })
    })
}

fn says(first: &str) -> Box<dyn Script> {
    Box::new(Says(first.to_owned(), Cat::default()))
}

fn numbered(lines: usize) -> String {
    (1..=lines).map(|number| format!("line {number}\r\n")).collect()
}

fn placed(program: &Program) -> String {
    let word = program.env.iter().find(|(name, _)| name == "WORD").map_or("", |(_, word)| word);
    format!("{word}\r\n{}\r\n", program.cwd.as_ref().unwrap().display())
}

/// Prints something, and is then [`Cat`].
struct Says(String, Cat);

impl Script for Says {
    fn start(&mut self, _: Size) -> Vec<u8> {
        self.0.clone().into_bytes()
    }

    fn typed(&mut self, bytes: &[u8], size: Size) -> Turn {
        self.1.typed(bytes, size)
    }
}

struct Bytes(String);

impl Script for Bytes {
    fn start(&mut self, _: Size) -> Vec<u8> {
        format!("{}ready\r\n", self.0).into_bytes()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> Turn {
        Turn::Print(bytes.iter().flat_map(|byte| shown(*byte).into_bytes()).collect())
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

struct Catch;

impl Script for Catch {
    fn start(&mut self, _: Size) -> Vec<u8> {
        b"ready\r\n".to_vec()
    }

    fn typed(&mut self, bytes: &[u8], _: Size) -> Turn {
        let caught = bytes.contains(&3);
        Turn::Print(if caught { b"^Ccaught\r\n".to_vec() } else { bytes.to_vec() })
    }
}

struct Sizes;

impl Script for Sizes {
    fn start(&mut self, _: Size) -> Vec<u8> {
        b"ready\r\n".to_vec()
    }

    fn typed(&mut self, bytes: &[u8], size: Size) -> Turn {
        let is_line = bytes.contains(&b'\r');
        let says = format!("\r\n{} {}\r\n", size.rows, size.cols);
        Turn::Print(if is_line { says.into_bytes() } else { bytes.to_vec() })
    }
}
