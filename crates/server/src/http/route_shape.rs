//! What a route reads and answers, as the OpenAPI document shows it.

use serde_json::Value;

use crate::http::reply::ErrorFormat;

/// Makes a JSON Schema.
pub type RouteSchema = fn() -> Value;

/// The body that a route reads, and its answers.
#[derive(Clone, Copy, Debug)]
pub struct RouteShape {
    /// The body, and its media type; `None` for a route that reads none.
    pub body: Option<(&'static str, RouteSchema)>,
    /// Whether a request without a body is refused.
    pub needs_body: bool,
    /// The answer; `None` for a route that always refuses.
    pub answer: Option<RouteSchema>,
    /// The format of its own refusals. Those of the guard before it are always coded.
    pub errors: ErrorFormat,
    /// The statuses of its own refusals that no other route has.
    pub statuses: &'static [u16],
    /// Whether it turns the connection into a WebSocket.
    pub upgrades: bool,
}

impl RouteShape {
    /// A route without a body and an answer.
    pub const NOTHING: Self = Self {
        body: None,
        needs_body: false,
        answer: None,
        errors: ErrorFormat::Coded,
        statuses: &[],
        upgrades: false,
    };

    /// The same with an answer.
    #[must_use]
    pub const fn with_answer(self, answer: RouteSchema) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// The same with a body of JSON that may be left out.
    #[must_use]
    pub const fn with_body(self, body: RouteSchema) -> Self {
        self.with_media(crate::http::reply::JSON, body)
    }

    /// The same with a body of this media type that may be left out.
    #[must_use]
    pub const fn with_media(self, media: &'static str, body: RouteSchema) -> Self {
        Self { body: Some((media, body)), ..self }
    }

    /// The same with a body of JSON that must not be left out.
    #[must_use]
    pub const fn with_required_body(self, body: RouteSchema) -> Self {
        Self { needs_body: true, ..self.with_body(body) }
    }

    /// The same with refusals in this format.
    #[must_use]
    pub const fn with_errors(self, errors: ErrorFormat) -> Self {
        Self { errors, ..self }
    }

    /// The same with refusals of these statuses, too.
    #[must_use]
    pub const fn with_statuses(self, statuses: &'static [u16]) -> Self {
        Self { statuses, ..self }
    }

    /// The same for a WebSocket.
    #[must_use]
    pub const fn with_upgrade(self) -> Self {
        Self { upgrades: true, ..self }
    }
}
