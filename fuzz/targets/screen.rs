//! Any output on any screen: feeding it in pieces gives the same screen, a dump restores the same
//! screen, and nothing panics.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paned_model::Size;
use paned_term::screen::DumpLoss;
use paned_term::{OutputScanner, ScanEvent, Screen, ScreenView};

/// What a person sees; the count of changes depends on how the output was cut.
fn seen(screen: &Screen) -> ScreenView {
    ScreenView { revision: 0, ..screen.view() }
}

/// What the cheap look at the same bytes finds.
fn scan(pieces: &mut dyn Iterator<Item = &[u8]>) -> Vec<ScanEvent> {
    let mut scanner = OutputScanner::new();
    let mut found = Vec::new();
    pieces.for_each(|piece| scanner.feed(piece, |event| found.push(event)));
    found
}

/// A dump brings the same screen back, and once more from there.
fn check_dump(screen: &mut Screen) {
    screen.flush_update();
    let again = drawn_anew(screen);
    // By design, where no bytes bring a screen there: see `DumpLoss`.
    let loss = screen.loss();
    if loss != Some(DumpLoss::Cells) {
        assert_eq!(seen(screen), seen(&again));
        assert_eq!(screen.styled(), again.styled());
    }
    if loss.is_none() {
        assert_same_dump(screen, &again);
    }
    let third = drawn_anew(&again);
    assert_eq!(seen(&again), seen(&third));
    assert_eq!(again.styled(), third.styled());
}

fn drawn_anew(screen: &Screen) -> Screen {
    let mut again = Screen::new(screen.view().size);
    again.feed(&screen.dump());
    assert!(again.take_replies().is_empty(), "a dump asks nothing");
    again
}

/// The hidden state is the same, too: the other screen, the scroll region, the tabs, the saved
/// cursor and all that was pushed.
fn assert_same_dump(a: &Screen, b: &Screen) {
    let text = |screen: &Screen| String::from_utf8_lossy(&screen.dump()).into_owned();
    assert_eq!(text(a), text(b));
}

fuzz_target!(|input: &[u8]| {
    let Some((&[cols, rows, cut], output)) = input.split_first_chunk() else { return };
    let size = Size { cols: u16::from(cols % 100), rows: u16::from(rows % 40) };
    let cut = usize::from(cut % 32) + 1;
    let (mut whole, mut pieces) = (Screen::new(size), Screen::new(size));
    whole.feed(output);
    output.chunks(cut).for_each(|piece| pieces.feed(piece));
    assert_eq!(seen(&whole), seen(&pieces));
    assert_eq!(whole.dump(), pieces.dump());
    assert_eq!(whole.take_replies(), pieces.take_replies());
    assert_eq!(scan(&mut [output].into_iter()), scan(&mut output.chunks(cut)));

    check_dump(&mut whole);
    whole.resize(Size { cols: u16::from(rows), rows: u16::from(cols % 40) });
    whole.feed(output);
    check_dump(&mut whole);
    let _ = whole.pending_bytes();
});
