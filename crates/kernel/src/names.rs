//! Refusals of names that do not exist, with the names that are near.

use paned_model::near::{did_you_mean, nearest};
use paned_model::{Code, PaneId, Refusal};
use serde_json::json;

/// The refusal of an id that no pane has. `Kernel::suggest_panes` adds what may be meant.
pub(crate) fn missing_pane(code: Code, id: &PaneId, sentence: impl Into<String>) -> Refusal {
    Refusal::new(code, sentence).with_details(json!({ "name": id }))
}

/// The refusal of any other name, with those that are near: the part of the sentence after `;` is
/// replaced by the question.
pub(crate) fn missing_name<'a>(
    sentence: String,
    typed: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Refusal {
    let near = nearest(typed, known);
    let sentence = match did_you_mean(&near) {
        Some(question) => ask(&sentence, &question),
        None => sentence,
    };
    Refusal::not_found(sentence).with_details(json!({ "name": typed, "near": near }))
}

/// The first half of a sentence with a question in place of its second half.
pub(crate) fn ask(sentence: &str, question: &str) -> String {
    let what = sentence.split_once("; ").map_or(sentence, |(what, _)| what);
    format!("{what}; {question}")
}
