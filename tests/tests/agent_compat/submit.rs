//! agentmux-submit.sh: its steps, in a script of our own that asks for the same fields with the
//! same programs.

use std::fs;
use std::process::{Command, Stdio};

use paned_e2e::decode_output;

use super::CompatServer;

/// Posts the prompt, polls until the agent was idle three times in a row, then fetches the text.
const SCRIPT: &str = r#"
set -eu
ask() {
    curl -fsS -H "Authorization: Bearer $AGENTMUX_TOKEN" -H 'Content-Type: application/json' "$@"
}
body=$(jq -Rs '{text: .}')
answer=$(ask -X POST -d "$body" "$AGENTMUX_URL/run")
[ "$(printf %s "$answer" | jq -r .ok)" = true ]
session=$(printf %s "$answer" | jq -r .session)
[ -n "$session" ]
stable=0
while [ "$stable" -lt 3 ]; do
    sleep "$AGENTMUX_POLL_INTERVAL"
    if idle=$(ask "$AGENTMUX_URL/idle") && [ "$(printf %s "$idle" | jq -r .idle)" = true ]; then
        stable=$((stable + 1))
    else
        stable=0
    fi
    printf %s "$idle" | jq -r '.ctx_percent // "none"' >&2
done
ask "$AGENTMUX_URL/capture?lines=500" | jq -r .content
"#;

#[test]
fn a_prompt_is_submitted_and_its_answer_is_fetched() {
    let env =
        [("PANED_COMPAT_AGENTMUX", ""), ("AGENTMUX_PORT", "0"), ("AGENTMUX_TOKEN", "hunter2-mux")];
    let house = CompatServer::with(&["--work", "300"], "agentmux_serve = true", &env);
    let folder = tempfile::tempdir().expect("a folder");
    let prompt = folder.path().join("prompt");
    fs::write(&prompt, "Explain \"this\" folder.\nIn two lines.\n").expect("the folder is ours");
    let mut script = Command::new("bash");
    script.args(["-c", SCRIPT]).stdin(Stdio::from(fs::File::open(&prompt).expect("it is there")));
    script.env("AGENTMUX_URL", format!("http://{}", house.authority("agentmux")));
    script.env("AGENTMUX_TOKEN", "hunter2-mux").env("AGENTMUX_POLL_INTERVAL", "0.2");
    let (text, err, code) = decode_output(&script.output().expect("bash is there"));
    assert_eq!(code, 0, "{err}");
    assert_eq!(house.agent.prompts(), ["Explain \"this\" folder.\nIn two lines."]);
    assert!(text.contains("> Explain \"this\" folder.") && text.contains("* I read"), "{text}");
}
