//! A git worktree of an agent's own: made when it starts, and removed when it has ended and nothing would be
//! lost.

use std::fs;
use std::path::{Component, Path, PathBuf};

use paned_model::{Code, PaneId, Refusal};
use serde::{Deserialize, Serialize};

use super::git::Git;
use crate::Kernel;

/// A worktree that was made for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Worktree {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// The repository it belongs to.
    pub(crate) repository: PathBuf,
    /// The branch that is checked out there.
    pub(crate) branch: String,
    /// The commit it began at.
    pub(crate) base: String,
    /// Whether the branch was made for it.
    pub(crate) is_new: bool,
}

/// What is wanted of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorktreeRequest {
    /// The branch; a new one is made up when left out.
    pub(crate) branch: Option<String>,
    /// Where a new branch begins; where the folder is now when left out.
    pub(crate) base: Option<String>,
}

/// What became of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorktreeCleanup {
    /// It is gone; whether its branch is kept, because there are commits on it.
    Removed {
        /// Whether there are commits on its branch.
        keeps_branch: bool,
    },
    /// It is still there, for this reason.
    Kept(String),
}

/// What git has not finished in a worktree, by the file that says so.
const UNFINISHED: [&str; 6] =
    ["rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"];

impl Worktree {
    /// Makes one of the repository that a folder is in. Answers it, and the same folder there.
    pub(crate) async fn add(
        kernel: &Kernel,
        id: &PaneId,
        folder: &Path,
        wanted: WorktreeRequest,
    ) -> Result<(Self, PathBuf), Refusal> {
        let home = kernel.setup().worktrees.as_ref().ok_or_else(|| {
            Refusal::new(Code::Unavailable, "this server was set up without a place for worktrees")
        })?;
        let (repository, prefix) = find_repository(kernel, folder).await?;
        let here = Git::containing(kernel, folder).await?;
        let from = check_name("base", wanted.base.as_deref().unwrap_or("HEAD"))?;
        let commit = format!("{from}^{{commit}}");
        let base = here.run(&["rev-parse", "--verify", "--quiet", &commit]).await;
        let base = base.map_err(|_| {
            let sentence = format!("`{from}` is no commit of {}", repository.display());
            Refusal::invalid(sentence)
        })?;
        let git = Git::in_repository(kernel, &repository).await?;
        let (branch, is_new) = choose_branch(&git, id, wanted.branch).await?;
        let path = free_path(home, id.as_str());
        let place = path.to_string_lossy().into_owned();
        // Without a checkout: the configuration may have parts that hold only in this worktree or on this branch, and
        // name filters to run. They are read first.
        let new = ["worktree", "add", "--quiet", "--no-checkout", "-b", &branch, &place, &base];
        let old = ["worktree", "add", "--quiet", "--no-checkout", &place, &branch];
        git.run(if is_new { &new } else { &old }).await?;
        let mut made = Self { path, repository, branch, base, is_new };
        if let Err(refusal) = made.check_out(kernel).await {
            let _ = git.run(&["worktree", "remove", "--force", &place]).await;
            made.drop_branch(&git).await;
            return Err(refusal);
        }
        let prefix = prefix.trim_end_matches('/');
        let folder = match prefix.is_empty() {
            true => made.path.clone(),
            false => made.path.join(prefix),
        };
        Ok((made, folder))
    }

    /// Fills it with the files of its branch.
    async fn check_out(&mut self, kernel: &Kernel) -> Result<(), Refusal> {
        let git_dir = self.git_dir().ok_or_else(|| {
            Refusal::new(Code::Conflict, "git made the worktree in another place than it was told")
        })?;
        let git = Git::in_tree(kernel, &self.repository, &git_dir, &self.path).await?;
        git.run(&["reset", "--hard", "--quiet"]).await?;
        self.base = git.run(&["rev-parse", "HEAD"]).await?;
        Ok(())
    }

    /// Removes it, unless something in it would be lost.
    pub(crate) async fn cleanup(&self, kernel: &Kernel) -> WorktreeCleanup {
        if !self.path.exists() {
            if let Ok(git) = Git::in_repository(kernel, &self.repository).await {
                let _ = git.run(&["worktree", "prune"]).await;
            }
            return WorktreeCleanup::Removed { keeps_branch: true };
        }
        match self.remove(kernel).await {
            Ok(keeps_branch) => WorktreeCleanup::Removed { keeps_branch },
            Err(refusal) => WorktreeCleanup::Kept(refusal.sentence),
        }
    }

