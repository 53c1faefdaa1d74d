//! A QR code drawn with characters, two modules in each.

use anyhow::{Context as _, Result};
use qrcodegen::{QrCode, QrCodeEcc};

/// The empty border that readers need, in modules.
const BORDER: i32 = 4;
/// Black on white, whatever the colours of the terminal are.
const COLOURS: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// Draws a text. Without colour the code is inverted, which is right for light text on a dark
/// terminal.
///
/// # Errors
/// When the text is too long for a code.
pub(super) fn draw(text: &str, has_colour: bool) -> Result<String> {
    let code = QrCode::encode_text(text, QrCodeEcc::Low).ok().context("the link is too long")?;
    let is_ink = |x, y| code.get_module(x, y) == has_colour;
    let mut drawn = String::new();
    for y in (-BORDER..code.size() + BORDER).step_by(2) {
        if has_colour {
            drawn += COLOURS;
        }
        for x in -BORDER..code.size() + BORDER {
            drawn.push(match (is_ink(x, y), is_ink(x, y + 1)) {
                (true, true) => '█',
                (true, false) => '▀',
                (false, true) => '▄',
                (false, false) => ' ',
            });
        }
        if has_colour {
            drawn += RESET;
        }
        drawn.push('\n');
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_fits_into_a_terminal_of_eighty_columns_with_its_border() {
        let link = format!("https://192.168.100.100:17443/#t={}", "x".repeat(32));
        let drawn = draw(&link, false).unwrap();
        let lines: Vec<Vec<char>> = drawn.lines().map(|line| line.chars().collect()).collect();
        assert!(lines.len() <= 23, "{}", lines.len());
        assert!(lines.iter().all(|line| line.len() == lines[0].len() && line.len() <= 80));
        assert!(lines[..2].iter().flatten().all(|c| *c == '█'), "the border is light");
        // The corner of the finder pattern, dark, below a border that is light.
        assert_eq!(lines[2][4..12].iter().collect::<String>(), " ▄▄▄▄▄ █");
    }

    #[test]
    fn colours_make_it_dark_on_light_everywhere() {
        let drawn = draw("x", true).unwrap();
        assert!(drawn.lines().all(|line| line.starts_with(COLOURS) && line.ends_with(RESET)));
        assert!(draw(&"x".repeat(5000), true).is_err());
    }
}
