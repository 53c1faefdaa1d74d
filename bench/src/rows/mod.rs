//! The rows of the table, one file each: name, one-sentence doc, `run`.

mod bridge;
mod cli_start;
mod cli_tmux;
mod cpu;
mod drain;
mod echo;
mod emulator;
mod exit_event;
mod extension;
mod fan_out;
mod full_ring;
mod idle;
mod list_in_flood;
mod many_panes;
mod mcp_tokens;
mod memory;
mod memory_of_text;
mod neighbour;
mod read;
mod rivals;
mod search;
mod search_limit;
mod spawn_beside_tapes;
mod spawn_rate;
mod tmux_calls;
mod tmux_close;
mod tmux_forks;
mod tmux_idle;
mod to_reader;
mod whole_output;

use crate::error::Error;
use crate::figure::Figure;
use crate::plan::Plan;

/// One row: what it measures, and how.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) doc: &'static str,
    pub(crate) run: fn(&Plan) -> Result<Vec<Figure>, Error>,
}

/// Every row, in the order of the table.
pub(crate) const ALL: &[Row] = &[
    drain::ROW,
    to_reader::ROW,
    cpu::ROW,
    emulator::ROW,
    full_ring::ROW,
    list_in_flood::ROW,
    echo::ROW,
    bridge::ROW,
    many_panes::ROW,
    bridge::IN_TMUX,
    tmux_forks::ROW,
    exit_event::ROW,
    spawn_rate::ROW,
    spawn_beside_tapes::ROW,
    memory::ROW,
    memory_of_text::ROW,
    idle::ROW,
    search::LITERALS,
    search::REGEXES,
    search_limit::ROW,
    read::ROW,
    fan_out::ROW,
    whole_output::ROW,
    cli_start::ROW,
    cli_tmux::ROW,
    extension::ROW,
    mcp_tokens::ROW,
    neighbour::ROW,
    rivals::ROW,
    tmux_calls::ROW,
    tmux_close::ROW,
    tmux_idle::ROW,
];

/// The row of this name.
pub(crate) fn find(name: &str) -> Result<&'static Row, String> {
    let found = ALL.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    let names: Vec<_> = ALL.iter().map(|row| row.name).collect();
    found.ok_or_else(|| format!("no row `{name}`; there are {}", names.join(", ")))
}
