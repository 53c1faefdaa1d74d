//! The schedule of faults: which comes next, and with which parameters. Only the seed decides.

use crate::SeededRng;

/// Every fault by name, and how often it comes.
pub(super) const WEIGHTS: [(&str, u64); 13] = [
    ("kill-server", 8),
    ("stop-server", 2),
    ("upgrade", 3),
    ("kill-keeper", 2),
    ("stop-keepers", 3),
    ("kill-fork-server", 1),
    ("kill-tmux", 1),
    ("full-disk", 2),
    ("few-files", 1),
    ("many-panes", 1),
    ("damage-pane", 2),
    ("damage-journal", 1),
    ("fork-chain", 1),
];

/// One fault with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// `kill -9` of the server, and a start after so many milliseconds.
    KillServer { pause: u64 },
    /// The server is stopped for so many milliseconds.
    StopServer { millis: u64 },
    /// `paned server upgrade`.
    Upgrade,
    /// `kill -9` of a keeper.
    KillKeeper { choice: u64 },
    /// Keepers are stopped for so many milliseconds; the server may be killed meanwhile.
    StopKeepers { choice: u64, count: u64, millis: u64, kill_server: bool },
    /// `kill -9` of the fork server.
    KillForkServer,
    /// `kill -9` of the tmux server that shows panes.
    KillTmux,
    /// No room on the disk for so many milliseconds; the server may be killed meanwhile.
    FullDisk { millis: u64, kill_server: bool },
    /// So many descriptors more than the server has, and no more, for so many milliseconds.
    FewFiles { spare: u64, millis: u64 },
    /// Panes up to the limit, and one more.
    ManyPanes,
    /// One file of one pane is damaged; the server may be killed after that.
    DamagePane { choice: u64, damage: Damage, kill_server: bool },
    /// The journal of a small server beside the big one is damaged, after so many events.
    DamageJournal { damage: JournalDamage, events: u64 },
    /// A pane whose processes fork and exit without end is killed.
    ForkChain,
}

/// What is done to a journal's files while no server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JournalDamage {
    /// The write-ahead log has other bytes at this part of it, in percent.
    GarbledLog { part: u64 },
    /// The write-ahead log is cut there.
    ShortLog { part: u64 },
    /// The database has other bytes there.
    GarbledDatabase { part: u64 },
    /// The database is deleted.
    NoDatabase,
    /// The high-water file is deleted.
    NoHighWater,
}

/// What is done to a pane's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Damage {
    /// The tape is cut to nothing.
    EmptyTape,
    /// The tape is cut somewhere.
    ShortTape { part: u64 },
    /// Some bytes of the tape's header are others.
    GarbledHeader { at: u64, byte: u8 },
    /// The whole header is 0xFF.
    FilledHeader,
    /// `pane.json` is deleted.
    NoRecord,
}

impl Fault {
    /// The next one of those that are enabled.
    pub(super) fn random(dice: &mut SeededRng, enabled: &[String]) -> Self {
        let choice = dice.below(1 << 20);
        match name(dice, enabled) {
            // Mostly for a moment, and now and then for longer than a keeper waits for its server.
            "stop-server" => {
                let most = if choice.is_multiple_of(4) { 7000 } else { 1500 };
                Self::StopServer { millis: 100 + dice.below(most) }
            }
            "upgrade" => Self::Upgrade,
            "kill-keeper" => Self::KillKeeper { choice },
            "stop-keepers" => Self::StopKeepers {
                choice,
                count: 1 + dice.below(4),
                millis: 200 + dice.below(8000),
                kill_server: dice.below(3) == 0,
            },
            "kill-fork-server" => Self::KillForkServer,
            "kill-tmux" => Self::KillTmux,
            "full-disk" => {
                Self::FullDisk { millis: 200 + dice.below(3000), kill_server: dice.below(2) == 0 }
            }
            "few-files" => Self::FewFiles { spare: dice.below(12), millis: 200 + dice.below(1500) },
            "many-panes" => Self::ManyPanes,
            "damage-pane" => Self::DamagePane {
                choice,
                damage: Damage::random(dice),
                kill_server: dice.below(2) == 0,
            },
            "damage-journal" => {
                Self::DamageJournal { damage: JournalDamage::random(dice), events: dice.below(300) }
            }
            "fork-chain" => Self::ForkChain,
            _ => Self::KillServer { pause: dice.below(400) },
        }
    }
}

impl Damage {
    fn random(dice: &mut SeededRng) -> Self {
        match dice.below(5) {
            0 => Self::EmptyTape,
            1 => Self::ShortTape { part: dice.below(100) },
            2 => {
                let byte = u8::try_from(dice.below(256)).unwrap_or(0);
                Self::GarbledHeader { at: dice.below(26) * 8, byte }
            }
            3 => Self::FilledHeader,
            _ => Self::NoRecord,
        }
    }
}

impl JournalDamage {
    fn random(dice: &mut SeededRng) -> Self {
        let part = dice.below(100);
        match dice.below(5) {
            0 => Self::GarbledLog { part },
            1 => Self::ShortLog { part },
            2 => Self::GarbledDatabase { part },
            3 => Self::NoDatabase,
            _ => Self::NoHighWater,
        }
    }
}

fn name(dice: &mut SeededRng, enabled: &[String]) -> &'static str {
    let is_enabled = |name: &str| enabled.iter().any(|one| one == name);
    let weights: Vec<_> = WEIGHTS.into_iter().filter(|(name, _)| is_enabled(name)).collect();
    let mut at = dice.below(weights.iter().map(|(_, weight)| weight).sum::<u64>().max(1));
    for (name, weight) in weights {
        if at < weight {
            return name;
        }
        at -= weight;
    }
    "kill-server"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<String> {
        WEIGHTS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn schedule(seed: u64) -> Vec<Fault> {
        let mut dice = SeededRng::seeded(seed);
        (0..300).map(|_| Fault::random(&mut dice, &all())).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_schedule_and_another_one_another() {
        assert_eq!(schedule(7), schedule(7));
        assert_ne!(schedule(7), schedule(8));
    }

    #[test]
    fn every_fault_comes() {
        let schedule = schedule(1);
        let kinds: std::collections::HashSet<_> =
            schedule.iter().map(std::mem::discriminant).collect();
        assert_eq!(kinds.len(), WEIGHTS.len());
    }

    #[test]
    fn only_what_is_enabled_comes() {
        let mut dice = SeededRng::seeded(3);
        let enabled = vec!["upgrade".to_owned()];
        assert!((0..100).all(|_| Fault::random(&mut dice, &enabled) == Fault::Upgrade));
    }
}
