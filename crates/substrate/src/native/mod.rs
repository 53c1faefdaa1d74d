//! Native panes: one keeper each, found again by their folders.
//!
//! ```text
//! <state>/panes/<id>/pane.json    what the kernel said of it, written before the keeper is born
//! <state>/panes/<id>/tape         what it printed and how it ended, written by the keeper
//! <state>/panes/<id>/keeper.sock  where the keeper listens, as long as it lives
//! ```

mod adopt;
#[cfg(target_os = "linux")]
mod end;
mod link;
mod nursery;
mod places;
pub(crate) mod scribe;
mod socket_folder;
mod wire;

use std::os::unix::net::UnixStream as StdStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use paned_keeper::tape::Reader;
use paned_model::PaneId;
use paned_model::frame::{Birth, FromKeeper, Kill, Survivor, ToKeeper, Welcome};
use tokio::time::timeout;

use crate::{Boxed, Error, Found, Ground, Link, Order, State, Traces};
pub use nursery::Nursery;
pub use places::Places;
pub use socket_folder::SocketFolder;
pub use wire::Wire;

/// How long a keeper may take to come to life.
const BIRTH: Duration = Duration::from_secs(10);

/// Native panes in one state folder.
#[derive(Debug)]
pub struct Native {
    places: Places,
    nursery: Nursery,
    /// A keeper that waits for its pane: forking the next one while the last pane starts takes the fork
    /// off the way. It ends by itself when we do.
    spare: Mutex<Option<Wire>>,
}

impl Native {
    /// Panes in this state folder, with keepers from this nursery.
    #[must_use]
    pub fn new(state: PathBuf, nursery: Nursery) -> Self {
        Self { places: Places::new(&state), nursery, spare: Mutex::default() }
    }

    async fn start(&self, order: Order) -> Result<Link, Error> {
        let id = order.id.clone();
        let born = match self.places.make(&id, &order.record) {
            // Its folder is another pane's.
            Err(error @ Error::Taken(_)) => return Err(error),
            Err(error) => Err(error),
            Ok(()) => self.try_start(order).await,
        };
        if born.is_err()
            && let Err(error) = self.places.remove(&id).await
        {
            tracing::warn!(pane = %id, %error, "what is left of a pane that was refused stays");
        }
        *self.spare() = self.wire().ok();
        born
    }

    async fn try_start(&self, order: Order) -> Result<Link, Error> {
        let tape = self.places.tape(&order.id);
        let spare = self.spare().take();
        let wire = match spare {
            Some(wire) => wire,
            None => self.wire()?,
        };
        let born = self.bear(order.clone(), wire).await;
        // A keeper that died before it made the tape has started nothing; the next one will.
        if matches!(born, Err(Error::Machine(_))) && !tape.exists() {
            return self.bear(order, self.wire()?).await;
        }
        born
    }

    fn spare(&self) -> MutexGuard<'_, Option<Wire>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn bear(&self, order: Order, mut wire: Wire) -> Result<Link, Error> {
        let tape = self.places.tape(&order.id);
        let birth = self.birth(order);
        wire.say(&ToKeeper::Birth(Box::new(birth)));
        let Ok(welcome) = timeout(BIRTH, welcome(&mut wire)).await else {
            // Should it come to life after all, this is the first thing it hears.
            abandon(&mut wire);
            return Err(Error::Timeout { what: "starting the pane", limit: BIRTH });
        };
        let welcome = welcome?;
        match Reader::open(&tape) {
            Ok(reader) => Ok(link::start(wire, welcome, Arc::new(reader))),
            Err(error) => {
                // Its program runs already, and nobody would ever find it.
                abandon(&mut wire);
                let source = std::io::Error::other(error);
                Err(Error::Io { what: "open the tape".into(), source })
            }
        }
    }

    fn wire(&self) -> Result<Wire, Error> {
        let failed = |source| Error::Io { what: "reach a keeper".into(), source };
        let (ours, theirs) = StdStream::pair().map_err(failed)?;
        self.nursery.send(&theirs).map_err(failed)?;
        Wire::new(ours).map_err(failed)
    }

    fn birth(&self, order: Order) -> Birth {
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Birth {
            tape: path(self.places.tape(&order.id)),
            socket: path(self.places.socket(&order.id)),
            id: order.id,
            program: order.program,
            argv: order.argv,
            env: order.env,
            cwd: order.cwd,
            size: order.size,
            capacity: order.capacity,
            timeout_ms: order.timeout.map(millis),
            grace_ms: millis(order.grace),
            followed: order.followed,
        }
    }
}

impl Ground for Native {
    fn spawn(&self, order: Order) -> Boxed<'_, Result<Link, Error>> {
        Box::pin(self.start(order))
    }

    fn adopt(&self) -> Boxed<'_, Result<Vec<Found>, Error>> {
        Box::pin(adopt::all(&self.places))
    }

    fn reach(&self, id: PaneId) -> Boxed<'_, State> {
        Box::pin(async move { adopt::again(&self.places, &id).await })
    }

    #[cfg(target_os = "linux")]
    fn end(
        &self,
        id: PaneId,
        traces: Traces,
        grace: Duration,
    ) -> Boxed<'_, Result<Vec<Survivor>, Error>> {
        let places = self.places.clone();
        let ending = move || end::end(&places, &id, &traces, grace);
        let ended = tokio::task::spawn_blocking(ending);
        Box::pin(async { ended.await.map_err(|panic| Error::Machine(panic.to_string())) })
    }

    #[cfg(not(target_os = "linux"))]
    fn end(&self, _: PaneId, _: Traces, _: Duration) -> Boxed<'_, Result<Vec<Survivor>, Error>> {
        let sentence = "what a keeper has left behind cannot be found on this system";
        Box::pin(async move { Err(Error::Machine(sentence.to_owned())) })
    }

    fn forget(&self, id: PaneId) -> Boxed<'_, Result<(), Error>> {
        Box::pin(async move { self.places.remove(&id).await })
    }
}

/// Has a keeper end what it has started.
fn abandon(wire: &mut Wire) {
    wire.say(&ToKeeper::Kill(Kill { id: 0, grace_ms: 0 }));
    let _ = wire.flush_now();
}

/// Waits for the keeper's first word.
pub(crate) async fn welcome(wire: &mut Wire) -> Result<Welcome, Error> {
    loop {
        match wire.hear().await {
            Ok(FromKeeper::Welcome(welcome)) => return Ok(welcome),
            Ok(FromKeeper::Stillborn(stillborn)) if stillborn.invalid => {
                return Err(Error::Refused(stillborn.reason));
            }
            Ok(FromKeeper::Stillborn(stillborn)) if stillborn.limit => {
                return Err(Error::Limit(stillborn.reason));
            }
            Ok(FromKeeper::Stillborn(stillborn)) => return Err(Error::Machine(stillborn.reason)),
            Ok(_) => {}
            Err(error) => {
                return Err(Error::Machine(format!(
                    "the keeper died at the pane's birth: {error}"
                )));
            }
        }
    }
}
