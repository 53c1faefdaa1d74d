//! A pixel canvas: fills, draws through masks, and encodes a PNG. Knows nothing of cells.

use png::{BitDepth, ColorType, DeflateCompression, Encoder, EncodingError, Filter};

use super::indexed::{IndexedImage, Pixel};
use super::palette::mix;
use super::raster::Mask;
use crate::screen::styled_screen::Rgb;

/// A picture that is being drawn.
pub(super) struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Pixel>,
}

/// The top left corner of a drawing. Anything outside of the canvas is clipped.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    pub(super) x: isize,
    pub(super) y: isize,
}

/// A colour and its opacity.
#[derive(Clone, Copy)]
pub(super) struct Ink {
    pub(super) colour: Rgb,
    pub(super) opacity: u8,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, colour: Rgb) -> Self {
        Self { width, height, pixels: vec![pack(colour); width * height] }
    }

    /// Fills a rectangle.
    pub(super) fn fill(&mut self, corner: Corner, (width, height): (usize, usize), colour: Rgb) {
        for row in 0..height {
            let (_, pixels) = self.row(corner, row, width);
            pixels.fill(pack(colour));
        }
    }

    /// Blends a colour over the pixels that the mask covers.
    pub(super) fn draw(&mut self, corner: Corner, mask: &Mask, ink: Ink) {
        for (row, cover) in mask.cover.chunks(mask.width).enumerate() {
            let (cut, pixels) = self.row(corner, row, mask.width);
            let covered = pixels.iter_mut().zip(&cover[cut..]).filter(|(_, cover)| **cover != 0);
            for (pixel, &cover) in covered {
                let opacity = times(cover, ink.opacity);
                *pixel = pack(mix(unpack(*pixel), ink.colour, opacity));
            }
        }
    }

    /// The PNG file.
    pub(super) fn encode(&self) -> Vec<u8> {
        self.write().expect("nothing fails that is written to memory")
    }

    /// No PNG filter: filters suit photographs, while unfiltered text repeats itself and so
    /// compresses best.
    fn write(&self) -> Result<Vec<u8>, EncodingError> {
        let mut file = Vec::new();
        let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let mut encoder = Encoder::new(&mut file, side(self.width), side(self.height));
        encoder.set_depth(BitDepth::Eight);
        encoder.set_filter(Filter::NoFilter);
        if let Some(IndexedImage { colours, pixels }) = IndexedImage::of(&self.pixels) {
            encoder.set_color(ColorType::Indexed);
            encoder.set_palette(bytes(&colours));
            encoder.set_deflate_compression(DeflateCompression::Level(2));
            encoder.write_header()?.write_image_data(&pixels)?;
        } else {
            encoder.set_color(ColorType::Rgb);
            encoder.set_deflate_compression(DeflateCompression::Level(1));
            encoder.write_header()?.write_image_data(&bytes(&self.pixels))?;
        }
        Ok(file)
    }

    /// The pixels of one row of a rectangle, and how many to the left of them are clipped.
    fn row(&mut self, corner: Corner, row: usize, width: usize) -> (usize, &mut [Pixel]) {
        let Some(y) = corner.y.checked_add_unsigned(row).and_then(|y| usize::try_from(y).ok())
        else {
            return (0, &mut []);
        };
        if self.height <= y {
            return (0, &mut []);
        }
        let inside = |x: isize| usize::try_from(x).unwrap_or(0).min(self.width);
        let start = inside(corner.x);
        let end = inside(corner.x.saturating_add_unsigned(width));
        let cut = usize::try_from(-corner.x).unwrap_or(0).min(width);
        (cut, &mut self.pixels[y * self.width + start..y * self.width + end])
    }
}

/// The product of two fractions of 255.
fn times(a: u8, b: u8) -> u8 {
    (u16::from(a) * u16::from(b) / 255) as u8
}

fn pack(Rgb(r, g, b): Rgb) -> Pixel {
    Pixel::from_be_bytes([0, r, g, b])
}

fn unpack(pixel: Pixel) -> Rgb {
    let [_, r, g, b] = pixel.to_be_bytes();
    Rgb(r, g, b)
}

/// Three bytes for each pixel.
fn bytes(pixels: &[Pixel]) -> Vec<u8> {
    pixels.iter().map(|&pixel| unpack(pixel)).flat_map(|Rgb(r, g, b)| [r, g, b]).collect()
}
