//! What a tool answers: a text for the model, and the same facts as JSON.

use paned_model::{Code, Refusal};
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// The answer of a tool.
pub(super) struct ToolAnswer {
    /// For the model.
    pub(super) text: String,
    /// The same facts for programs; some clients show the model these in place of the text.
    pub(super) facts: Value,
    /// A picture as base64.
    pub(super) png: Option<String>,
}

impl ToolAnswer {
    pub(super) fn new(text: impl Into<String>, facts: Value) -> Self {
        Self { text: text.into(), facts, png: None }
    }
}

impl From<ToolAnswer> for CallToolResult {
    fn from(ToolAnswer { text, facts, png }: ToolAnswer) -> Self {
        let text = ContentBlock::text(text);
        let picture = png.map(|png| ContentBlock::image(png, "image/png"));
        let mut result = Self::success([Some(text), picture].into_iter().flatten().collect());
        // A picture is not in the facts, so a client that shows those would lose it.
        result.structured_content = Some(facts).filter(|facts| !facts.is_null());
        result
    }
}

/// A refusal as a result: the sentence says what to do instead.
pub(super) fn refused(refusal: &Refusal) -> CallToolResult {
    let mut text = refusal.sentence.clone();
    let details = refusal.details.as_ref();
    if let Some(cause) = details.and_then(|details| details["cause"].as_str()) {
        text = format!("{text}: {cause}");
    }
    if refusal.code == Code::Internal {
        text.push_str(" (a fault of paned; its log has more)");
    }
    let mut facts = json!({ "error": refusal.sentence, "code": refusal.code });
    if let Some(details) = details {
        facts["details"] = details.clone();
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.structured_content = Some(facts);
    result
}