    async fn remove(&self, kernel: &Kernel) -> Result<bool, Refusal> {
        let keep = |why: String| Err(Refusal::new(Code::Conflict, why));
        let Some(git_dir) = self.git_dir() else {
            return keep("its `.git` is not the one that it was made with".to_owned());
        };
        let git = Git::in_tree(kernel, &self.repository, &git_dir, &self.path).await?;
        // Of what is in a submodule only the commit counts: git is not run in there.
        let ask =
            ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
        let changed = git.run(&ask).await?.lines().count();
        if 0 < changed {
            return keep(format!("{changed} files in it are changed or new"));
        }
        let mut unfinished = UNFINISHED.into_iter().filter(|name| git_dir.join(name).exists());
        if let Some(unfinished) = unfinished.next() {
            return keep(format!("git has not finished there ({unfinished})"));
        }
        // `--all` would count the very place that goes.
        let loose = ["rev-list", "--count", "HEAD", "--not", "--branches", "--tags", "--remotes"];
        let loose = git.run(&loose).await?;
        if loose != "0" {
            return keep(format!("{loose} commits in it are on no branch"));
        }
        let place = self.path.to_string_lossy();
        let git = Git::in_repository(kernel, &self.repository).await?;
        // By force, because otherwise git would look again, and believe the tree where its repository is.
        git.run(&["worktree", "remove", "--force", &place]).await?;
        Ok(!self.drop_branch(&git).await)
    }

    /// Where the repository keeps what it knows of this worktree. `None` if the worktree does not say so any more: its agent
    /// may have put another repository there, whose configuration names programs to run.
    fn git_dir(&self) -> Option<PathBuf> {
        let file = self.path.join(".git");
        let found = fs::symlink_metadata(&file).ok()?;
        if !found.is_file() || 4096 < found.len() {
            return None;
        }
        let text = fs::read_to_string(&file).ok()?;
        let said = Path::new(text.strip_prefix("gitdir: ")?.trim_end());
        let name = said.file_name()?;
        let all = fs::canonicalize(self.repository.join("worktrees")).ok()?;
        let is_plain = !said.components().any(|part| part == Component::ParentDir);
        let is_ours = is_plain && fs::canonicalize(said.parent()?).ok()? == all;
        let git_dir = all.join(name);
        let is_folder = fs::symlink_metadata(&git_dir).ok()?.is_dir();
        let back = fs::read_to_string(git_dir.join("gitdir")).ok()?;
        let is_back = fs::canonicalize(back.trim_end()).ok()? == fs::canonicalize(&file).ok()?;
        (is_ours && is_folder && is_back).then_some(git_dir)
    }

    /// Removes the branch that was made for it if it is where it began; whether it did.
    async fn drop_branch(&self, git: &Git<'_>) -> bool {
        let name = format!("refs/heads/{}", self.branch);
        // Only from that very commit, whatever happens meanwhile.
        self.is_new && git.run(&["update-ref", "-d", &name, &self.base]).await.is_ok()
    }
}

/// The repository that a folder is in, and where in it. It is named by what all its worktrees share: any one of
/// them may go.
async fn find_repository(kernel: &Kernel, folder: &Path) -> Result<(PathBuf, String), Refusal> {
    let ask = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix"];
    let found = async { Git::containing(kernel, folder).await?.run(&ask).await };
    let found = found.await.map_err(|refusal| match refusal.code {
        Code::Conflict => Refusal::invalid(format!(
            "`worktree` needs `cwd` to be in a git repository; {} is not",
            folder.display()
        )),
        _ => refusal,
    })?;
    let mut lines = found.lines();
    let common = lines.next().unwrap_or_default();
    Ok((PathBuf::from(common), lines.next().unwrap_or_default().to_owned()))
}

/// The branch, and whether it is to be made.
async fn choose_branch(
    git: &Git<'_>,
    id: &PaneId,
    wanted: Option<String>,
) -> Result<(String, bool), Refusal> {
    if let Some(branch) = wanted {
        check_name("branch", &branch)?;
        if git.run(&["check-ref-format", "--branch", &branch]).await.is_err() {
            let branch = branch.escape_debug();
            return Err(Refusal::invalid(format!("`{branch}` is no name for a branch")));
        }
        let is_new = !is_branch(git, &branch).await;
        return Ok((branch, is_new));
    }
    let names = std::iter::once(format!("paned/{id}"));
    let names = names.chain((2..).map(|n| format!("paned/{id}-{n}")));
    for name in names.take(1000) {
        if !is_branch(git, &name).await {
            return Ok((name, true));
        }
    }
    Err(Refusal::new(Code::Conflict, format!("there are too many branches `paned/{id}`")))
}

async fn is_branch(git: &Git<'_>, name: &str) -> bool {
    let name = format!("refs/heads/{name}");
    git.run(&["show-ref", "--verify", "--quiet", &name]).await.is_ok()
}

/// A name that git does not take for an option.
fn check_name<'a>(field: &str, name: &'a str) -> Result<&'a str, Refusal> {
    if name.is_empty() || name.starts_with('-') || name.contains(char::is_control) {
        let name = name.escape_debug();
        return Err(Refusal::invalid(format!("`worktree.{field}`: `{name}` is no name in git")));
    }
    Ok(name)
}

/// A place that nobody has.
fn free_path(home: &Path, id: &str) -> PathBuf {
    let places = std::iter::once(home.join(id));
    let mut places = places.chain((2..).map(|n| home.join(format!("{id}-{n}"))));
    places.find(|place| !place.exists()).unwrap_or_else(|| home.join(id))
}
