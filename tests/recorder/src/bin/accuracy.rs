//! Prints how often the agent engine is right over all recordings: `make accuracy`. With words,
//! only the recordings whose path holds one of them; with `-v`, every recording and what was said
//! where it was wrong; with a folder that begins with `/`, the recordings there; with `--generic`,
//! only the figures of the generic profile, in detail.
//!
//! A profile in `profiles/` that is not built in yet is read from its file, so that it can be tried
//! without a build.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "it prints")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use paned_policy::agent::{ProfileLibrary, Sample};
use paned_recorder::accuracy::{Recording, Tally, all, summary, table};

/// The profile for programs that no other describes.
const GENERIC: &str = "generic";

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_generic = words.iter().any(|word| word == "--generic");
    if is_generic {
        return println!("{}", table(&judge_all(&words, Some(GENERIC))));
    }
    println!("{}", table(&judge_all(&words, None)));
    println!(
        "With every program's own profile and hooks switched off, judged by the generic profile:\n"
    );
    println!("{}", summary(&judge_all(&words, Some(GENERIC))));
}

/// Judges the recordings that are asked for, by this profile or by their own.
fn judge_all(words: &[String], profile: Option<&str>) -> BTreeMap<String, Tally> {
    let is_loud = words.iter().any(|word| word == "-v");
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/recordings");
    let folder = words.iter().find(|word| word.starts_with('/')).map_or(ours, PathBuf::from);
    let words: Vec<&String> = words.iter().filter(|it| !it.starts_with(['-', '/'])).collect();
    let library = library();
    let mut tallies: BTreeMap<String, Tally> = BTreeMap::new();
    for mut recording in all(&folder) {
        if let Some(profile) = profile {
            recording.judge_as(profile);
        }
        let name = format!("{}/{}", recording.program, recording.case);
        if !words.is_empty() && !words.iter().any(|word| name.contains(*word)) {
            continue;
        }
        if library.get(&recording.profile).is_none() {
            println!("{name}: there is no profile `{}`", recording.profile);
            continue;
        }
        let samples = recording.judge(&library);
        let tally = Tally::of(&recording, &samples);
        if is_loud {
            tell(&name, &recording, &samples, &tally);
        }
        *tallies.entry(recording.program).or_default() += &tally;
    }
    tallies
}

/// The profiles that are built in, and those in `profiles/` that are not yet.
fn library() -> ProfileLibrary {
    let embedded = ProfileLibrary::embedded();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../profiles");
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let files = paths.filter_map(|path| {
        let is_new = embedded.get(path.file_stem()?.to_str()?).is_none();
        let name = path.file_name()?.to_str()?.to_owned();
        is_new.then(|| fs::read_to_string(&path).ok().map(|text| (name, text)))?
    });
    let (library, mistakes) = ProfileLibrary::with(&files.collect::<Vec<_>>());
    for mistake in mistakes {
        println!("{}:{}: {}", mistake.file, mistake.line, mistake.sentence);
    }
    library
}

fn tell(name: &str, recording: &Recording, samples: &[Sample], tally: &Tally) {
    let (strict, graced) = tally.shares();
    let (wrong, strictly) = (tally.false_ready_graced, tally.false_ready);
    println!("{name}: {strict:.4} strict, {graced:.4} graced, false ready {wrong} ({strictly}) ms");
    if strict >= 0.98 && wrong == 0 {
        return;
    }
    let labels = recording.labels.iter();
    let truth: Vec<String> = labels.map(|it| format!("{}@{}", it.expected.word(), it.at)).collect();
    println!("  true: {}", truth.join(" "));
    let said = samples.iter().map(|it| {
        let kind = it.kind.map_or(String::new(), |kind| format!("({kind})"));
        format!("{}{kind}@{:.0}:{}", it.state, it.t * 1000.0, it.source.as_str())
    });
    println!("  said: {}", said.collect::<Vec<_>>().join(" "));
}
