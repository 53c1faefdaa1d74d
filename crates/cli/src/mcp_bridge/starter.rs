//! Starts the server again when it has gone away.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::context::CliContext;

/// How the server of a bridge is started.
#[derive(Clone, Debug)]
pub(crate) struct ServerStarter(Option<Vec<OsString>>);

impl ServerStarter {
    /// As other commands start it; not where the user named another server.
    pub(crate) fn new(context: &CliContext) -> Result<Self> {
        if !context.starts_server()? {
            return Ok(Self(None));
        }
        let flags =
            [("--state-dir", &context.global.state_dir), ("--config", &context.global.config)];
        let mut args = Vec::new();
        for (flag, value) in flags {
            let value = value.as_ref().map(|value| value.clone().into_os_string());
            args.extend(value.into_iter().flat_map(|value| [flag.into(), value]));
        }
        args.extend(["server".into(), "start".into()]);
        Ok(Self(Some(args)))
    }

    /// Starts it, if that is allowed. A server that is there already is no error, and one that
    /// cannot be started is noticed when a client connects.
    pub(super) async fn start(&self) {
        let Some(args) = self.0.clone() else { return };
        let started = tokio::task::spawn_blocking(move || {
            let program = std::env::current_exe()?;
            let mut command = Command::new(program);
            command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(Stdio::null()).status()
        });
        let _ = started.await;
    }
}
