//! Captured output is exact.

use paned_substrate::{CaptureStyle, Error, MOST_LINES};

use crate::programs;
use crate::test_substrate::{SIZE, TestSubstrate};

fn numbered(lines: std::ops::RangeInclusive<usize>) -> Vec<String> {
    lines.map(|number| format!("line {number}")).collect()
}

pub(crate) async fn a_capture_has_exactly_as_many_lines(server: TestSubstrate) {
    let target = server.spawn("a", &programs::print(150)).await;
    server.wait_for_line(&target, "line 150").await;
    for count in [1, 3, 49, 50, 51, 100, 149, 150] {
        let lines = server.substrate().capture(&target, count).await.unwrap();
        assert_eq!(lines, numbered(151 - count..=150), "of {count}");
    }
    let all = server.substrate().capture(&target, 1000).await.unwrap();
    assert_eq!(all, numbered(1..=150), "fewer were printed");
}

pub(crate) async fn a_long_history_is_exact_too(server: TestSubstrate) {
    let target = server.spawn("a", &programs::print(9000)).await;
    server.wait_for_line(&target, "line 9000").await;
    let lines = server.substrate().capture(&target, 8000).await.unwrap();
    assert!(lines == numbered(1001..=9000), "from {:?} on {}", lines.first(), lines.len());
}

pub(crate) async fn blank_lines_at_the_end_do_not_count(server: TestSubstrate) {
    let target = server.spawn("a", &programs::say("one\\n\\ntwo  \\n\\n   \\n\\n")).await;
    server.wait_for_line(&target, "two").await;
    assert_eq!(server.substrate().capture(&target, 3).await.unwrap(), ["one", "", "two"]);
    assert_eq!(server.substrate().capture(&target, 2).await.unwrap(), ["", "two"]);
}

pub(crate) async fn no_lines_cannot_be_asked_for(server: TestSubstrate) {
    let target = server.spawn("a", &programs::cat()).await;
    for count in [0, MOST_LINES + 1] {
        let refused = server.substrate().capture(&target, count).await.unwrap_err();
        assert!(matches!(refused, Error::InvalidLines(_)), "{refused:?}");
        let says = format!(
            "invalid lines: the number of lines must be from 1 to {MOST_LINES}, not \
                    {count}"
        );
        assert_eq!(refused.to_string(), says);
    }
    assert_eq!(server.substrate().capture(&target, 5).await, Ok(Vec::new()));
}

pub(crate) async fn a_screen_has_every_row(server: TestSubstrate) {
    let target = server.spawn("a", &programs::say("gone\\033[H\\033[2J\\033[7;3Hhere\\n")).await;
    let here = |rows: &[String]| rows.iter().any(|row| row == "  here");
    let rows = server.wait_for_screen(&target, CaptureStyle::Plain, here).await;
    assert_eq!(rows.len(), usize::from(SIZE.rows));
    assert_eq!(rows.iter().position(|row| row == "  here"), Some(6));
    assert_eq!(rows.iter().filter(|row| row.is_empty()).count(), rows.len() - 1);
}

pub(crate) async fn a_screen_has_its_colours(server: TestSubstrate) {
    let target = server.spawn("a", &programs::say("a \\033[31mred\\033[0m word\\n")).await;
    let red = |rows: &[String]| rows[0].contains("31mred\x1b[") && rows[0].ends_with(" word");
    let rows = server.wait_for_screen(&target, CaptureStyle::Coloured, red).await;
    assert_eq!(rows.len(), usize::from(SIZE.rows));
    let plain = server.substrate().screen(&target, CaptureStyle::Plain).await.unwrap();
    assert_eq!(plain[0], "a red word");
}
