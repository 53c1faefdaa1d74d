//! What a restart policy has done and will do, in words.

use paned_model::{PaneInfo, PaneRestartInfo, Time};

use crate::out::units;

/// As `paned get` shows it: `on-failure, restarts: 3, next in 8s`.
pub(crate) fn summary(restart: &PaneRestartInfo, now: Time) -> String {
    let mut parts = vec![restart.policy.to_string(), format!("restarts: {}", restart.count)];
    parts.extend(next(restart, now));
    parts.join(", ")
}

/// As `paned ls` adds it to the status: `, restarts: 3, next in 8s`; nothing before the first
/// failure.
pub(crate) fn suffix(pane: &PaneInfo, now: Time) -> String {
    let Some(restart) = &pane.restart else { return String::new() };
    let count = (0 < restart.count).then(|| format!("restarts: {}", restart.count));
    let parts: Vec<_> = count.into_iter().chain(next(restart, now)).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn next(restart: &PaneRestartInfo, now: Time) -> Option<String> {
    let gave_up = restart.gave_up.then(|| "gave up".to_owned());
    gave_up.or_else(|| restart.next_at.map(|at| format!("next in {}", units::age(at.since(now)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_often_and_when() {
        let mut restart = PaneRestartInfo {
            policy: "on-failure:5".parse().unwrap(),
            count: 3,
            next_at: Some(Time(9_000)),
            gave_up: false,
        };
        assert_eq!(summary(&restart, Time(1_000)), "on-failure:5, restarts: 3, next in 8s");
        restart.next_at = None;
        restart.gave_up = true;
        assert_eq!(summary(&restart, Time(1_000)), "on-failure:5, restarts: 3, gave up");
    }
}
