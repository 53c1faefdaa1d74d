//! What it is told on its command line.

use std::path::PathBuf;
use std::time::Duration;

/// The flags, each `--name` or `--name VALUE`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    /// `--log FILE`: where prompts, answers and states are written.
    pub(crate) log: Option<PathBuf>,
    /// `--swallow-enter N`: ignores the first N Enters in the composer.
    pub(crate) swallow_enter: usize,
    /// `--redraw`: wipes and draws everything anew each second while it works.
    pub(crate) redraw: bool,
    /// `--prose-dialog`: every answer holds the words of a dialog.
    pub(crate) prose_dialog: bool,
    /// `--collapse-paste`: shows a paste of several lines as `[Pasted text #1 +11 lines]`.
    pub(crate) collapse_paste: bool,
    /// `--freeze-after N`: reads and draws nothing any more once N prompts were submitted.
    pub(crate) freeze_after: Option<usize>,
    /// `--crash-after N`: dies once N prompts were submitted, and leaves the terminal as it is.
    pub(crate) crash_after: Option<usize>,
    /// `--alt-screen`: draws on the alternate screen.
    pub(crate) alt_screen: bool,
    /// `--switch-screen`: draws on the alternate screen while it works, and on the usual one else.
    pub(crate) switch_screen: bool,
    /// `--slow-start MS`: shows `Starting…` for so long, and loses what is typed meanwhile.
    pub(crate) slow_start: Duration,
    /// `--dialog-at-start`: asks whether it may trust the folder; ends when it may not.
    pub(crate) dialog_at_start: bool,
    /// `--dialog-race N`: opens a dialog at the moment in which a paste comes, N times, and loses
    /// the paste.
    pub(crate) dialog_race: usize,
    /// `--no-title`: sets no title.
    pub(crate) no_title: bool,
    /// `--work MS`: how long it works on a prompt that gives no order; a second if nothing is said.
    pub(crate) work: Duration,
    /// `--transcript MS`: writes each answer to `transcript.jsonl` in its folder, this long after
    /// it is ready again.
    pub(crate) transcript: Option<Duration>,
    /// `--late-dialog MS`: shows its composer this long before it asks whether it may trust the
    /// folder.
    pub(crate) late_dialog: Option<Duration>,
    /// `--status`: asks whether the terminal knows OSC 7501, and reports its state by it if so.
    pub(crate) status: bool,
}

impl Flags {
    /// Reads the command line.
    pub(crate) fn read(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut flags = Self { work: Duration::from_secs(1), ..Self::default() };
        let mut args = args;
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("`{flag}` needs a value"));
            match flag.as_str() {
                "--log" => flags.log = Some(value()?.into()),
                "--swallow-enter" => flags.swallow_enter = number(&flag, &value()?)?,
                "--redraw" => flags.redraw = true,
                "--prose-dialog" => flags.prose_dialog = true,
                "--collapse-paste" => flags.collapse_paste = true,
                "--freeze-after" => flags.freeze_after = Some(number(&flag, &value()?)?),
                "--crash-after" => flags.crash_after = Some(number(&flag, &value()?)?),
                "--alt-screen" => flags.alt_screen = true,
                "--switch-screen" => flags.switch_screen = true,
                "--slow-start" => flags.slow_start = millis(&flag, &value()?)?,
                "--dialog-at-start" => flags.dialog_at_start = true,
                "--dialog-race" => flags.dialog_race = number(&flag, &value()?)?,
                "--no-title" => flags.no_title = true,
                "--work" => flags.work = millis(&flag, &value()?)?,
                "--transcript" => flags.transcript = Some(millis(&flag, &value()?)?),
                "--late-dialog" => flags.late_dialog = Some(millis(&flag, &value()?)?),
                "--status" => flags.status = true,
                other => {
                    return Err(format!(
                        "no flag `{other}`; tests/src/bin/fake-agent/flags.rs has them"
                    ));
                }
            }
        }
        Ok(flags)
    }
}

fn number(flag: &str, value: &str) -> Result<usize, String> {
    value.parse().map_err(|_| format!("`{flag}` needs a number, not `{value}`"))
}

fn millis(flag: &str, value: &str) -> Result<Duration, String> {
    number(flag, value).map(|millis| Duration::from_millis(millis as u64))
}
