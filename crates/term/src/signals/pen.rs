//! The look that the next character gets, kept as the sequences that gave it. They are read only when they have
//! become many: most output takes its looks off again and again.

/// How many bytes of sequences are kept before they are read.
const MANY: usize = 256;

/// What SGR has set since it last took everything off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pen {
    /// Whole sequences, one after the other.
    worn: Vec<u8>,
}

impl Pen {
    /// A whole `CSI … m`. Those of other meanings, which have other bytes in them, are left alone.
    #[inline]
    pub(super) fn wear(&mut self, sequence: &[u8]) {
        let Some(params) = sequence.get(2..sequence.len() - 1) else { return };
        match params {
            [] | [b'0'] => return self.worn.clear(),
            [b'0', b';', ..] => self.worn.clear(),
            _ => {}
        }
        if params.iter().all(|byte| matches!(byte, b'0'..=b';')) {
            self.worn.extend_from_slice(sequence);
        }
        if MANY < self.worn.len() {
            self.worn = Look::of(&self.worn).sequence();
        }
    }

    /// The sequence that gives a fresh terminal the look.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend(Look::of(&self.worn).sequence());
    }
}

/// What can be set, each apart from the others, with the parameters that did. Bold and faint are taken off together,
/// and so is every kind of line below.
#[derive(Default)]
struct Look<'a> {
    bold: bool,
    faint: bool,
    /// Slanted, underlined, blinking, inverse, hidden, struck through.
    styles: [Option<&'a [u8]>; 6],
    /// Of the text, behind it, and of the line below.
    colours: [Vec<&'a [u8]>; 3],
}

impl<'a> Look<'a> {
    fn of(sequences: &'a [u8]) -> Self {
        let mut look = Self::default();
        for sequence in sequences.split(|byte| *byte == super::ESC).filter(|it| !it.is_empty()) {
            let mut params =
                sequence[1..sequence.len() - 1].split(|byte| *byte == b';').collect::<Vec<_>>();
            params.reverse();
            while let Some(param) = params.pop() {
                look.set(param, &mut params);
            }
        }
        look
    }

    /// Sets one parameter; a colour takes those that follow it, which come last first.
    fn set(&mut self, param: &'a [u8], rest: &mut Vec<&'a [u8]>) {
        match number(param) {
            0 => *self = Self::default(),
            1 => self.bold = true,
            2 => self.faint = true,
            22 => (self.bold, self.faint) = (false, false),
            3 => self.styles[0] = Some(param),
            4 if param == b"4:0" => self.styles[1] = None,
            4 | 21 => self.styles[1] = Some(param),
            5 | 6 => self.styles[2] = Some(param),
            7 => self.styles[3] = Some(param),
            8 => self.styles[4] = Some(param),
            9 => self.styles[5] = Some(param),
            style @ 23..=25 => self.styles[usize::from(style - 23)] = None,
            style @ 27..=29 => self.styles[usize::from(style - 24)] = None,
            30..=37 | 90..=97 => self.colours[0] = vec![param],
            40..=47 | 100..=107 => self.colours[1] = vec![param],
            slot @ (39 | 49 | 59) => self.colours[usize::from(slot / 10 - 3)].clear(),
            slot @ (38 | 48 | 58) => {
                let follow = if param.contains(&b':') { 0 } else { followers(rest) };
                let colour = rest.split_off(rest.len() - follow).into_iter().rev();
                self.colours[usize::from(slot / 10 - 3)] =
                    [param].into_iter().chain(colour).collect();
            }
            _ => {}
        }
    }

    fn sequence(&self) -> Vec<u8> {
        let bold = [(self.bold, &b"1"[..]), (self.faint, b"2")];
        let bold = bold.into_iter().filter(|(is_set, _)| *is_set).map(|(_, param)| param);
        let styles = self.styles.iter().flatten().copied();
        let colours = self.colours.iter().flatten().copied();
        let params: Vec<&[u8]> = bold.chain(styles).chain(colours).collect();
        if params.is_empty() {
            Vec::new()
        } else {
            [b"\x1b[", &params.join(&b';')[..], b"m"].concat()
        }
    }
}

/// How many parameters say which colour; the next one is the last.
fn followers(rest: &[&[u8]]) -> usize {
    let wanted = match rest.last().map(|param| number(param)) {
        Some(5) => 2,
        Some(2) => 4,
        Some(_) | None => 0,
    };
    wanted.min(rest.len())
}

/// The number that a parameter begins with.
fn number(param: &[u8]) -> u8 {
    let digits = param.split(|byte| *byte == b':').next().unwrap_or_default();
    digits.iter().fold(0, |sum: u8, digit| sum.saturating_mul(10).saturating_add(digit - b'0'))
}
