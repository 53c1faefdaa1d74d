//! Hostile and good sources, with the real git. Each source may touch a canary file if anything of
//! it is run, and there is a file beside the extensions folder that must stay as it is.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use paned_kernel::extensions::InstallRequest;
use paned_model::Code;
use tempfile::TempDir;

use super::*;

const MANIFEST: &str = "name = 'guard'\ncommand = ['python3', 'main.py']\n";

/// A folder with a repository, an extensions folder, and files that nothing may touch.
struct Workbench {
    dir: TempDir,
}

impl Workbench {
    fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.path("repo")).unwrap();
        fs::write(bench.path("untouched"), "untouched").unwrap();
        bench.git(&["init", "--quiet", "--initial-branch=main"]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn canary(&self) -> String {
        self.path("canary").display().to_string()
    }

    /// Runs git in the repository. Returns what it printed.
    #[track_caller]
    fn git(&self, args: &[&str]) -> String {
        self.git_with_input(args, b"")
    }

    #[track_caller]
    fn git_with_input(&self, args: &[&str], input: &[u8]) -> String {
        let mut git = Command::new("git");
        git.current_dir(self.path("repo")).args(args).stdin(Stdio::piped()).stdout(Stdio::piped());
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for who in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@t");
        }
        let mut child = git.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "git {args:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path("repo").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "--all", "--force"]);
        self.git(&["commit", "--quiet", "--message=x"]);
    }

    /// The object of a file with this text.
    fn blob(&self, text: &str) -> String {
        self.git_with_input(&["hash-object", "-w", "--stdin"], text.as_bytes())
    }

    /// A tree of these raw entries, which git would not make by itself.
    fn tree(&self, entries: &[(&str, &str, &str)]) -> String {
        let mut bytes = Vec::new();
        for (mode, name, object) in entries {
            bytes.extend(format!("{mode} {name}\0").as_bytes());
            let hex = |at: usize| u8::from_str_radix(&object[at..at + 2], 16).unwrap();
            bytes.extend((0..object.len()).step_by(2).map(hex));
        }
        let args = ["hash-object", "-w", "-t", "tree", "--literally", "--stdin"];
        self.git_with_input(&args, &bytes)
    }

    /// Makes a tree the head of `main`.
    fn commit_tree(&self, tree: &str) {
        let commit = self.git(&["commit-tree", "-m", "x", tree]);
        self.git(&["update-ref", "refs/heads/main", &commit]);
    }

    fn url(&self) -> String {
        format!("file://{}", self.path("repo").display())
    }

    fn request(source: &str) -> InstallRequest {
        InstallRequest { source: source.to_owned(), name: None, rev: None, replace: false }
    }

    async fn install(&self, request: InstallRequest) -> Result<InstalledExtension, Refusal> {
        let extensions = self.path("extensions");
        let fetched = fetch(&extensions, request).await?;
        fetched.place(&extensions, &Scan::read(&extensions)?)
    }

    async fn install_git(&self) -> Result<InstalledExtension, Refusal> {
        self.install(Self::request(&self.url())).await
    }

    async fn install_folder(&self) -> Result<InstalledExtension, Refusal> {
        self.install(Self::request(&self.path("repo").display().to_string())).await
    }

    /// Every path below the extensions folder.
    fn installed(&self) -> Vec<String> {
        let root = self.path("extensions");
        let mut paths = Vec::new();
        list(&root, &root, &mut paths);
        paths.sort();
        paths
    }

    /// Nothing was run, nothing outside was changed, no staging folder is left.
    #[track_caller]
    fn check_clean(&self, installed: &[&str]) {
        assert_eq!(self.installed(), installed);
        assert!(!self.path("canary").exists(), "something was run");
        assert_eq!(fs::read_to_string(self.path("untouched")).unwrap(), "untouched");
        let mut outside: Vec<_> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        outside.retain(|name| !matches!(name.as_str(), "extensions" | "repo" | "untouched"));
        assert!(outside.is_empty(), "{outside:?}");
    }

    /// The source is refused with these words, and nothing is left.
    #[track_caller]
    fn check_refused<T>(&self, result: Result<T, Refusal>, code: Code, words: &str) {
        let Err(refusal) = result else { panic!("it was installed") };
        assert_eq!(refusal.code, code, "{refusal}");
        assert!(refusal.sentence.contains(words), "{refusal}");
        assert!(!refusal.sentence.contains(".paned-staging"), "{refusal}");
        self.check_clean(&[]);
    }
}

fn list(root: &Path, folder: &Path, into: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let is_dir = fs::symlink_metadata(&path).unwrap().is_dir();
        into.push(path.strip_prefix(root).unwrap().display().to_string());
        if is_dir {
            list(root, &path, into);
        }
    }
}

