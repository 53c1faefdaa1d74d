//! Named layouts: saved, and restored in another size.

use super::*;

pub(super) fn role(pane: TmuxPaneId) -> SavedRole {
    if pane.0 == 0 { SavedRole::Main } else { SavedRole::Titled(format!("pane {pane}")) }
}

pub(super) fn pane_of_role(role: &SavedRole) -> Option<TmuxPaneId> {
    match role {
        SavedRole::Main => Some(TmuxPaneId(0)),
        SavedRole::Titled(title) => title.strip_prefix("pane ")?.parse().ok(),
    }
}

#[test]
fn a_saved_layout_is_made_again_in_another_size() {
    let (window, _, _) = fill(212, 50, 2, &LayoutLimits::default());
    let saved = SavedLayout::of(&window, &LayoutLimits::default(), role);
    assert_eq!(saved.main_pane_size, 60);
    let text = toml::to_string(&saved).unwrap();
    assert_eq!(toml::from_str::<SavedLayout>(&text).unwrap(), saved, "{text}");
    let fit = |cols, rows| saved.fit((cols, rows), &LayoutLimits::default(), pane_of_role);
    assert_eq!(fit(212, 50).unwrap(), *window.layout());
    let larger = LayoutWindow::new(fit(423, 99).unwrap(), None);
    assert_eq!(sizes(&larger), "252x99 170x50 170x48");
    // In proportion the others would have 64 columns; the main pane gets its minimum first.
    assert_eq!(sizes(&LayoutWindow::new(fit(160, 50).unwrap(), None)), "100x50 59x25 59x24");
    // Below that, panes are as small as a person may want them.
    assert_eq!(sizes(&LayoutWindow::new(fit(105, 50).unwrap(), None)), "63x50 41x25 41x24");
    let says = "the layout needs 81x17, but the window is 80x50";
    assert_eq!(fit(80, 50).unwrap_err().to_string(), says);
}

#[test]
fn a_saved_layout_is_read_as_people_write_it() {
    let text = "layout = 'grid'\nmain_pane_size = 50\n[tree]\nrow = [{ size = 1, pane = 'main' }, { size = 1, \
        column = [{ pane = 'tests' }, { pane = 'logs' }] }]";
    let saved: SavedLayout = toml::from_str(text).unwrap();
    let roles: Vec<_> = saved.roles().into_iter().map(ToString::to_string).collect();
    assert_eq!(roles, ["main", "tests", "logs"]);
    let layout = saved.fit((221, 51), &LayoutLimits::default(), |_| None).unwrap();
    assert_eq!(sizes(&LayoutWindow::new(layout, None)), "110x51 110x25 110x25");
    let twice =
        saved.fit((221, 51), &LayoutLimits::default(), |_| Some(TmuxPaneId(1))).unwrap_err();
    assert_eq!(twice.to_string(), "pane `tests` is in the layout twice");
    for (bad, says) in [
        ("pane = 'a'\nrow = []", "one of `pane`, `row` and `column`"),
        ("row = [{ pane = 'a' }]", "at least two parts"),
        ("pan = 'a'", "unknown field `pan`"),
    ] {
        let refused = toml::from_str::<SavedNode>(bad).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
}
