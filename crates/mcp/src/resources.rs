//! Panes' screens as resources: `paned://pane/<id>/screen`.

use paned_model::{PaneId, PaneInfo, Refusal};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::json;

use crate::api::ClientContext;
use crate::tools::{ScreenReply, ToolCall};

const SCHEME: &str = "paned://pane/";
const SCREEN: &str = "/screen";
const MEDIA: &str = "text/plain";
/// How many resources are listed: the newest. Any pane can be read.
const MAX_LISTED: usize = 100;

/// The resource of a pane's screen.
fn uri(pane: &PaneId) -> String {
    format!("{SCHEME}{pane}{SCREEN}")
}

/// The pane whose screen this is.
///
/// # Errors
/// If it is no resource of ours.
pub(crate) fn pane(uri: &str) -> Result<PaneId, Refusal> {
    let id = uri.strip_prefix(SCHEME).and_then(|rest| rest.strip_suffix(SCREEN));
    id.and_then(|id| id.parse().ok()).ok_or_else(|| {
        let shown = uri.escape_debug();
        Refusal::invalid(format!("no resource `{shown}`; they are called paned://pane/<id>/screen"))
    })
}

/// What all resources look like.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{SCHEME}{{id}}{SCREEN}"), "screen")
        .with_description("The screen of a PTY session, as rows of text.")
        .with_mime_type(MEDIA)
}

/// The screens of the newest panes that the client may see.
pub(crate) async fn list(client: &ClientContext) -> Result<Vec<Resource>, Refusal> {
    let call = ToolCall { client: client.clone() };
    let panes: Vec<PaneInfo> = call.act("pane:list", json!({})).await?;
    let shown = panes.into_iter().rev().take(MAX_LISTED).map(|pane| {
        let status = pane.status;
        Resource::new(uri(&pane.id), pane.id.to_string())
            .with_title(pane.title)
            .with_description(format!("{status} screen"))
            .with_mime_type(MEDIA)
    });
    Ok(shown.collect())
}

/// Reads a screen.
pub(crate) async fn read(client: &ClientContext, uri: &str) -> Result<ReadResourceResult, Refusal> {
    let pane = pane(uri)?;
    let call = ToolCall { client: client.clone() };
    let screen: ScreenReply = call.act("pane:screen", json!({ "paneId": pane })).await?;
    let contents = ResourceContents::text(screen.text(), uri).with_mime_type(MEDIA);
    Ok(ReadResourceResult::new(vec![contents]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_names_its_pane() {
        let id: PaneId = "web-1".parse().unwrap();
        assert_eq!(pane(&uri(&id)), Ok(id));
        for wrong in ["", "paned://pane//screen", "paned://pane/web", "file:///web/screen"] {
            let refusal = pane(wrong).unwrap_err();
            assert!(refusal.sentence.contains("paned://pane/<id>/screen"), "{refusal}");
        }
    }
}