#[tokio::test]
async fn a_repository_is_installed_without_its_history() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    bench.write("src/main.py", "print()");
    bench.write("run", "#!/bin/sh");
    let run = bench.path("repo/run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    bench.commit();
    assert_eq!(bench.install_git().await.unwrap().name, "guard");
    bench.check_clean(&[
        "guard",
        "guard/paned.toml",
        "guard/run",
        "guard/src",
        "guard/src/main.py",
    ]);
    let mode = |path: &str| {
        fs::metadata(bench.path("extensions/guard").join(path)).unwrap().permissions().mode()
            & 0o777
    };
    assert_eq!(mode("run") & 0o755, 0o755);
    assert_eq!(mode("run") & 0o022, 0);
    assert_eq!(mode("src/main.py") & 0o111, 0);
}

#[tokio::test]
async fn a_branch_a_tag_and_a_commit_can_be_chosen() {
    let bench = Workbench::new();
    for version in ["1", "2", "3"] {
        bench.write("paned.toml", &format!("{MANIFEST}version = '{version}'"));
        bench.commit();
        bench.git(&["tag", &format!("v{version}")]);
    }
    bench.git(&["branch", "old/one", "v1"]);
    bench.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let commit = bench.git(&["rev-parse", "v2"]);
    for (rev, version) in [("v2", "2"), ("old/one", "1"), ("main", "3"), (commit.as_str(), "2")] {
        let request = Workbench::request(&format!("{}#{rev}", bench.url()));
        bench.install(InstallRequest { replace: true, ..request }).await.unwrap();
        let manifest = Manifest::read(&bench.path("extensions/guard")).unwrap().unwrap();
        assert_eq!(manifest.version.as_deref(), Some(version), "{rev}");
    }
    let request = Workbench::request(&format!("{}#v9", bench.url()));
    let refusal = bench.install(request).await.err().unwrap();
    assert_eq!(refusal.code, Code::NotFound);
    assert!(refusal.sentence.contains("no such branch or tag"), "{refusal}");
}

#[tokio::test]
async fn an_installed_extension_is_replaced_only_on_demand() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    bench.commit();
    bench.install_git().await.unwrap();
    fs::write(bench.path("extensions/guard/mine"), "").unwrap();
    let refusal = bench.install_git().await.err().unwrap();
    assert_eq!(refusal.code, Code::Conflict);
    assert!(refusal.sentence.contains("pass `replace`"), "{refusal}");
    bench.check_clean(&["guard", "guard/mine", "guard/paned.toml"]);
    let request = InstallRequest { replace: true, ..Workbench::request(&bench.url()) };
    bench.install(request).await.unwrap();
    bench.check_clean(&["guard", "guard/paned.toml"]);
}

#[tokio::test]
async fn a_failed_replacement_leaves_the_old_one() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    bench.commit();
    bench.install_git().await.unwrap();
    bench.write("paned.toml", "name = 'guard'\ncommand = []");
    bench.commit();
    let request = InstallRequest { replace: true, ..Workbench::request(&bench.url()) };
    assert!(bench.install(request).await.is_err());
    bench.check_clean(&["guard", "guard/paned.toml"]);
    assert_eq!(fs::read_to_string(bench.path("extensions/guard/paned.toml")).unwrap(), MANIFEST);
}

#[tokio::test]
async fn symbolic_links_of_a_repository_are_left_out() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    symlink("/etc", bench.path("repo/etc")).unwrap();
    symlink("../../untouched", bench.path("repo/up")).unwrap();
    bench.commit();
    let installed = bench.install_git().await.unwrap();
    assert_eq!(installed.left_out, ["symbolic links: etc, up"]);
    bench.check_clean(&["guard", "guard/paned.toml"]);
}

#[tokio::test]
async fn a_file_through_a_link_of_the_same_name_is_refused_or_stays_inside() {
    let bench = Workbench::new();
    let manifest = bench.blob(MANIFEST);
    let target = bench.blob("../..");
    let evil = bench.blob("evil");
    let folder = bench.tree(&[("100644", "untouched", &evil)]);
    let tree = bench.tree(&[
        ("120000", "a", &target),
        ("40000", "a", &folder),
        ("100644", "paned.toml", &manifest),
    ]);
    bench.commit_tree(&tree);
    bench.install_git().await.unwrap();
    // The link is never made, so that the folder is a folder.
    bench.check_clean(&["guard", "guard/a", "guard/a/untouched", "guard/paned.toml"]);
}

