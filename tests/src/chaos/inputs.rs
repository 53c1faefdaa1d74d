//! What was typed into one pane, by which writer, and what its program has read of it.

use std::collections::{BTreeMap, HashMap};

use super::line::{Checker, Line, checksum};

/// What is known of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The call is under way.
    Asked,
    /// Answered with 200: it is read exactly once.
    Accepted,
    /// Answered with a refusal: it is never read.
    Refused,
    /// Not answered, or answered with `timeout`: it is read at most once.
    Open,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputAnswer {
    Accepted,
    Refused,
    Open,
}

#[derive(Debug, Default)]
struct Writer {
    next: u64,
    /// The inputs that are not both answered and read.
    pending: BTreeMap<u64, State>,
    /// Those that were read before their call was answered.
    early: Vec<u64>,
    /// The greatest number that was read.
    last_read: Option<u64>,
}

/// The inputs of one pane, and the check of its output.
#[derive(Debug)]
pub(super) struct Inputs {
    writers: HashMap<u64, Writer>,
    pub(super) checker: Checker,
    /// Whether the rest of the output is read by the thread that ends the pane; followers keep out.
    pub(super) is_audited: bool,
    /// Whether nothing more is typed, because the program is about to be told to exit.
    is_closed: bool,
}

impl Default for Inputs {
    fn default() -> Self {
        Self {
            writers: HashMap::new(),
            checker: Checker::new(),
            is_audited: false,
            is_closed: false,
        }
    }
}

impl Inputs {
    /// Nothing more is typed. What is under way may still be answered.
    pub(super) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether a call is under way.
    pub(super) fn is_busy(&self) -> bool {
        let is_asked = |track: &Writer| {
            !track.early.is_empty() || track.pending.values().any(|state| *state == State::Asked)
        };
        self.writers.values().any(is_asked)
    }

    /// The number of a writer's next input, which counts as asked from now on. None when the pane
    /// is closed.
    pub(super) fn ask(&mut self, writer: u64) -> Option<u64> {
        if self.is_closed {
            return None;
        }
        let writer = self.writers.entry(writer).or_default();
        let number = writer.next;
        writer.next += 1;
        writer.pending.insert(number, State::Asked);
        Some(number)
    }

    /// Notes the answer to an input. Returns an error when the input was read although it was
    /// refused.
    pub(super) fn answered(
        &mut self,
        writer: u64,
        n: u64,
        answer: InputAnswer,
    ) -> Result<(), String> {
        let track = self.writers.entry(writer).or_default();
        let was_read = track.early.iter().position(|read| *read == n);
        let state = match answer {
            InputAnswer::Accepted => State::Accepted,
            InputAnswer::Refused => State::Refused,
            InputAnswer::Open => State::Open,
        };
        let Some(at) = was_read else {
            track.pending.insert(n, state);
            return Ok(());
        };
        track.early.swap_remove(at);
        match state {
            State::Refused => Err(format!("input {n} of writer {writer} was refused and read")),
            _ => Ok(()),
        }
    }

    /// Takes output of a mirror; answers how many inputs it shows.
    pub(super) fn printed(&mut self, offset: u64, bytes: &[u8]) -> Result<u64, String> {
        let lines = self.checker.feed(offset, bytes)?;
        let mut count = 0;
        for line in lines.iter().filter(|line| line.kind == 'i') {
            self.read(line)?;
            count += 1;
        }
        Ok(count)
    }

    fn read(&mut self, line: &Line) -> Result<(), String> {
        let Some((writer, n)) = parse(&line.payload) else {
            let text: String = line.payload.chars().take(200).collect();
            return Err(format!("the program read what was never typed whole: {text:?}"));
        };
        let track = self.writers.entry(writer).or_default();
        let is_late = track.last_read.is_some_and(|last| n <= last);
        track.last_read = track.last_read.max(Some(n));
        match track.pending.remove(&n) {
            None => Err(format!("input {n} of writer {writer} was read twice, or never typed")),
            Some(State::Refused) => {
                Err(format!("input {n} of writer {writer} was refused and read"))
            }
            Some(State::Accepted) if is_late => {
                Err(format!("input {n} of writer {writer} was read after a later one"))
            }
            Some(State::Asked) => {
                track.early.push(n);
                Ok(())
            }
            Some(State::Accepted | State::Open) => Ok(()),
        }
    }

    /// The inputs that were accepted and not read, as a sentence; none when there are none.
    pub(super) fn missing(&self) -> Option<String> {
        let is_missing = |state: &State| *state == State::Accepted;
        let missing = self.writers.iter().flat_map(|(writer, track)| {
            let of_writer = track.pending.iter().filter(|(_, state)| is_missing(state));
            of_writer.map(move |(n, _)| format!("{n} of writer {writer}"))
        });
        let missing: Vec<String> = missing.collect();
        let first = missing.first()?;
        Some(format!("{} accepted inputs were not read, input {first} for one", missing.len()))
    }
}

/// The text of an input, with its line end.
pub(super) fn text(writer: u64, n: u64, filler: &str) -> String {
    let text = format!("w{writer} {n} {filler}");
    format!("{text} {:08x}\n", checksum(text.as_bytes()))
}

fn parse(payload: &str) -> Option<(u64, u64)> {
    let (text, sum) = payload.rsplit_once(' ')?;
    if sum != format!("{:08x}", checksum(text.as_bytes())) {
        return None;
    }
    let mut words = text.strip_prefix('w')?.splitn(3, ' ');
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads these inputs of writer 0, after calls that were answered like this.
    fn check(answers: &[InputAnswer], read: &[u64]) -> Result<(), String> {
        let mut inputs = Inputs::default();
        for answer in answers {
            let n = inputs.ask(0).unwrap();
            inputs.answered(0, n, *answer)?;
        }
        for n in read {
            let payload = text(0, *n, "filler").trim_end().to_owned();
            inputs.read(&Line { number: 0, kind: 'i', payload })?;
        }
        inputs.missing().map_or(Ok(()), Err)
    }

    use InputAnswer::{Accepted, Open, Refused};

    #[test]
    fn an_accepted_input_is_read_once_and_in_order() {
        check(&[Accepted, Accepted], &[0, 1]).unwrap();
        assert!(check(&[Accepted, Accepted], &[0]).unwrap_err().contains("not read"));
        assert!(check(&[Accepted, Accepted], &[0, 1, 1]).unwrap_err().contains("twice"));
        assert!(check(&[Accepted, Accepted], &[1, 0]).unwrap_err().contains("after a later"));
    }

    #[test]
    fn an_unanswered_input_is_read_at_most_once() {
        for read in [&[0, 1][..], &[1, 0], &[1]] {
            check(&[Open, Accepted], read).unwrap();
        }
        assert!(check(&[Open, Accepted], &[0, 1, 0]).is_err());
    }

    #[test]
    fn a_refused_input_is_never_read() {
        check(&[Refused, Accepted], &[1]).unwrap();
        assert!(check(&[Refused, Accepted], &[0, 1]).unwrap_err().contains("refused"));
    }

    #[test]
    fn an_input_may_be_read_before_its_call_is_answered() {
        for (answer, is_good) in [(Accepted, true), (Open, true), (Refused, false)] {
            let mut inputs = Inputs::default();
            let n = inputs.ask(3).unwrap();
            let payload = text(3, n, "").trim_end().to_owned();
            inputs.read(&Line { number: 0, kind: 'i', payload }).unwrap();
            assert_eq!(inputs.answered(3, n, answer).is_ok(), is_good);
            assert!(inputs.missing().is_none());
        }
    }
}
