//! Operations on sessions, by actions of the kernel. Only a pane with our tag is a session.

use std::sync::Arc;
use std::time::Duration;

use jiff::tz::TimeZone;
use paned_model::{AgentInfo, AgentState, Code, Delivery, Refusal};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::SemaphorePermit;
use tokio::time::{Instant, sleep};

use super::launch::{AgentmuxLaunch, AgentmuxProfile};
use super::session::{AgentmuxSession, fresh_name, shows_prompt};
use super::{Agentmux, NAME};
use crate::client::{DeliveryReply, KernelClient, random};

/// How many sessions there may be at once.
pub(super) const MAX_SESSIONS: usize = 10;
/// How long to wait between two key presses, so that the program does not take them for a paste.
const KEY_INTERVAL: Duration = Duration::from_millis(80);
/// How long a prompt must stay on the screen.
const PROMPT_INTERVAL: Duration = Duration::from_secs(2);
/// The states of an agent that has started, or never will.
const SETTLED_STATES: [AgentState; 3] = [AgentState::Ready, AgentState::Error, AgentState::Exited];
/// The profile of an agent without a profile of its own.
const FALLBACK_PROFILE: &str = "claude";

/// The sessions that a caller may see.
pub(super) struct AgentmuxSessions {
    pub(super) api: Arc<Agentmux>,
    pub(super) client: KernelClient,
}

#[derive(Deserialize)]
struct AgentmuxWaitReply {
    agent: AgentInfo,
}

#[derive(Deserialize)]
struct AgentmuxScreenReply {
    rows: Vec<String>,
    #[serde(default)]
    history: Vec<String>,
}

#[derive(Deserialize)]
struct AgentmuxRestartReply {
    new: AgentmuxSession,
}

#[derive(Deserialize)]
struct AgentmuxProfilesReply {
    profiles: Vec<AgentmuxProfile>,
}

impl AgentmuxSessions {
    /// All of them, oldest first.
    pub(super) async fn list(&self) -> Result<Vec<AgentmuxSession>, Refusal> {
        let mut all: Vec<AgentmuxSession> =
            self.client.act("pane:list", json!({ "tag": NAME })).await?;
        all.sort_by_key(|session| session.created_at);
        for session in &mut all {
            session.shows_prompt = self.shows_prompt(session).await?;
        }
        Ok(all)
    }

    /// Whether a program of the user's own shows the prompt that agentmux looks for, while the
    /// rules for any program find none: those need a cursor in it.
    async fn shows_prompt(&self, session: &AgentmuxSession) -> Result<bool, Refusal> {
        if self.api.config.argv.is_none() || !session.is_unknown() {
            return Ok(false);
        }
        let screen = json!({ "paneId": session.name });
        match self.client.act::<AgentmuxScreenReply>("pane:screen", screen).await {
            Ok(screen) => Ok(shows_prompt(&screen.rows)),
            // It is not started yet, or gone.
            Err(refusal) if matches!(refusal.code, Code::NotFound | Code::Gone) => Ok(false),
            Err(refusal) => Err(refusal),
        }
    }

    /// The active one: the newest.
    pub(super) async fn active(&self) -> Result<Option<AgentmuxSession>, Refusal> {
        Ok(self.list().await?.pop())
    }

    /// The active one.
    ///
    /// # Errors
    /// If there is none, with the text that clients know.
    pub(super) async fn require_active(&self) -> Result<AgentmuxSession, Refusal> {
        self.active().await?.ok_or_else(|| Refusal::not_found("no active session"))
    }

    /// The session that a target names, or the active one without a target; with the target as
    /// clients see it.
    pub(super) async fn resolve(
        &self,
        target: Option<&str>,
    ) -> Result<(AgentmuxSession, String), Refusal> {
        let Some(target) = target else {
            let active = self.require_active().await?;
            let target = active.target();
            return Ok((active, target));
        };
        let found = self.list().await?.into_iter().find(|session| session.target() == target);
        let session = match found {
            Some(session) => session,
            None if self.api.config.any_target => self.pane(target).await?,
            None => return Err(Refusal::invalid("target is not managed by agentmux")),
        };
        Ok((session, target.to_owned()))
    }