#[tokio::test]
async fn names_that_leave_the_folder_are_refused() {
    for name in ["..", ".", ".git", ".GIT", "a/b", "a\\..\\b\x01"] {
        let bench = Workbench::new();
        let manifest = bench.blob(MANIFEST);
        let evil = bench.blob("evil");
        let inner = bench.tree(&[("100644", "untouched", &evil)]);
        let tree = bench.tree(&[("40000", name, &inner), ("100644", "paned.toml", &manifest)]);
        bench.commit_tree(&tree);
        let installed = bench.install_git().await;
        if name == "a/b" {
            // git lists this name as a path, which is inside.
            bench.check_clean(&installed.map_or(vec![], |_| {
                vec!["guard", "guard/a", "guard/a/b", "guard/a/b/untouched", "guard/paned.toml"]
            }));
        } else {
            bench.check_refused(installed, Code::Invalid, "");
        }
    }
}

#[tokio::test]
async fn a_manifest_with_a_name_that_leaves_the_folder_is_refused() {
    let bench = Workbench::new();
    bench.write("paned.toml", "name = '../../evil'\ncommand = ['x']");
    bench.commit();
    let installed = bench.install_git().await;
    bench.check_refused(installed, Code::Invalid, "paned.toml: invalid extension name");
    let installed = bench.install_folder().await;
    bench.check_refused(installed, Code::Invalid, "invalid extension name");
}

