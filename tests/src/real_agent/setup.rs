//! The settings of each program: a fake model, nothing sent anywhere else, a question before a
//! command is run.

use serde_json::json;

use super::{Cli, RealAgent};

pub(super) fn set_up(real: &mut RealAgent, url: &str) {
    match real.cli {
        Cli::Codex => codex(real, url),
        Cli::Opencode => opencode(real, url),
        Cli::Aider => aider(real, url),
        Cli::Gemini => gemini(real, url),
        Cli::Qwen => qwen(real, url),
        Cli::Pi => pi(real, url),
        Cli::Goose => goose(real, url),
        Cli::Claude => claude(real, url),
        Cli::Llm => llm(real, url),
        Cli::Cline => cline(real, url),
        Cli::Gptme => gptme(real, url),
        Cli::Cn => cn(real, url),
        Cli::Interpreter => interpreter(real, url),
    }
}

fn codex(real: &mut RealAgent, url: &str) {
    let cwd = real.cwd();
    real.file(
        ".codex/config.toml",
        &format!(
            r#"model = "fake"
model_provider = "fake"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "read-only"

[model_providers.fake]
name = "Fake"
base_url = "{url}/v1"
wire_api = "responses"

[projects."{}"]
trust_level = "trusted"

[analytics]
enabled = false
"#,
            cwd.display()
        ),
    );
    real.arg(&["--no-daemon"]);
}

fn opencode(real: &mut RealAgent, url: &str) {
    let model = |name: &str| json!({ "name": name, "tool_call": true, "limit": { "context": 128_000, "output": 8192 } });
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "Fake",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "none" },
        "models": { "fake": model("Fake Model"), "small": model("Small Model") },
    });
    let config = json!({
        "provider": { "fake": provider },
        "model": "fake/fake",
        "small_model": "fake/small",
        "permission": { "bash": "ask" },
        "autoupdate": false,
        "share": "disabled",
    });
    real.file(".config/opencode/opencode.json", &config.to_string());
    for name in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        real.set(&format!("OPENCODE_DISABLE_{name}"), "1");
    }
    // Without this it waits more than a minute for a package that it cannot get.
    real.set("npm_config_fetch_retries", "0");
}

fn aider(real: &mut RealAgent, url: &str) {
    let model = json!({ "max_tokens": 8192, "max_input_tokens": 128_000, "max_output_tokens": 8192,
        "input_cost_per_token": 0, "output_cost_per_token": 0, "litellm_provider": "openai", "mode": "chat" });
    let prices = json!({ "openai/fake": model });
    real.file(".aider/caches/model_prices_and_context_window.json", &prices.to_string());
    real.set("OPENAI_API_KEY", "none");
    // It has no tools, so none of its turns could be told from a call beside them.
    real.set("OPENAI_API_BASE", &format!("{url}/bare/v1"));
    real.set("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    real.arg(&["--model", "openai/fake", "--edit-format", "diff", "--no-check-update"]);
    real.arg(&["--no-show-model-warnings", "--analytics-disable", "--no-show-release-notes"]);
    real.arg(&["--no-gitignore"]);
}

fn gemini(real: &mut RealAgent, url: &str) {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 2 },
        "telemetry": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
    });
    real.file(".gemini/settings.json", &settings.to_string());
    let trusted = json!({ real.cwd().display().to_string(): "TRUST_FOLDER" });
    real.file(".gemini/trustedFolders.json", &trusted.to_string());
    real.set("GEMINI_API_KEY", "none");
    real.set("GOOGLE_GEMINI_BASE_URL", url);
    real.arg(&["-m", "gemini-2.5-flash"]);
}

fn qwen(real: &mut RealAgent, url: &str) {
    let settings = json!({
        "security": { "auth": { "selectedType": "openai" } },
        "general": { "enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true },
        "model": { "name": "fake" },
        // They ask the model by themselves, with tools, and could not be told from turns.
        "memory": { "enableManagedAutoMemory": false, "enableManagedAutoDream": false },
        "ui": { "enableFollowupSuggestions": false },
        "telemetry": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
    });
    real.file(".qwen/settings.json", &settings.to_string());
    real.set("OPENAI_API_KEY", "none");
    real.set("OPENAI_BASE_URL", &format!("{url}/v1"));
    real.set("OPENAI_MODEL", "fake");
}

/// It does not ask the user by itself; an extension does.
const ASK: &str = r#"export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return;
    const allowed = await ctx.ui.confirm("Run this command?", event.input.command);
    if (!allowed) return { block: true, reason: "refused by the person" };
  });
}
"#;