    /// Any pane, by its name or as a target.
    async fn pane(&self, target: &str) -> Result<AgentmuxSession, Refusal> {
        let name = target.strip_suffix(":0.0").unwrap_or(target);
        let mut session: AgentmuxSession =
            self.client.act("pane:get", json!({ "paneId": name })).await?;
        session.shows_prompt = self.shows_prompt(&session).await?;
        Ok(session)
    }

    /// Sends a text to a session's agent, even if that is busy. Returns the outcome.
    ///
    /// # Errors
    /// If it was not delivered, or may not have been: nothing is lost silently.
    pub(super) async fn send(
        &self,
        session: &AgentmuxSession,
        text: &str,
    ) -> Result<Delivery, Refusal> {
        let is_typed = session.agent.is_none()
            || self.api.config.argv.is_some() && self.pane(&session.name).await?.shows_prompt;
        if is_typed {
            let paste = json!({ "paneId": session.name, "text": text, "submit": true });
            self.client.run("pane:paste", paste).await?;
            return Ok(Delivery::Submitted);
        }
        let DeliveryReply { outcome, evidence, .. } =
            self.client.message(&session.name, text, "send").await?;
        let why = evidence.join("; ");
        match outcome {
            Delivery::Submitted | Delivery::Queued | Delivery::Held => Ok(outcome),
            Delivery::Refused => Err(Refusal::new(Code::Conflict, why)),
            Delivery::Drafted => {
                Err(Refusal::internal(format!("the text was typed but not accepted: {why}")))
            }
            Delivery::Unknown => Err(Refusal::internal(format!(
                "it is unknown whether the text was accepted: {why}"
            ))),
        }
    }

    /// Presses a key `repeat` times.
    pub(super) async fn press(
        &self,
        session: &AgentmuxSession,
        key: &str,
        repeat: u64,
    ) -> Result<(), Refusal> {
        for press in 0..repeat {
            if press != 0 {
                sleep(KEY_INTERVAL).await;
            }
            let keys = json!({ "paneId": session.name, "keys": [key] });
            self.client.run("pane:keys", keys).await?;
        }
        Ok(())
    }

