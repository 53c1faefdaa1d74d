//! A git worktree for one agent: created when it starts, and removed after its exit if no work
//! would be lost.

mod git;

use std::fs;
use std::path::{Component, Path, PathBuf};

use paned_model::{Code, PaneId, Refusal};

use self::git::Git;
use super::Worktree;
use crate::Kernel;

/// A request for a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WorktreeRequest {
    /// The branch; without it, a new one with a generated name.
    pub(crate) branch: Option<String>,
    /// Where a new branch starts; without it, at `HEAD` of the folder.
    pub(crate) base: Option<String>,
}

/// The result of a cleanup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorktreeCleanup {
    /// The worktree was removed.
    Removed {
        /// Whether its branch is kept: it has new commits, was not created for the worktree, or the
        /// worktree was already gone.
        keeps_branch: bool,
    },
    /// The worktree is kept, for this reason.
    Kept(String),
}

/// Files in the git directory that show an unfinished operation.
const UNFINISHED: [&str; 6] =
    ["rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG"];

impl Worktree {
    /// Creates a worktree of the repository that contains a folder. Returns it, and the path of
    /// that folder inside it.
    pub(crate) async fn add(
        kernel: &Kernel,
        id: &PaneId,
        folder: &Path,
        wanted: WorktreeRequest,
    ) -> Result<(Self, PathBuf), Refusal> {
        let home = kernel.setup().worktrees.as_ref().ok_or_else(|| {
            Refusal::new(Code::Unavailable, "this server has no folder for worktrees")
        })?;
        let (repository, prefix) = find_repository(kernel, folder).await?;
        let here = Git::containing(kernel, folder).await?;
        let from = check_name("base", wanted.base.as_deref().unwrap_or("HEAD"))?;
        let commit = format!("{from}^{{commit}}");
        let base = here.run(&["rev-parse", "--verify", "--quiet", &commit]).await;
        let base = base.map_err(|_| {
            let sentence = format!("`{from}` is not a commit in {}", repository.display());
            Refusal::invalid(sentence)
        })?;
        let git = Git::in_repository(kernel, &repository).await?;
        let (branch, is_new) = choose_branch(&git, id, wanted.branch).await?;
        let path = free_path(home, id.as_str());
        let path_arg = path.to_string_lossy().into_owned();
        // Without a checkout: the configuration may have parts for this worktree or this branch
        // only, which name filters to run. `check_out` reads them first.
        let new = ["worktree", "add", "--quiet", "--no-checkout", "-b", &branch, &path_arg, &base];
        let old = ["worktree", "add", "--quiet", "--no-checkout", &path_arg, &branch];
        git.run(if is_new { &new } else { &old }).await?;
        let mut made = Self { path, repository, branch, base, is_new };
        if let Err(refusal) = made.check_out(kernel).await {
            let _ = git.run(&["worktree", "remove", "--force", &path_arg]).await;
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

    /// Checks the branch out.
    async fn check_out(&mut self, kernel: &Kernel) -> Result<(), Refusal> {
        let git_dir = self.git_dir().ok_or_else(|| {
            Refusal::new(Code::Conflict, "git created the worktree in an unexpected folder")
        })?;
        let git = Git::in_tree(kernel, &self.repository, &git_dir, &self.path).await?;
        git.run(&["reset", "--hard", "--quiet"]).await?;
        self.base = git.run(&["rev-parse", "HEAD"]).await?;
        Ok(())
    }

    /// Removes the worktree, unless work in it would be lost.
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
            return keep("its `.git` file was changed".to_owned());
        };
        let git = Git::in_tree(kernel, &self.repository, &git_dir, &self.path).await?;
        // Of a submodule only the commit counts: git is not run inside it.
        let ask =
            ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
        let changed = git.run(&ask).await?.lines().count();
        if 0 < changed {
            return keep(format!("it has {changed} changed or new files"));
        }
        let mut unfinished = UNFINISHED.into_iter().filter(|name| git_dir.join(name).exists());
        if let Some(unfinished) = unfinished.next() {
            return keep(format!("a git operation is in progress ({unfinished})"));
        }
        // `--all` would count the `HEAD` of the worktree itself.
        let loose = ["rev-list", "--count", "HEAD", "--not", "--branches", "--tags", "--remotes"];
        let loose = git.run(&loose).await?;
        if loose != "0" {
            return keep(format!("it has {loose} commits that are on no branch"));
        }
        let path_arg = self.path.to_string_lossy();
        let git = Git::in_repository(kernel, &self.repository).await?;
        // By force: otherwise git would check again, with the repository that the tree names.
        git.run(&["worktree", "remove", "--force", &path_arg]).await?;
        Ok(!self.drop_branch(&git).await)
    }

