//! Two agents in sessions of their own: give each some work, read the answers, list the sessions,
//! clean up.
//!
//! `cargo run -p paned-substrate --example agents -- native` needs nothing but this program: it is
//! its own fork server. With `tmux` instead, the sessions live on a tmux server of their own. A
//! folder can follow; otherwise a new one in the system's temporary folder is used and removed.
#![expect(clippy::print_stdout, reason = "an example prints its results")]

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use paned_backend::native::ForkServer;
use paned_backend::tmux::TmuxServerAddr;
use paned_model::Size;
use paned_substrate::Substrate;
use paned_substrate::{Name, NativeSubstrate, Program, SplitOrientation, Target, TmuxSubstrate};

type ExampleResult<T> = Result<T, Box<dyn Error>>;

fn main() -> ExampleResult<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // This must run before there are threads: keepers are forked from here.
        ["fork-server"] => Ok(paned_keeper::fork_server::run(None)?),
        [kind, folder] => run(kind, Path::new(folder)),
        [kind] => {
            let folder = tempfile::tempdir()?;
            run(kind, folder.path())
        }
        _ => Err("usage: agents native|tmux [folder]".into()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run(kind: &str, folder: &Path) -> ExampleResult<()> {
    let substrate = choose(kind, folder)?;
    let size = Size { cols: 100, rows: 30 };
    let shell = Program::new(["sh"]);
    let one = Name::new("agent.one")?;
    let two = Name::new("agent.two")?;
    for (name, work) in [(&one, "echo $((6 * 7))"), (&two, "echo $((6 * 9))")] {
        substrate.spawn(name, &shell, size).await?;
        substrate.send(&name.into(), work).await?;
    }
    for (name, answer) in [(&one, "42"), (&two, "54")] {
        wait_for(substrate.as_ref(), &name.into(), answer).await?;
        println!("{name} says {answer}");
    }

    let logs = Program::new(["sh", "-c", "echo watching; exec cat"]);
    let pane = substrate.split(&Target::from(&one), SplitOrientation::Horizontal, &logs).await?;
    wait_for(substrate.as_ref(), &Target::from(&pane.id), "watching").await?;
    println!("{one} has a second pane of {}", pane.size);

    for session in substrate.list().await? {
        println!("{} is {} with {} panes", session.name, session.size, session.panes);
        substrate.destroy(&session.name).await?;
    }
    println!("{} sessions are left", substrate.list().await?.len());
    // Without this, the tmux server would keep running; natively nothing is left.
    Ok(TmuxSubstrate::new(TmuxServerAddr::own(folder)).end_server().await?)
}

fn choose(kind: &str, folder: &Path) -> ExampleResult<Box<dyn Substrate>> {
    match kind {
        "native" => {
            let program = std::env::current_exe()?;
            let log = folder.join("keepers.log");
            let fork_server = ForkServer::new(program, vec!["fork-server".into()], log);
            Ok(Box::new(NativeSubstrate::new(folder.to_owned(), fork_server)))
        }
        "tmux" => Ok(Box::new(TmuxSubstrate::new(TmuxServerAddr::own(folder)))),
        other => Err(format!("there is no substrate `{other}`: native or tmux").into()),
    }
}

/// Waits until one of the last lines ends with this: the shell's prompt may be before it.
async fn wait_for(substrate: &dyn Substrate, target: &Target, line: &str) -> ExampleResult<()> {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if substrate.capture(target, 50).await?.iter().any(|other| other.ends_with(line)) {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Err(format!("never saw `{line}`: {:?}", substrate.capture(target, 50).await?).into())
}