    /// The last lines of a session and its screen, without the blank rows at its end.
    pub(super) async fn capture(
        &self,
        session: &AgentmuxSession,
        lines: u64,
    ) -> Result<String, Refusal> {
        let screen = json!({ "paneId": session.name, "history": lines });
        let AgentmuxScreenReply { rows, mut history } =
            self.client.act("pane:screen", screen).await?;
        history.extend(rows);
        let shown = history.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1);
        Ok(history[..shown].iter().map(|row| format!("{row}\n")).collect())
    }

    /// Waits for the permit to create a session. Its holder can count sessions, as no other request
    /// creates one meanwhile.
    pub(super) async fn spawn_permit(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.api.spawn_lock.acquire().await.map_err(Refusal::internal)
    }

    /// A name for a new session, unique by its random digits.
    fn new_name(&self) -> String {
        let now = (self.client.shared.kernel.setup().now)();
        fresh_name(&self.api.config.prefix, now, &TimeZone::system(), random())
    }

    /// Starts an agent in a new session, without waiting until it is ready.
    pub(super) async fn start(&self) -> Result<AgentmuxSession, Refusal> {
        let config = &self.api.config;
        let launch = AgentmuxLaunch::new(config, self.profile().await?);
        let agent = json!({
            "id": self.new_name(),
            "profile": launch.profile,
            "argv": launch.argv,
            "cwd": config.workdir,
            "permissions": launch.permissions,
            "trust": true,
            "tags": [NAME],
            "waitReady": false,
            "visible": "never",
        });
        self.client.act("agent:create", agent).await
    }

    /// Waits until a session's agent takes a prompt. Returns whether it does. Questions at startup
    /// are answered automatically where its profile allows that; any other is left to a person.
    pub(super) async fn wait_ready(&self, name: &str) -> Result<bool, Refusal> {
        if self.api.config.argv.is_some() {
            return self.wait_program_ready(name).await;
        }
        let agent = self.wait_settled(name, self.ready_timeout_ms()).await?;
        Ok(agent.state.takes_prompts())
    }

    /// The same for a program of the user's own: as agentmux does, it also counts as ready once it
    /// has shown a prompt twice, two seconds apart.
    async fn wait_program_ready(&self, name: &str) -> Result<bool, Refusal> {
        let deadline = Instant::now() + self.api.config.ready_timeout;
        let mut has_shown = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let pause = left.min(PROMPT_INTERVAL).as_millis() as u64;
            let agent = self.wait_settled(name, pause).await?;
            if SETTLED_STATES.contains(&agent.state) || left.is_zero() {
                return Ok(agent.state.takes_prompts());
            }
            let shows = self.pane(name).await?.shows_prompt;
            if shows && has_shown {
                return Ok(true);
            }
            has_shown = shows;
        }
    }

    /// Waits until a session's agent has started, or the time has passed.
    async fn wait_settled(&self, name: &str, timeout_ms: u64) -> Result<AgentInfo, Refusal> {
        let wait = json!({ "paneId": name, "state": SETTLED_STATES, "timeoutMs": timeout_ms });
        let AgentmuxWaitReply { agent } = self.client.act("agent:wait", wait).await?;
        Ok(agent)
    }

    fn ready_timeout_ms(&self) -> u64 {
        self.api.config.ready_timeout.as_millis() as u64
    }

    /// Replaces a session by a fresh one that is ready. Returns the new name.
    pub(super) async fn replace(&self, old: &AgentmuxSession) -> Result<String, Refusal> {
        let restart = json!({
            "paneId": old.name,
            "newId": self.new_name(),
            "timeoutMs": self.ready_timeout_ms(),
        });
        let AgentmuxRestartReply { new } = self.client.act("agent:restart", restart).await?;
        Ok(new.name)
    }

    /// Ends a session and removes it. It is not an error if it is gone already.
    pub(super) async fn close(&self, name: &str) -> Result<(), Refusal> {
        match self.client.run("pane:close", json!({ "paneId": name })).await {
            Err(refusal) if refusal.code == Code::NotFound => Ok(()),
            done => done,
        }
    }

    /// Closes all sessions that have ended or are idle, except the active one. Returns their names.
    pub(super) async fn clean_up(&self) -> Result<Vec<String>, Refusal> {
        let mut others = self.list().await?;
        others.pop();
        let mut closed = Vec::new();
        for session in others {
            // Checked again right before: it may have become busy since the list was made.
            if self.may_close(&session).await? {
                self.close(&session.name).await?;
                closed.push(session.name);
            }
        }
        Ok(closed)
    }

    async fn may_close(&self, session: &AgentmuxSession) -> Result<bool, Refusal> {
        match self.pane(&session.name).await {
            Ok(now) => Ok(!now.is_alive() || now.is_idle() && !now.persist),
            Err(refusal) if refusal.code == Code::NotFound => Ok(true),
            Err(refusal) => Err(refusal),
        }
    }

    /// The profile of new agents.
    async fn profile(&self) -> Result<AgentmuxProfile, Refusal> {
        let wanted = &self.api.config.agent;
        let AgentmuxProfilesReply { mut profiles } =
            self.client.act("agent:profiles", json!({})).await?;
        let mut take = |name: &str| {
            let at = profiles.iter().position(|profile| profile.name == name)?;
            Some(profiles.swap_remove(at))
        };
        if let Some(found) = take(wanted) {
            return Ok(found);
        }
        tracing::warn!(
            agent = wanted,
            "no profile has this name; using {FALLBACK_PROFILE} instead"
        );
        let missing = || Refusal::internal(format!("there is no profile `{FALLBACK_PROFILE}`"));
        take(FALLBACK_PROFILE).ok_or_else(missing)
    }
}
