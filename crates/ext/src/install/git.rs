//! Fetching a git repository without ever checking it out.
//!
//! git fetches into a bare repository, and lists and prints what is in it; the files are written
//! here. So nothing of the repository is run or followed: no hooks, no filters, no submodules, no
//! links, no paths that git would have to refuse. The user's git configuration is used, because
//! private repositories need its credential helpers and proxies; what in it could run something for
//! a fetch is turned off on the command line. The server's own environment is not passed on.

mod command;

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use paned_model::{Code, Refusal};

use super::run_blocking;
use super::source::GitSource;
use super::staging::Staging;
use super::tree::{
    LeftOut, MOST_BYTES, MOST_FILES, SUBMODULE, SYMLINK, TreeBudget, check_path, make_dir,
    not_written, too_large, write_new_file,
};
use command::GitCommand;

const FETCH_TIMEOUT: Duration = Duration::from_secs(120);
const READ_TIMEOUT: Duration = Duration::from_secs(60);
/// The largest list of files that is read.
const LARGEST_LIST: u64 = 32 << 20;
/// A line before each file.
const HEADS: u64 = MOST_FILES as u64 * 128;

/// A file of the repository.
#[derive(Debug, PartialEq, Eq)]
struct TreeFile {
    path: PathBuf,
    is_executable: bool,
    object: String,
    size: u64,
}

/// Fetches the repository and writes its files into the staging folder.
pub(super) async fn fetch(source: &GitSource, staging: &Staging) -> Result<LeftOut, Refusal> {
    let repository = staging.path("repository");
    let git = |args: &[&str]| GitCommand::new(staging, args);
    let folder = repository.to_string_lossy().into_owned();
    git(&["init", "--quiet", "--bare", "--template=", "--", &folder]).run(READ_TIMEOUT).await?;
    let git_dir = format!("--git-dir={folder}");
    let rev = source.rev.as_deref().unwrap_or("HEAD");
    let fetch = git(&[
        &git_dir,
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-auto-maintenance",
        "--no-write-commit-graph",
        "--",
        &source.url,
        rev,
    ]);
    let fetched = fetch.largest_file(MOST_BYTES).run(FETCH_TIMEOUT).await;
    fetched.map_err(|refusal| explain(refusal, source))?;
    let list = staging.path("list");
    let listed = git(&[&git_dir, "ls-tree", "-r", "-l", "-z", "--full-tree", "FETCH_HEAD"]);
    let listed = listed.output(&list).largest_file(LARGEST_LIST).run(READ_TIMEOUT).await;
    let is_cut = fs::metadata(&list).is_ok_and(|list| LARGEST_LIST / 2 <= list.len());
    if is_cut {
        return Err(too_many());
    }
    listed?;
    let (files, left_out) = run_blocking(move || read_list(&list)).await?;
    let objects = staging.path("objects");
    write_objects(&objects, &files)?;
    let contents = staging.path("contents");
    let print = git(&[&git_dir, "cat-file", "--batch"]).input(&objects).output(&contents);
    print.largest_file(MOST_BYTES + HEADS).run(READ_TIMEOUT).await?;
    let target = staging.new_folder();
    run_blocking(move || write_tree(&files, &contents, &target)).await?;
    Ok(left_out)
}

/// What users can do about the usual failures of git.
fn explain(refusal: Refusal, source: &GitSource) -> Refusal {
    let says = |words: &str| refusal.sentence.contains(words);
    let (code, hint) = if says("terminal prompts disabled") || says("Permission denied") {
        let hint = "the server cannot ask for a password: give git a credential helper or an ssh \
                    agent, or clone it yourself and install that folder";
        (Code::Invalid, hint)
    } else if says("Host key verification failed") {
        (Code::Invalid, "connect to that host once with ssh to accept its key")
    } else if says("couldn't find remote ref") && source.rev.is_some() {
        (Code::NotFound, "there is no such branch or tag")
    } else if says("couldn't find remote ref HEAD") {
        (Code::Invalid, "the repository is empty")
    } else if says("not found") || says("does not appear to be a git repository") {
        (Code::NotFound, "check the address")
    } else {
        return refusal;
    };
    Refusal::new(code, format!("{}; {hint}", refusal.sentence))
}