    /// The git directory of this worktree. `None` if its `.git` file does not point there any more:
    /// its agent may have put another repository there, whose configuration names programs to run.
    fn git_dir(&self) -> Option<PathBuf> {
        let file = self.path.join(".git");
        let found = fs::symlink_metadata(&file).ok()?;
        if !found.is_file() || 4096 < found.len() {
            return None;
        }
        let text = fs::read_to_string(&file).ok()?;
        let target = Path::new(text.strip_prefix("gitdir: ")?.trim_end());
        let name = target.file_name()?;
        let all = fs::canonicalize(self.repository.join("worktrees")).ok()?;
        let is_plain = !target.components().any(|part| part == Component::ParentDir);
        let is_ours = is_plain && fs::canonicalize(target.parent()?).ok()? == all;
        let git_dir = all.join(name);
        let is_folder = fs::symlink_metadata(&git_dir).ok()?.is_dir();
        let back = fs::read_to_string(git_dir.join("gitdir")).ok()?;
        let is_back = fs::canonicalize(back.trim_end()).ok()? == fs::canonicalize(&file).ok()?;
        (is_ours && is_folder && is_back).then_some(git_dir)
    }

    /// Removes the branch that was created for the worktree if it has no new commits; returns
    /// whether it did.
    async fn drop_branch(&self, git: &Git<'_>) -> bool {
        let name = format!("refs/heads/{}", self.branch);
        // git deletes it only if it still points to that commit, so there is no race.
        self.is_new && git.run(&["update-ref", "-d", &name, &self.base]).await.is_ok()
    }
}

/// The repository that contains a folder, and the path of the folder in it. The repository is named
/// by its common git directory, because any worktree may be removed.
async fn find_repository(kernel: &Kernel, folder: &Path) -> Result<(PathBuf, String), Refusal> {
    let ask = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--show-prefix"];
    let found = async { Git::containing(kernel, folder).await?.run(&ask).await };
    let found = found.await.map_err(|refusal| match refusal.code {
        Code::Conflict => Refusal::invalid(format!(
            "`worktree` requires a `cwd` in a git repository; {} is not in one",
            folder.display()
        )),
        _ => refusal,
    })?;
    let mut lines = found.lines();
    let common = lines.next().unwrap_or_default();
    Ok((PathBuf::from(common), lines.next().unwrap_or_default().to_owned()))
}

/// The branch, and whether it must be created.
async fn choose_branch(
    git: &Git<'_>,
    id: &PaneId,
    wanted: Option<String>,
) -> Result<(String, bool), Refusal> {
    if let Some(branch) = wanted {
        check_name("branch", &branch)?;
        if git.run(&["check-ref-format", "--branch", &branch]).await.is_err() {
            let branch = branch.escape_debug();
            return Err(Refusal::invalid(format!("invalid branch name `{branch}`")));
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
    Err(Refusal::new(Code::Conflict, format!("too many branches named `paned/{id}`")))
}

async fn is_branch(git: &Git<'_>, name: &str) -> bool {
    let name = format!("refs/heads/{name}");
    git.run(&["show-ref", "--verify", "--quiet", &name]).await.is_ok()
}

/// Refuses a name that git would take for an option.
fn check_name<'a>(field: &str, name: &'a str) -> Result<&'a str, Refusal> {
    if name.is_empty() || name.starts_with('-') || name.contains(char::is_control) {
        let name = name.escape_debug();
        return Err(Refusal::invalid(format!("`worktree.{field}`: invalid git name `{name}`")));
    }
    Ok(name)
}

/// A path that does not exist.
fn free_path(home: &Path, id: &str) -> PathBuf {
    let paths = std::iter::once(home.join(id));
    let mut paths = paths.chain((2..).map(|n| home.join(format!("{id}-{n}"))));
    paths.find(|path| !path.exists()).unwrap_or_else(|| home.join(id))
}
