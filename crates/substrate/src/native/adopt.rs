//! Finding panes that were there before us.

use std::fs;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use paned_keeper::tape::{self, Reader};
use paned_model::PaneId;
use paned_model::frame::{Hello, Role, ToKeeper, VERSION};
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::link;
use super::places::Places;
use super::welcome;
use super::wire::Wire;
use crate::{Error, Found, Link, State};

/// How long a keeper may take to answer. One that does not is as good as gone.
const ANSWER: Duration = Duration::from_secs(5);

/// Every pane in the state folder, all asked at once.
pub(super) async fn all(places: &Places) -> Result<Vec<Found>, Error> {
    let ids = ids(places).map_err(|source| Error::Io {
        what: format!("look into {}", places.all().display()),
        source,
    })?;
    let found = join_all(ids.into_iter().map(|id| one(places, id))).await;
    Ok(found.into_iter().flatten().collect())
}

fn ids(places: &Places) -> io::Result<Vec<PaneId>> {
    let entries = match fs::read_dir(places.all()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other?,
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut ids: Vec<PaneId> = names.filter_map(|name| name.to_str()?.parse().ok()).collect();
    ids.sort();
    Ok(ids)
}

/// What has become of one pane. A folder that was never finished, or half removed, is cleared away.
async fn one(places: &Places, id: PaneId) -> Option<Found> {
    let Ok(record) = fs::read_to_string(places.record(&id)) else {
        let _ = places.remove(&id).await;
        return None;
    };
    let link = connect(places, &id).await;
    // After the keeper was asked: what it wrote before it went is on the tape by now.
    let tape = Reader::open(&places.tape(&id));
    let state = match (link, tape) {
        (Some(link), _) => State::Alive(link),
        (None, Ok(tape)) => dead(tape),
        (None, Err(tape::Error::Io { source, .. })) if source.kind() == ErrorKind::NotFound => {
            // It was never brought to life.
            let _ = places.remove(&id).await;
            return None;
        }
        (None, Err(error)) => {
            tracing::warn!(pane = %id, %error, "the output of a pane cannot be read");
            State::Lost(None)
        }
    };
    Some(Found { id, record, state })
}

fn dead(tape: Reader) -> State {
    match tape.ending() {
        Some(ending) => State::Ended(Arc::new(tape), ending),
        None => State::Lost(Some(Arc::new(tape))),
    }
}

async fn connect(places: &Places, id: &PaneId) -> Option<Link> {
    let stream = UnixStream::connect(places.socket(id)).await.ok()?;
    let mut wire = Wire::over(stream).ok()?;
    wire.say(&ToKeeper::Hello(Hello { version: VERSION, role: Role::Server }));
    let welcome = timeout(ANSWER, welcome(&mut wire)).await.ok()?.ok()?;
    let tape = Reader::open(&places.tape(id)).ok()?;
    Some(link::start(wire, welcome, Arc::new(tape)))
}
