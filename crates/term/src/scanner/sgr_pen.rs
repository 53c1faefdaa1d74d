//! The look that the next character gets, as SGR has set it. Colours change more often than anything else that is looked
//! at here, so this is numbers only.

/// More parameters than this in one sequence are not read.
const MAX_PARAMS: usize = 16;

/// What SGR has set and not taken off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SgrPen {
    /// The bit of each of [`STYLES`] that is set.
    styles: u16,
    /// Which kind of line is below, as `4:kind` numbers them.
    underline: u8,
    /// Of the text, behind it, and of the line below.
    colours: [SgrColour; 3],
}

/// The parameters that set a style; blinking fast is blinking.
const STYLES: [u8; 7] = [1, 2, 3, 5, 7, 8, 9];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SgrColour {
    #[default]
    None,
    /// One that has a parameter of its own.
    Named(u8),
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The parameters of one sequence.
struct Params {
    numbers: [u16; MAX_PARAMS],
    /// A bit for each that belongs to the one before it.
    joined: u32,
    count: usize,
}

impl SgrPen {
    /// What stands between `CSI` and `m`. Sequences of other meanings, which have other bytes there, are left alone.
    #[inline]
    pub(super) fn apply(&mut self, params: &[u8]) {
        if let [b'<'..=b'?', ..] | [.., b' '..=b'/'] = params {
            return;
        }
        let (mut from, mut number) = (0, 0_u8);
        for (at, &byte) in params.iter().enumerate() {
            match byte {
                b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(byte - b'0'),
                b';' if !matches!(number, 38 | 48 | 58) => {
                    self.set(number);
                    (from, number) = (at + 1, 0);
                }
                _ => return self.apply_all(&params[from..]),
            }
        }
        self.set(number);
    }

    /// The same for colours that take more than one parameter, and what is joined.
    fn apply_all(&mut self, params: &[u8]) {
        if let Some(params) = Params::read(params) {
            self.set_all(&params);
        }
    }

    fn set_all(&mut self, params: &Params) {
        let mut at = 0;
        while at < params.count {
            let joined = (params.joined >> (at + 1)).trailing_ones() as usize;
            let end = (at + 1 + joined).min(params.count);
            let rest = &params.numbers[at + 1..params.count];
            match params.numbers[at] {
                slot @ (38 | 48 | 58) if joined == 0 => {
                    let (colour, used) = colour(rest);
                    self.colours[usize::from(slot / 10 - 3)] = colour;
                    at += used;
                }
                slot @ (38 | 48 | 58) => {
                    // Between the kind and the three parts there may be the name of a colour space.
                    let parts = &params.numbers[at + 1..end];
                    let parts = match parts {
                        [2, _, r, g, b, ..] => [2, *r, *g, *b],
                        [kind, rest @ ..] => [*kind, part(rest, 0), part(rest, 1), part(rest, 2)],
                        [] => [0; 4],
                    };
                    self.colours[usize::from(slot / 10 - 3)] = colour(&parts).0;
                }
                4 if 0 < joined => self.underline = byte(rest[0]),
                number => self.set(byte(number)),
            }
            at += 1 + joined;
        }
    }

    fn set(&mut self, param: u8) {
        match param {
            0 => *self = Self::default(),
            4 => self.underline = 1,
            21 => self.underline = 2,
            24 => self.underline = 0,
            1..=3 | 5 | 7..=9 => self.styles |= 1 << param,
            6 => self.styles |= 1 << 5,
            22 => self.styles &= !(1 << 1 | 1 << 2),
            23 | 25 | 27..=29 => self.styles &= !(1 << (param - 20)),
            30..=37 | 90..=97 => self.colours[0] = SgrColour::Named(param),
            40..=47 | 100..=107 => self.colours[1] = SgrColour::Named(param),
            39 | 49 | 59 => self.colours[usize::from(param / 10 - 3)] = SgrColour::None,
            _ => {}
        }
    }

    /// The sequence that gives a fresh terminal the look.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let styles = STYLES.iter().filter(|style| self.styles & 1 << **style != 0);
        let mut params: Vec<String> = styles.map(u8::to_string).collect();
        match self.underline {
            0 => {}
            1 => params.push("4".into()),
            kind => params.push(format!("4:{kind}")),
        }
        for (colour, slot) in self.colours.iter().zip(["38", "48", "58"]) {
            match colour {
                SgrColour::None => {}
                SgrColour::Named(param) => params.push(param.to_string()),
                SgrColour::Indexed(index) => params.push(format!("{slot};5;{index}")),
                SgrColour::Rgb(r, g, b) => params.push(format!("{slot};2;{r};{g};{b}")),
            }
        }
        if !params.is_empty() {
            out.extend(format!("\x1b[{}m", params.join(";")).bytes());
        }
    }
}

impl Params {
    #[inline]
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut params = Self { numbers: [0; MAX_PARAMS], joined: 0, count: 1 };
        for &byte in bytes {
            match byte {
                b'0'..=b'9' => {
                    let number = &mut params.numbers[params.count - 1];
                    *number = number.wrapping_mul(10).wrapping_add(u16::from(byte - b'0'));
                }
                b';' | b':' if params.count < MAX_PARAMS => {
                    params.joined |= u32::from(byte == b':') << params.count;
                    params.count += 1;
                }
                b';' | b':' => break,
                _ => return None,
            }
        }
        Some(params)
    }
}

/// The colour that the numbers after its slot say, and how many they are.
fn colour(numbers: &[u16]) -> (SgrColour, usize) {
    match *numbers {
        [5, index, ..] => (SgrColour::Indexed(byte(index)), 2),
        [2, r, g, b, ..] => (SgrColour::Rgb(byte(r), byte(g), byte(b)), 4),
        _ => (SgrColour::None, 0),
    }
}

fn part(numbers: &[u16], at: usize) -> u16 {
    numbers.get(at).copied().unwrap_or(0)
}

fn byte(number: u16) -> u8 {
    number.try_into().unwrap_or(u8::MAX)
}
