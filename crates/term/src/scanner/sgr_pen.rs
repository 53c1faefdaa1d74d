//! The style of the next character, as SGR has set it. Colours change more often than anything else
//! that is scanned, so this type holds only numbers.

/// Further parameters of one sequence are ignored.
const MAX_PARAMS: usize = 16;

/// The attributes that SGR has set and not reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SgrPen {
    /// The bit of each of [`STYLES`] that is set.
    styles: u16,
    /// The kind of underline, as in `4:kind`.
    underline: u8,
    /// The colours of foreground, background and underline.
    colours: [SgrColour; 3],
}

/// The parameters that set a style; fast blinking counts as blinking.
const STYLES: [u8; 7] = [1, 2, 3, 5, 7, 8, 9];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SgrColour {
    #[default]
    None,
    /// A colour that has a parameter of its own.
    Named(u8),
    Indexed(u8),
    Rgb(u8, u8, u8),
}

/// The parameters of one sequence.
struct Params {
    numbers: [u16; MAX_PARAMS],
    /// A bit for each parameter that is joined to the one before it by a colon.
    joined: u32,
    count: usize,
}

impl SgrPen {
    /// Applies the bytes between `CSI` and `m`. Sequences with prefix or intermediate bytes have
    /// another meaning and are ignored.
    #[inline]
    pub(super) fn apply(&mut self, params: &[u8]) {
        if let [b'<'..=b'?', ..] | [.., b' '..=b'/'] = params {
            return;
        }
        let mut from = 0;
        let mut number = 0_u8;
        for (at, &byte) in params.iter().enumerate() {
            match byte {
                b'0'..=b'9' => number = number.wrapping_mul(10).wrapping_add(byte - b'0'),
                b';' if !matches!(number, 38 | 48 | 58) => {
                    self.set(number);
                    from = at + 1;
                    number = 0;
                }
                _ => return self.apply_all(&params[from..]),
            }
        }
        self.set(number);
    }

    /// Applies colours that take more than one parameter, and joined parameters.
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
                    // A colour space may come between the kind and the three components.
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

    /// The sequence that gives a fresh terminal this style.
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

/// The colour that the numbers after its slot define, and how many numbers it takes.
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
