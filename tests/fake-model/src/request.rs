//! What is in a request, the same for every dialect.

use serde_json::Value;

use super::log::Prompt;

/// The dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
    Messages,
    Gemini,
}

/// A request for an answer.
pub(super) struct ModelRequest {
    pub(super) api: Api,
    pub(super) stream: bool,
    pub(super) model: String,
    pub(super) tools: Vec<Tool>,
    /// The shape that the answer shall have, if it is to be JSON.
    pub(super) shape: Option<Value>,
    /// How many messages there are.
    pub(super) messages: usize,
    /// What is new since the model spoke last, in order.
    new_inputs: Vec<NewInput>,
    /// Whether the client is one that has no tools at all.
    bare: bool,
}

/// Between the name of a namespace and that of a tool in it.
pub(super) const NAMESPACE: &str = "::";

/// A tool that the program offers.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) schema: Value,
}

enum NewInput {
    Text(String),
    Result(String),
}

impl ModelRequest {
    /// Reads a request; nothing if it does not ask for an answer.
    pub(super) fn read(path: &str, body: &Value) -> Option<Self> {
        let (route, query) = path.split_once('?').unwrap_or((path, ""));
        let (api, stream) = if route.ends_with("/chat/completions") {
            (Api::Chat, body["stream"] == true)
        } else if route.ends_with("/responses") {
            (Api::Responses, body["stream"] == true)
        } else if route.ends_with("/messages") {
            (Api::Messages, body["stream"] == true)
        } else if route.ends_with(":streamGenerateContent") {
            (Api::Gemini, query.contains("alt=sse"))
        } else if route.ends_with(":generateContent") {
            (Api::Gemini, false)
        } else {
            return None;
        };
        let messages = messages(api, body);
        Some(Self {
            api,
            stream,
            model: body["model"].as_str().unwrap_or("fake").to_owned(),
            tools: tools(api, body),
            shape: shape(body),
            messages: messages.len(),
            new_inputs: new_inputs(&messages),
            bare: route.starts_with("/bare/"),
        })
    }

    /// Whether it is a call outside the turn: programs send their tools with every turn and with
    /// nothing else.
    pub(super) fn is_side_call(&self) -> bool {
        self.model.ends_with("small")
            || (self.tools.is_empty() && !self.bare)
            || self.shape.is_some()
    }

    /// What the person said, if that is what is new.
    pub(super) fn prompt(&self) -> Option<Prompt> {
        let said = self.new_inputs.iter().rev().map_while(|news| match news {
            NewInput::Text(text) => Some(text.clone()),
            NewInput::Result(_) => None,
        });
        let mut parts: Vec<String> = said.collect();
        parts.reverse();
        let text = parts.iter().rev().find(|part| !is_wrapping(part))?;
        Some(Prompt { text: own(text).to_owned(), parts })
    }

    /// What a tool gave, if that is new.
    pub(super) fn result(&self) -> Option<&str> {
        self.new_inputs.iter().rev().find_map(|news| match news {
            NewInput::Result(text) => Some(text.as_str()),
            NewInput::Text(_) => None,
        })
    }
}

/// Programs put what they add themselves into a tag of its own.
fn is_wrapping(part: &str) -> bool {
    let part = part.trim();
    let Some((tag, _)) = part.strip_prefix('<').and_then(|rest| rest.split_once('>')) else {
        return part.is_empty() || part.starts_with("# AGENTS.md instructions");
    };
    !tag.is_empty() && part.ends_with(&format!("</{tag}>"))
}

/// A text without what programs add before and after it: aider ends every prompt with the rules for
/// its blocks, goose says the time of day before or after, and `opencode run` puts quotes around.
fn own(text: &str) -> &str {
    let text =
        text.split_once("\n\n# *SEARCH/REPLACE block* Rules:").map_or(text, |(said, _)| said);
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let text = inner.unwrap_or(text);
    if text.starts_with("<info-msg>\n") {
        return text.split_once("\n</info-msg>\n").map_or(text, |(_, said)| said);
    }
    text.split_once("\n<info-msg>\n").map_or(text, |(said, _)| said)
}

fn new_inputs(messages: &[&Value]) -> Vec<NewInput> {
    let is_answer = |message: &&Value| {
        let kind = message["type"].as_str().unwrap_or_default();
        matches!(message["role"].as_str(), Some("assistant" | "model"))
            || matches!(
                kind,
                "function_call" | "custom_tool_call" | "local_shell_call" | "reasoning"
            )
    };
    let from = messages.iter().rposition(is_answer).map_or(0, |last| last + 1);
    messages[from..].iter().flat_map(|message| read(message)).collect()
}

/// What one message says. Instructions (`system`, `developer`) are not input of a user.
fn read(message: &Value) -> Vec<NewInput> {
    let kind = message["type"].as_str().unwrap_or_default();
    if kind.ends_with("call_output") {
        return vec![NewInput::Result(text(&message["output"]))];
    }
    match message["role"].as_str() {
        Some("tool" | "function") => vec![NewInput::Result(text(&message["content"]))],
        Some("user") => {
            let parts =
                if message["parts"].is_array() { &message["parts"] } else { &message["content"] };
            match parts {
                Value::Array(parts) => parts.iter().filter_map(part).collect(),
                other => vec![NewInput::Text(text(other))],
            }
        }
        _ => Vec::new(),
    }
}

