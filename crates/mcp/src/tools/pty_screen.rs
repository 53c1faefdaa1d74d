//! `pty_screen`

use paned_model::Refusal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::answer::ToolAnswer;
use super::text::TextBlock;
use super::{McpTool, ScreenReply, ToolCall, ToolEffect};

pub(super) struct PtyScreen;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    id: String,
    /// png is a picture, for colours and layout
    #[serde(default)]
    format: ScreenFormat,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ScreenFormat {
    #[default]
    Text,
    Png,
}

impl McpTool for PtyScreen {
    const NAME: &'static str = "pty_screen";
    const DOC: &'static str = "Show what a session's terminal displays now: rows and cursor. For \
        full-screen programs (editors, menus, other agents), where pty_read shows redraws.";
    const EFFECT: ToolEffect = ToolEffect::Looks;
    type Args = Args;

    async fn run(call: ToolCall, Args { id, format }: Args) -> Result<ToolAnswer, Refusal> {
        let name = if format == ScreenFormat::Png { "png" } else { "text" };
        let params = json!({ "format": name });
        let screen: ScreenReply = call.act_on(&id, "pane:screen", params).await?;
        Ok(answer(&id, screen))
    }
}

fn answer(id: &str, screen: ScreenReply) -> ToolAnswer {
    let size = format!("{}x{}", screen.size.cols, screen.size.rows);
    let cursor = &screen.cursor;
    // Counted from 1, as editors show it.
    let place = match cursor.visible {
        true => format!("{}:{}", cursor.row + 1, cursor.col + 1),
        false => "hidden".to_owned(),
    };
    let attributes = [("id", id), ("size", &size), ("cursor", &place), ("title", &screen.title)];
    let attributes: Vec<_> =
        attributes.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    let mut block = TextBlock::with_attributes("pty_screen", &attributes);
    if screen.png.is_some() {
        block.line("(a picture)");
        // A client shows the model either the facts or the content, and the picture is content.
        let facts = serde_json::Value::Null;
        return ToolAnswer { text: block.finish(), facts, png: screen.png };
    }
    // A program could print the end of this block, and then what looks like another answer.
    let rows = screen.rows().iter().map(|row| row.replace("</pty_", "&lt;/pty_"));
    rows.for_each(|row| block.line(row));
    let facts = json!({
        "id": id,
        "size": screen.size,
        "cursor": place,
        "title": screen.title,
        "revision": screen.revision(),
        "rows": screen.rows(),
    });
    ToolAnswer::new(block.finish(), facts)
}
