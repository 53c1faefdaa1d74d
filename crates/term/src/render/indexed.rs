//! Pixels as indices into a palette: a third of the bytes, for pictures with few colours.

/// The most colours that a byte can index.
const MAX_COLOURS: usize = 256;

/// The slots of the hash table, a power of two. Three in four stay empty, so that probing is short.
const SLOTS: usize = 4 * MAX_COLOURS;

/// A value that no pixel has.
const EMPTY: Pixel = Pixel::MAX;

/// A colour as one number, 0xRRGGBB.
pub(super) type Pixel = u32;

/// A picture with a palette.
#[derive(Debug, PartialEq)]
pub(super) struct IndexedImage {
    pub(super) colours: Vec<Pixel>,
    /// For each pixel its palette index.
    pub(super) pixels: Vec<u8>,
}

impl IndexedImage {
    /// The indexed picture; `None` if it has too many colours.
    pub(super) fn of(pixels: &[Pixel]) -> Option<Self> {
        let mut table = ColourTable { slots: [(EMPTY, 0); SLOTS], colours: Vec::new() };
        let mut indices = Vec::with_capacity(pixels.len());
        let mut last = (EMPTY, 0);
        for &pixel in pixels {
            // Most pixels equal the one before.
            if pixel != last.0 {
                last = (pixel, table.place(pixel)?);
            }
            indices.push(last.1);
        }
        Some(Self { colours: table.colours, pixels: indices })
    }
}

/// The colours so far and their indices. A million pixels are looked up, too many for a `HashMap`.
struct ColourTable {
    slots: [(Pixel, u8); SLOTS],
    colours: Vec<Pixel>,
}

impl ColourTable {
    /// The index of a colour; `None` if the palette is full.
    fn place(&mut self, colour: Pixel) -> Option<u8> {
        let mut slot = (colour.wrapping_mul(0x9e37_79b1) >> 16) as usize % SLOTS;
        while self.slots[slot].0 != colour {
            if self.slots[slot].0 == EMPTY {
                self.slots[slot] = (colour, u8::try_from(self.colours.len()).ok()?);
                self.colours.push(colour);
            } else {
                slot = (slot + 1) % SLOTS;
            }
        }
        Some(self.slots[slot].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_listed_in_the_order_they_come() {
        let expect = IndexedImage { colours: vec![9, 0], pixels: vec![0, 0, 1, 0] };
        assert_eq!(IndexedImage::of(&[9, 9, 0, 9]), Some(expect));
    }

    #[test]
    fn a_byte_names_256_colours_and_no_more() {
        let shades: Vec<Pixel> = (0..257).map(|shade| shade * 0x10101).collect();
        assert_eq!(IndexedImage::of(&shades[..256]).unwrap().colours, shades[..256]);
        assert_eq!(IndexedImage::of(&shades), None);
    }
}