fn part(part: &Value) -> Option<NewInput> {
    if part["type"] == "tool_result" {
        return Some(NewInput::Result(text(&part["content"])));
    }
    if let Some(response) = part.get("functionResponse") {
        return Some(NewInput::Result(response["response"].to_string()));
    }
    part["text"].as_str().map(|text| NewInput::Text(text.to_owned()))
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn messages(api: Api, body: &Value) -> Vec<&Value> {
    let field = match api {
        Api::Chat | Api::Messages => &body["messages"],
        Api::Responses => &body["input"],
        Api::Gemini => &body["contents"],
    };
    field.as_array().into_iter().flatten().collect()
}

fn tools(api: Api, body: &Value) -> Vec<Tool> {
    let list = body["tools"].as_array().into_iter().flatten();
    let tool = |name: &Value, schema: &Value| {
        Some(Tool { name: name.as_str()?.to_owned(), schema: schema.clone() })
    };
    match api {
        Api::Chat => list
            .filter_map(|entry| tool(&entry["function"]["name"], &entry["function"]["parameters"]))
            .collect(),
        Api::Responses => list.flat_map(response_tools).collect(),
        Api::Messages => {
            list.filter_map(|entry| tool(&entry["name"], &entry["input_schema"])).collect()
        }
        Api::Gemini => {
            let all = list.flat_map(|entry| entry["functionDeclarations"].as_array());
            let schema = |entry: &Value| match entry.get("parametersJsonSchema") {
                Some(schema) => schema.clone(),
                None => entry["parameters"].clone(),
            };
            all.flatten().filter_map(|entry| tool(&entry["name"], &schema(entry))).collect()
        }
    }
}

/// A tool, or those of a namespace, whose name is put before theirs.
fn response_tools(entry: &Value) -> Vec<Tool> {
    let read = |entry: &Value| {
        let name = entry["name"].as_str()?.to_owned();
        Some(Tool { name, schema: entry["parameters"].clone() })
    };
    let (Some(namespace), Some(tools)) = (entry["name"].as_str(), entry["tools"].as_array()) else {
        return read(entry).into_iter().collect();
    };
    let inner = tools.iter().filter_map(read);
    inner
        .map(|tool| Tool { name: format!("{namespace}{NAMESPACE}{}", tool.name), ..tool })
        .collect()
}

fn shape(body: &Value) -> Option<Value> {
    let config = &body["generationConfig"];
    let places = [
        &body["response_format"]["json_schema"]["schema"],
        &body["text"]["format"]["schema"],
        &config["responseJsonSchema"],
        &config["responseSchema"],
    ];
    places.into_iter().find(|schema| schema.is_object()).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(path: &str, body: &Value, prompt: Option<&str>, result: Option<&str>) {
        let ask = ModelRequest::read(path, body).unwrap();
        assert_eq!(ask.prompt().map(|prompt| prompt.text).as_deref(), prompt);
        assert_eq!(ask.result(), result);
    }

    #[test]
    fn what_was_said_is_found_in_every_dialect() {
        let context = "<environment_context>\n</environment_context>";
        let said = json!([{ "role": "user", "content": [{ "type": "input_text", "text": context }] },
            { "role": "user", "content": [{ "type": "input_text", "text": " hi\n" }] }]);
        check("/v1/responses", &json!({ "input": said }), Some(" hi\n"), None);
        let said = json!([{ "role": "system", "content": "be good" }, { "role": "user", "content": "hi" }]);
        check("/bare/v1/chat/completions", &json!({ "messages": said }), Some("hi"), None);
        let said = json!([{ "role": "model", "parts": [{ "text": "yes" }] },
            { "role": "user", "parts": [{ "text": "hi" }] }]);
        check("/v1beta/models/x:generateContent", &json!({ "contents": said }), Some("hi"), None);
    }

    #[test]
    fn what_a_program_puts_around_a_prompt_is_left_out() {
        for text in ["<info-msg>\nnoon\n</info-msg>\n hi", " hi\n<info-msg>\nnoon\n</info-msg>"] {
            let said = json!([{ "role": "user", "content": text }]);
            check("/v1/chat/completions", &json!({ "messages": said }), Some(" hi"), None);
        }
    }

    #[test]
    fn a_tool_result_is_no_prompt() {
        let said = json!([{ "role": "user", "content": "do" }, { "role": "assistant" },
            { "role": "tool", "content": "ok" }]);
        check("/v1/chat/completions", &json!({ "messages": said }), None, Some("ok"));
    }

    #[test]
    fn what_is_said_behind_a_tool_result_is_a_prompt() {
        let said = json!([{ "type": "function_call" }, { "type": "function_call_output", "output": "ok" },
            { "role": "user", "content": "and now" }]);
        check("/v1/responses", &json!({ "input": said }), Some("and now"), Some("ok"));
    }
}
