//! Which profile is used for an agent. A wrapper around a known program is recognised by its
//! processes or by its screen. If a profile no longer matches the screen of its program, the
//! generic rules are used until it matches again.

use std::sync::Arc;
use std::time::Duration;

use paned_backend::processes::Processes;
use paned_model::AgentState;
use paned_policy::agent::{Composer, Engine, Profile, ProfileLibrary, ScreenSnapshot};
use tokio::time::Instant;

use super::GENERIC;

/// How long a profile may find no composer before the generic one takes over.
const UNRECOGNISED_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a known program is searched for inside a wrapper.
const WRAPPER_TIMEOUT: Duration = Duration::from_secs(60);
/// The shortest time between two such searches.
const EVERY: Duration = Duration::from_secs(1);

/// A confidence below this may be due to a version that the profile does not know.
const WEAK: f32 = 0.65;

/// What is known about the program of an agent.
pub(super) struct Recognition {
    pub(super) processes: Processes,
    started: Instant,
    looked: Option<Instant>,
    /// When the profile last matched the screen.
    understood: Instant,
    /// The profile that was replaced because it did not match.
    replaced: Option<Arc<Profile>>,
    /// The version that the screen of the program shows.
    version: Option<String>,
}

impl Recognition {
    pub(super) fn new(pid: Option<u32>) -> Self {
        let now = Instant::now();
        Self {
            processes: Processes::new(pid),
            started: now,
            looked: None,
            understood: now,
            replaced: None,
            version: None,
        }
    }

    /// The profile was changed: the new one gets the full time to match the screen.
    pub(super) fn reset(&mut self) {
        self.understood = Instant::now();
        self.replaced = None;
    }

    /// When to check again if there is no output before.
    pub(super) fn deadline(&self, engine: &Engine) -> Option<Instant> {
        is_unrecognised(engine).then(|| self.understood + UNRECOGNISED_TIMEOUT)
    }

    /// A profile that fits better than the present one.
    pub(super) async fn step(
        &mut self,
        engine: &Engine,
        look: Option<&ScreenSnapshot>,
        library: impl FnOnce() -> Arc<ProfileLibrary>,
    ) -> Option<Arc<Profile>> {
        let now = Instant::now();
        if self.version.is_none() && now < self.started + WRAPPER_TIMEOUT {
            self.version = look.and_then(|look| engine.profile().version_on(look));
        }
        if engine.profile().is_generic() {
            return self.known_profile(now, look, library).await;
        }
        if !is_unrecognised(engine) {
            self.understood = now;
            self.replaced = None;
            return None;
        }
        if now < self.understood + UNRECOGNISED_TIMEOUT {
            return None;
        }
        self.understood = now;
        let generic = library().get(GENERIC).cloned()?;
        self.replaced = Some(engine.profile().clone());
        Some(Arc::new(engine.profile().with_generic_screen(&generic)))
    }

    /// The profile of a known program: the replaced one if it matches the screen again, or that of
    /// a program inside a wrapper.
    async fn known_profile(
        &mut self,
        now: Instant,
        look: Option<&ScreenSnapshot>,
        library: impl FnOnce() -> Arc<ProfileLibrary>,
    ) -> Option<Arc<Profile>> {
        if let Some(replaced) = &self.replaced {
            let is_understood = look.is_some_and(|look| {
                look.composer(replaced) != Composer::Hidden || look.dialog(replaced).is_some()
            });
            return is_understood.then(|| self.replaced.take()).flatten();
        }
        let is_due = self.looked.is_none_or(|looked| looked + EVERY <= now);
        if !is_due || self.started + WRAPPER_TIMEOUT < now {
            return None;
        }
        self.looked = Some(now);
        let library = library();
        let lines = self.processes.command_lines().await;
        let inside = lines.iter().find_map(|argv| library.for_command(argv));
        inside.or_else(|| library.for_screen(look?)).cloned()
    }

    /// Reasons to doubt the judgement: a replaced profile, a version newer than the profile.
    pub(super) fn warnings(&self, engine: &Engine) -> Vec<String> {
        let replaced = self.replaced.as_ref().map(|replaced| {
            let name = &replaced.name;
            let seconds = UNRECOGNISED_TIMEOUT.as_secs();
            format!(
                "the profile `{name}` found no composer for {seconds} s, so the agent is judged by what every program \
                 shows"
            )
        });
        replaced.into_iter().chain(self.newer_version_warning(engine)).collect()
    }

    /// A warning if the evidence is weak and the program is newer than the versions that its
    /// profile was tested with.
    fn newer_version_warning(&self, engine: &Engine) -> Option<String> {
        let is_weak = self.replaced.is_some() || engine.judgement().confidence < WEAK;
        let version = self.version.as_ref().filter(|_| is_weak)?;
        let profile = self.replaced.as_ref().unwrap_or(engine.profile());
        let newest = profile.is_newer(version)?;
        let name = &profile.name;
        Some(format!(
            "this is version {version}; the profile `{name}` was tried with versions up to {newest}"
        ))
    }
}

/// Whether the profile describes a screen, but does not recognise the present one.
fn is_unrecognised(engine: &Engine) -> bool {
    let profile = engine.profile();
    let describes = profile.composer.is_some() && !profile.is_generic();
    describes && matches!(engine.judgement().state, AgentState::Starting | AgentState::Unknown)
}