fn too_many() -> Refusal {
    let sentence = format!("the extension was not installed: it has more than {MOST_FILES} files");
    Refusal::new(Code::Limit, sentence)
}

/// The files of the repository, checked.
fn read_list(list: &Path) -> Result<(Vec<TreeFile>, LeftOut), Refusal> {
    let bytes = fs::read(list).map_err(|error| not_written(list, &error))?;
    let mut files = Vec::new();
    let mut left_out = LeftOut::default();
    let mut budget = TreeBudget::new();
    for line in bytes.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
        budget.entry()?;
        let (head, path) = split_line(line).ok_or_else(unreadable)?;
        let path = check_path(path)?;
        match head[..] {
            ["120000", ..] => left_out.add(SYMLINK, &path),
            ["160000", ..] => left_out.add(SUBMODULE, &path),
            [mode, "blob", object, size] if mode.starts_with("100") => {
                let size = size.parse().map_err(|_| unreadable())?;
                budget.bytes(size)?;
                let is_executable = mode == "100755";
                files.push(TreeFile { path, is_executable, object: object.to_owned(), size });
            }
            _ => return Err(unreadable()),
        }
    }
    Ok((files, left_out))
}

/// `MODE TYPE OBJECT SIZE<tab>PATH`.
fn split_line(line: &[u8]) -> Option<(Vec<&str>, &[u8])> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let head = str::from_utf8(&line[..tab]).ok()?;
    Some((head.split_ascii_whitespace().collect(), &line[tab + 1..]))
}

fn unreadable() -> Refusal {
    Refusal::invalid("the repository is damaged: git lists a file in an unknown form")
}

fn write_objects(path: &Path, files: &[TreeFile]) -> Result<(), Refusal> {
    let text: String = files.iter().map(|file| format!("{}\n", file.object)).collect();
    fs::write(path, text).map_err(|error| not_written(path, &error))
}

/// Writes the files from what git printed of them, one after the other.
fn write_tree(files: &[TreeFile], contents: &Path, target: &Path) -> Result<(), Refusal> {
    let mut contents =
        BufReader::new(File::open(contents).map_err(|error| not_written(contents, &error))?);
    make_dir(target).map_err(|error| not_written(target, &error))?;
    for file in files {
        let expect = format!("{} blob {}\n", file.object, file.size);
        let mut head = String::new();
        let read = contents.by_ref().take(256).read_line(&mut head);
        if read.is_err() || head != expect {
            return Err(unreadable());
        }
        let written = write_file(file, target, &mut contents);
        let written = written.map_err(|error| clash(file, &error))?;
        let mut newline = [0];
        let ended = contents.read_exact(&mut newline);
        if written != file.size || ended.is_err() || newline != *b"\n" {
            return Err(too_large());
        }
    }
    Ok(())
}

fn write_file(file: &TreeFile, target: &Path, contents: &mut impl io::Read) -> io::Result<u64> {
    let mut folder = target.to_owned();
    for part in file.path.parent().into_iter().flatten() {
        folder.push(part);
        match make_dir(&folder) {
            // Nothing here is a link, so that this is a folder or the next step fails.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    let path = target.join(&file.path);
    write_new_file(&path, file.is_executable, &mut contents.take(file.size))
}

/// Two entries of one name, which git would not write either.
fn clash(file: &TreeFile, error: &io::Error) -> Refusal {
    let path = file.path.display().to_string();
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => Refusal::invalid(format!(
            "the repository has two entries `{}`, at least on this file system",
            path.escape_debug()
        )),
        _ => not_written(&file.path, error),
    }
}