#[tokio::test]
async fn a_package_with_a_name_that_leaves_the_folder_gets_that_of_the_repository() {
    let bench = Workbench::new();
    bench.write("package.json", r#"{ "name": "../../evil/..", "main": "index.js" }"#);
    bench.write("index.js", "");
    bench.commit();
    assert_eq!(bench.install_git().await.unwrap().name, "repo");
    bench.check_clean(&["repo", "repo/index.js", "repo/package.json"]);
}

#[tokio::test]
async fn hooks_filters_scripts_and_submodules_do_not_run() {
    let bench = Workbench::new();
    let touch = format!("touch {}", bench.canary());
    bench.write("paned.toml", MANIFEST);
    let package = format!(r#"{{ "name": "x", "scripts": {{ "postinstall": "{touch}" }} }}"#);
    bench.write("package.json", &package);
    bench.write(".gitattributes", "* filter=evil diff=evil\n");
    bench.write(".gitmodules", "[submodule \"s\"]\npath = s\nurl = ext::sh -c false\n");
    bench.commit();
    let head = bench.git(&["rev-parse", "HEAD"]);
    bench.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{head},s")]);
    bench.git(&["commit", "--quiet", "--message=submodule"]);
    // The configuration and the hooks of a repository on this machine are as hostile as its files.
    bench.git(&["config", "filter.evil.smudge", &touch]);
    bench.git(&["config", "filter.evil.process", &touch]);
    bench.git(&["config", "core.fsmonitor", &touch]);
    bench.git(&["config", "core.sshCommand", &touch]);
    bench.git(&["config", "uploadpack.packObjectsHook", &touch]);
    for hook in ["post-checkout", "post-upload-pack", "pre-upload-pack", "reference-transaction"] {
        let path = bench.path("repo/.git/hooks").join(hook);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\n{touch}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let installed = bench.install_git().await.unwrap();
    assert_eq!(installed.left_out, ["git submodules: s"]);
    let files = [".gitattributes", ".gitmodules", "package.json", "paned.toml"];
    let paths: Vec<String> = files.iter().map(|file| format!("guard/{file}")).collect();
    let paths: Vec<&str> =
        std::iter::once("guard").chain(paths.iter().map(AsRef::as_ref)).collect();
    bench.check_clean(&paths);
}

#[tokio::test]
async fn addresses_that_are_options_or_commands_run_nothing() {
    let bench = Workbench::new();
    let canary = bench.canary();
    for source in [
        format!("--upload-pack=touch {canary}"),
        format!("-u touch {canary}"),
        format!("ext::sh -c touch% {canary}"),
        format!("ssh://-oProxyCommand=touch%20{canary}/x"),
        format!("git@-oProxyCommand=touch:{canary}"),
        format!("file://{}#--upload-pack=touch {canary}", bench.path("repo").display()),
    ] {
        let installed = bench.install(Workbench::request(&source)).await;
        bench.check_refused(installed, Code::Invalid, "");
    }
}

#[tokio::test]
async fn too_many_files_are_refused_before_they_are_written() {
    let bench = Workbench::new();
    let blob = bench.blob("x");
    let names: Vec<String> = (0..150).map(|n| format!("{n:03}")).collect();
    let rows: Vec<_> = names.iter().map(|name| ("100644", name.as_str(), blob.as_str())).collect();
    let mut tree = bench.tree(&rows);
    // A few objects that are millions of files.
    for _ in 0..2 {
        let rows: Vec<_> =
            names.iter().map(|name| ("40000", name.as_str(), tree.as_str())).collect();
        tree = bench.tree(&rows);
    }
    bench.commit_tree(&tree);
    let installed = bench.install_git().await;
    bench.check_refused(installed, Code::Limit, "more than 20000 files");
}

#[tokio::test]
async fn two_entries_of_one_name_are_refused() {
    let bench = Workbench::new();
    let manifest = bench.blob(MANIFEST);
    let other = bench.blob("other");
    let tree = bench.tree(&[
        ("100644", "a", &other),
        ("100644", "a", &manifest),
        ("100644", "paned.toml", &manifest),
    ]);
    bench.commit_tree(&tree);
    let installed = bench.install_git().await;
    bench.check_refused(installed, Code::Invalid, "two entries `a`");
}

#[tokio::test]
async fn what_is_not_there_or_not_an_extension_is_refused() {
    let bench = Workbench::new();
    let installed = bench.install_git().await;
    bench.check_refused(installed, Code::Invalid, "the repository is empty");
    bench.write("README", "");
    bench.commit();
    let installed = bench.install_git().await;
    bench.check_refused(installed, Code::Invalid, "is not an extension");
    let installed = bench.install(Workbench::request("file:///nowhere/at/all")).await;
    bench.check_refused(installed, Code::NotFound, "check the address");
    let installed = bench.install(Workbench::request("/nowhere/at/all")).await;
    bench.check_refused(installed, Code::NotFound, "/nowhere/at/all");
    bench.write("paned.toml", MANIFEST);
    bench.commit();
    let request = Workbench::request(&bench.url());
    let installed = bench.install(InstallRequest { name: Some("other".into()), ..request }).await;
    bench.check_refused(installed, Code::Invalid, "is called `guard`");
}

#[tokio::test]
async fn a_local_folder_is_copied_without_what_could_do_harm() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    bench.write("node_modules/tool/bin.js", "");
    bench.write("tool", "");
    let repo = bench.path("repo");
    fs::set_permissions(repo.join("tool"), fs::Permissions::from_mode(0o6777)).unwrap();
    fs::create_dir(repo.join("node_modules/.bin")).unwrap();
    symlink("../tool/bin.js", repo.join("node_modules/.bin/tool")).unwrap();
    symlink("/etc", repo.join("etc")).unwrap();
    symlink("../../untouched", repo.join("node_modules/up")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, repo.join("fifo"), fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(repo.join("socket")).unwrap();
    let installed = bench.install_folder().await.unwrap();
    let left_out = installed.left_out;
    assert_eq!(left_out.len(), 2, "{left_out:?}");
    assert!(left_out[0].starts_with("special files: "), "{left_out:?}");
    assert!(left_out[1].starts_with("symbolic links that lead outside: "), "{left_out:?}");
    bench.check_clean(&[
        "guard",
        "guard/node_modules",
        "guard/node_modules/.bin",
        "guard/node_modules/.bin/tool",
        "guard/node_modules/tool",
        "guard/node_modules/tool/bin.js",
        "guard/paned.toml",
        "guard/tool",
    ]);
    let tool = fs::metadata(bench.path("extensions/guard/tool")).unwrap();
    assert_eq!(tool.permissions().mode() & 0o7022, 0);
    let link = fs::read_link(bench.path("extensions/guard/node_modules/.bin/tool")).unwrap();
    assert_eq!(link, Path::new("../tool/bin.js"));
}

#[tokio::test]
async fn a_large_local_folder_is_refused() {
    let bench = Workbench::new();
    bench.write("paned.toml", MANIFEST);
    let file = File::create(bench.path("repo/large")).unwrap();
    file.set_len(600 << 20).unwrap();
    let installed = bench.install_folder().await;
    bench.check_refused(installed, Code::Limit, "larger than 512 MiB");
    fs::remove_file(bench.path("repo/large")).unwrap();
    fs::create_dir(bench.path("repo/many")).unwrap();
    for n in 0..tree::MOST_FILES {
        File::create(bench.path(&format!("repo/many/{n}"))).unwrap();
    }
    let installed = bench.install_folder().await;
    bench.check_refused(installed, Code::Limit, "more than 20000 files");
}

#[tokio::test]
async fn a_folder_around_the_extensions_folder_is_refused() {
    let bench = Workbench::new();
    let request = Workbench::request(&bench.dir.path().display().to_string());
    let installed = bench.install(request).await;
    bench.check_refused(installed, Code::Invalid, "the extensions folder is inside it");
}
