//! How often a rule notifies about a pane.

use std::collections::HashMap;

use paned_model::Time;

use super::NotifyRule;

/// How many pairs of rule and pane are remembered before old ones are dropped.
const MAX_ENTRIES: usize = 4096;

/// Whether an occurrence is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotifyAdmission {
    /// It is. So many before it were left out.
    Deliver {
        /// How many were left out since the last delivery.
        left_out: u32,
    },
    /// It follows the last one too soon.
    TooSoon,
}

/// The last delivery of each rule for each pane.
#[derive(Debug, Default)]
pub struct NotifyThrottle {
    last: HashMap<(String, String), LastDelivery>,
}

#[derive(Clone, Copy, Debug)]
struct LastDelivery {
    at: Time,
    until: Time,
    left_out: u32,
}

impl NotifyThrottle {
    /// Decides about an occurrence that a rule covers.
    pub fn admit(&mut self, rule: &NotifyRule, pane: &str, now: Time) -> NotifyAdmission {
        self.last.retain(|_, last| now < last.until || 0 < last.left_out);
        if MAX_ENTRIES <= self.last.len() {
            self.drop_oldest();
        }
        let key = (rule.name.clone(), pane.to_owned());
        let last = self.last.get_mut(&key);
        let left_out = match last {
            Some(last) if now < last.until && last.at <= now => {
                last.left_out += 1;
                return NotifyAdmission::TooSoon;
            }
            Some(last) => last.left_out,
            None => 0,
        };
        let until = Time(now.0.saturating_add(rule.every_ms));
        self.last.insert(key, LastDelivery { at: now, until, left_out: 0 });
        NotifyAdmission::Deliver { left_out }
    }

    /// Forgets a pane that is gone.
    pub fn forget(&mut self, pane: &str) {
        self.last.retain(|(_, of), _| of != pane);
    }

    fn drop_oldest(&mut self) {
        let oldest = self.last.iter().min_by_key(|(_, last)| last.at).map(|(key, _)| key.clone());
        if let Some(key) = oldest {
            self.last.remove(&key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str, every: &str) -> NotifyRule {
        let text = format!("on = \"done\"\nto = \"desktop\"\nevery = \"{every}\"");
        NotifyRule::read(name, toml::from_str(&text).unwrap()).unwrap()
    }

    /// Occurrences at these seconds; `.` is too soon, a digit how many were left out before.
    #[track_caller]
    fn check(every: &str, seconds: &[u64], expect: &str) {
        let rule = &rule("me", every);
        let mut throttle = NotifyThrottle::default();
        let admit = |at: &u64| match throttle.admit(rule, "a", Time(at * 1000)) {
            NotifyAdmission::Deliver { left_out } => left_out.to_string(),
            NotifyAdmission::TooSoon => ".".to_owned(),
        };
        assert_eq!(seconds.iter().map(admit).collect::<String>(), expect);
    }

    #[test]
    fn those_that_follow_too_soon_are_counted() {
        check("30s", &[0, 1, 2, 29, 30, 31, 90], "0...3.1");
    }

    #[test]
    fn no_time_between_means_every_one() {
        check("0s", &[0, 0, 1], "000");
    }

    #[test]
    fn a_clock_that_was_set_back_silences_no_rule() {
        check("30s", &[1000, 10], "00");
    }

    #[test]
    fn each_pane_and_each_rule_is_counted_alone() {
        let rules = [rule("a", "30s"), rule("b", "30s")];
        let mut throttle = NotifyThrottle::default();
        let mut admit = |rule: usize, pane| throttle.admit(&rules[rule], pane, Time(5));
        assert_eq!(admit(0, "x"), NotifyAdmission::Deliver { left_out: 0 });
        assert_eq!(admit(0, "y"), NotifyAdmission::Deliver { left_out: 0 });
        assert_eq!(admit(1, "x"), NotifyAdmission::Deliver { left_out: 0 });
        assert_eq!(admit(0, "x"), NotifyAdmission::TooSoon);
        throttle.forget("x");
        assert_eq!(
            throttle.admit(&rules[0], "x", Time(6)),
            NotifyAdmission::Deliver { left_out: 0 }
        );
    }
}
