//! The conformance suite: every law of `Substrate` over `native`, `tmux` and `fake`, with real
//! programs on the first two; then what only one of them can show.
#![expect(clippy::unwrap_used, reason = "all of this is tests, helpers too")]

mod example;
mod fake;
mod fake_scripts;
mod laws;
mod native;
mod programs;
mod test_substrate;
mod tmux;
mod unresponsive_keepers;

/// Runs each law on each substrate, in a folder of its own.
macro_rules! conform {
    ($($file:ident: $($law:ident)*;)*) => {
        conform!(@ground over_native native $($($file $law)*)*);
        conform!(@ground over_tmux tmux $($($file $law)*)*);
        conform!(@ground over_fake fake $($($file $law)*)*);
    };
    (@ground $module:ident $open:ident $($file:ident $law:ident)*) => {
        mod $module {
            $(
                #[tokio::test]
                async fn $law() {
                    crate::laws::$file::$law(crate::test_substrate::TestSubstrate::$open()).await;
                }
            )*
        }
    };
}

conform! {
    lives:
        nothing_is_there_at_first
        a_session_is_listed_with_its_real_size
        a_name_is_taken_once
        of_two_at_once_one_gets_the_name
        a_name_may_have_dots_and_dashes
        a_name_is_matched_whole
        a_destroyed_session_is_gone_with_its_processes
        a_session_ends_with_its_last_program
        a_session_outlives_whoever_made_it
        a_program_that_is_not_there_leaves_nothing
        a_program_gets_its_variables_and_its_folder;
    typing:
        enter_follows_the_text
        text_arrives_as_it_is
        lines_are_not_flattened
        the_longest_text_arrives_and_a_longer_one_is_refused
        a_key_is_no_text
        an_interrupt_reaches_the_program
        every_key_becomes_its_bytes
        cursor_keys_follow_the_program
        a_key_that_nobody_knows_is_refused
        a_program_that_asks_its_terminal_is_answered;
    reading:
        a_capture_has_exactly_as_many_lines
        a_long_history_is_exact_too
        blank_lines_at_the_end_do_not_count
        no_lines_cannot_be_asked_for
        a_screen_has_every_row
        a_screen_has_its_colours;
    splitting:
        a_split_halves_a_pane
        each_pane_is_reached_by_its_id
        a_session_means_its_newest_pane
        a_pane_that_ends_leaves_its_room
        a_pane_can_be_too_small_to_split
        a_session_gets_another_size;
}