fn pi(real: &mut RealAgent, url: &str) {
    let free = json!({ "input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0 });
    let model = json!({ "id": "fake", "name": "Fake", "reasoning": false, "input": ["text"], "cost": free,
        "contextWindow": 128_000, "maxTokens": 8192 });
    let provider = json!({ "baseUrl": format!("{url}/v1"), "apiKey": "none", "api": "openai-completions",
        "models": [model] });
    real.file(".pi/agent/models.json", &json!({ "providers": { "fake": provider } }).to_string());
    let settings = json!({ "defaultProvider": "fake", "defaultModel": "fake",
        "retry": { "enabled": true, "maxRetries": 1, "baseDelayMs": 500 } });
    real.file(".pi/agent/settings.json", &settings.to_string());
    real.file(".pi/agent/extensions/ask.ts", ASK);
    for (name, value) in
        [("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")]
    {
        real.set(name, value);
    }
}

fn goose(real: &mut RealAgent, url: &str) {
    real.file(
        ".config/goose/config.yaml",
        &format!(
            "GOOSE_PROVIDER: openai\nGOOSE_MODEL: fake\nOPENAI_HOST: {url}\nGOOSE_MODE: approve\n\
             GOOSE_TELEMETRY_ENABLED: false\nextensions:\n  developer:\n    enabled: true\n    type: builtin\n    \
             name: developer\n    timeout: 300\n    bundled: true\n"
        ),
    );
    real.set("OPENAI_API_KEY", "none");
    real.set("GOOSE_DISABLE_KEYRING", "1");
    real.arg(&["session"]);
}

fn claude(real: &mut RealAgent, url: &str) {
    let project = json!({ "hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true });
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "projects": { real.cwd().display().to_string(): project },
    });
    // Its answers to the questions of the first run: theme, security notes, trust in the folder.
    real.file(".claude.json", &state.to_string());
    // With a key in place of a token, its first run calls servers of its vendor.
    real.set("ANTHROPIC_AUTH_TOKEN", "none");
    real.set("ANTHROPIC_BASE_URL", url);
    for name in ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING"] {
        real.set(name, "1");
    }
    real.set("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    // Otherwise the model must ask for the definition of a tool before it can call it.
    real.set("ENABLE_TOOL_SEARCH", "false");
}

/// It has no tools of its own; with `--tools-approve` it asks before it calls one.
const SHELL: &str = r#"import subprocess


def run_command(command: str) -> str:
    "Run a command in a shell."
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout
"#;

fn llm(real: &mut RealAgent, url: &str) {
    let model = json!({ "model_id": "fake", "model_name": "fake", "api_base": format!("{url}/v1"),
        "supports_tools": true });
    // JSON is YAML, too.
    real.file(".llm/extra-openai-models.yaml", &json!([model]).to_string());
    real.file(".llm/shell.py", SHELL);
    let folder = real.home().join(".llm").display().to_string();
    real.set("LLM_USER_PATH", &folder);
    real.set("OPENAI_API_KEY", "none");
    real.arg(&["chat", "--model", "fake", "--functions", &format!("{folder}/shell.py")]);
    real.arg(&["--tools-approve"]);
}

fn cline(real: &mut RealAgent, url: &str) {
    let settings = json!({ "provider": "openai-compatible", "apiKey": "none", "model": "fake",
        "baseUrl": format!("{url}/v1") });
    let provider = json!({ "settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual" });
    let providers = json!({ "version": 1, "lastUsedProvider": "openai-compatible", "modes": {},
        "providers": { "openai-compatible": provider } });
    real.file(".cline/data/settings/providers.json", &providers.to_string());
    let settings = json!({ "telemetryOptOut": true, "autoUpdateEnabled": false });
    real.file(".cline/data/settings/global-settings.json", &settings.to_string());
    // Advertisements that cover its first screen.
    let notices = json!({ "shown": {
        "cline-cli-cline-pass-intro": true, "cline-cli-desktop-launch": true } });
    real.file(".cline/data/settings/cli-notices.json", &notices.to_string());
    // With its usual folder it starts a server that goes on after it has ended.
    let folder = real.home().join(".cline/data").display().to_string();
    real.arg(&["--tui", "--auto-approve", "false", "--data-dir", &folder]);
}

fn gptme(real: &mut RealAgent, url: &str) {
    real.set("OPENAI_BASE_URL", &format!("{url}/v1"));
    real.set("OPENAI_API_KEY", "none");
    // It would download a tokenizer, and warn at every prompt that it could not.
    real.set("GPTME_TIKTOKEN_TIMEOUT", "0");
    // The usual is ten times, for many minutes.
    real.set("GPTME_LLM_MAX_RETRIES", "1");
    // Without a name it begins with a list of earlier conversations.
    real.arg(&["--name", "demo", "--model", "local/fake", "--tool-format", "tool"]);
}

fn cn(real: &mut RealAgent, url: &str) {
    let model = json!({ "name": "Fake", "provider": "openai", "model": "fake", "apiKey": "none",
        "apiBase": format!("{url}/v1"), "roles": ["chat"], "capabilities": ["tool_use"] });
    let config = json!({ "name": "Fake", "version": "1.0.0", "schema": "v1", "models": [model] });
    // JSON is YAML, too.
    real.file(".continue/config.yaml", &config.to_string());
    let config = real.home().join(".continue/config.yaml").display().to_string();
    real.set("CONTINUE_CLI_ENABLE_TELEMETRY", "0");
    real.arg(&["--config", &config]);
}

fn interpreter(real: &mut RealAgent, url: &str) {
    real.set("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    real.arg(&["--model", "openai/fake", "--api_key", "none", "--api_base", &format!("{url}/v1")]);
    real.arg(&["--llm_supports_functions", "--no-llm_supports_vision", "--disable_telemetry"]);
    real.arg(&["--context_window", "128000", "--max_tokens", "8192"]);
}
