"""What schemathesis must know about this server.

Formats that JSON Schema names but cannot describe; the panes that were prepared; what is left out or made
harmless, each with its reason; and the refusals that depend on state, which no schema can foresee.
"""

import os
import re

import requests
import schemathesis
from hypothesis import strategies as st

URL = os.environ["PANED_URL"]
HEADERS = {"Authorization": f"Bearer {os.environ['PANED_TOKEN']}"}
PANE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

# --- Formats ---------------------------------------------------------------------------------------------------------

for name, values in {
    "extension-source": ["/no/such/folder", "file:///no/such/repository#main"],
    "folder": ["/", "/tmp"],
    "git-name": ["main", "topic/a-1"],
    "http-address": ["http://127.0.0.1:1/", "http://localhost:1/a?b=c"],
    "key": ["enter", "ctrl+c", "a", "F5", "Up"],
    "layout-toml": ['layout = "vertical"\nmain_pane_size = 60\n[tree]\nrow = [{ size = 1, pane = "main" }, { size = 1, pane = "side" }]'],
    "regex": ["", "a", "^ok$", r"\d+ (a|b)", "[a-z]+"],
}.items():
    schemathesis.openapi.format(name, st.sampled_from(values))

# --- Operations that are left out ------------------------------------------------------------------------------------

# Each has cases written by hand in tests/tests/parity.rs.
LEFT_OUT = {
    "/action/server:stop": "it would end the server under test",
    "/action/server:upgrade": "it would replace the server under test",
    "/events": "a stream does not end",
    "/compat/agentapi/events": "a stream does not end",
    "/compat/agentapi/{pane}/events": "a stream does not end",
    "/compat/poly/events": "a stream does not end",
    "/mcp": "its messages follow the rules of MCP, which tests/tests/mcp checks",
}


# Rules about several fields that the generator of values takes minutes to satisfy. The test `schema_rules` of the kernel
# compares them with what the action refuses; here such refusals count as right.
HEAVY_RULES = ["/action/pane:wait"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    for path in LEFT_OUT:
        del raw_schema["paths"][path]
    for path in HEAVY_RULES:
        body = raw_schema["paths"][path]["post"]["requestBody"]
        body["content"]["application/json"]["schema"].pop("allOf")


# --- Panes -----------------------------------------------------------------------------------------------------------

# Actions that end the pane they are given: each call gets a pane of its own.
ENDING = {
    "/action/pane:close",
    "/action/pane:kill",
    "/action/pane:remove",
    "/action/pane:restart",
}
# Actions about an agent.
ABOUT_AGENTS = re.compile(r"/action/agent:")
# Actions that wait, for a minute or longer if nothing is said.
WAITING = {
    "/action/agent:create",
    "/action/agent:interrupt",
    "/action/agent:message",
    "/action/agent:restart",
    "/action/agent:wait",
    "/action/pane:wait",
}
# Actions about an extension that leave it as it is.
ABOUT_EXTENSIONS = {"/action/ext:info", "/action/ext:logs"}
# What the runner has prepared.
PREPARED = {"reader", "agent", "mux", "pty_prepared"}
# Actions that start a program: it is always the same harmless one.
STARTING = {
    "/action/agent:create",
    "/action/pane:new",
    "/action/pane:run",
    "/action/session:start",
    "/action/subagent:opened",
}


def act(name, params):
    return requests.post(f"{URL}/action/{name}", json=params, headers=HEADERS, timeout=20)


def fresh_token():
    return act("grant:create", {"scopes": ["read"], "label": "for one request"}).json()["grant"]["id"]


def fresh_pane():
    return act("pane:new", {"argv": ["cat"], "visible": "never"}).json()["id"]


def pane_for(path):
    if path in ENDING:
        return fresh_pane()
    return "agent" if ABOUT_AGENTS.match(path) else "reader"


def is_pane(value):
    return isinstance(value, str) and PANE_ID.fullmatch(value)


@schemathesis.hook
def before_call(context, case, **kwargs):
    """Points valid requests at panes that exist, and keeps what they do short and harmless."""
    path = case.operation.path
    if isinstance(case.path_parameters, dict):
        prepare_path(path, case.path_parameters)
    body = case.body
    if not isinstance(body, dict):
        return
    if is_pane(body.get("paneId")):
        body["paneId"] = pane_for(path)
    # A state of an agent can be waited for only in an agent's pane.
    many = "agent" if body.get("agentState") is not None else "reader"
    if path == "/action/pane:wait" and is_pane(body.get("paneId")):
        body["paneId"] = many
    for field in ("panes", "paneIds"):
        panes = body.get(field)
        if path != "/action/layout:plan" and isinstance(panes, list) and panes and all(map(is_pane, panes)):
            body[field] = [many]
    if path == "/action/grant:revoke" and isinstance(body.get("id"), str):
        # Ids are taken from earlier answers, our own token's among them.
        body["id"] = fresh_token()
    if path in ABOUT_EXTENSIONS and isinstance(body.get("name"), str):
        body["name"] = "greeter"
    if path == "/action/ext:new" and isinstance(body.get("dir"), str) and body["dir"].startswith("/") and "\0" not in body["dir"]:
        # Anywhere else, its files would stay.
        body["dir"] = os.getcwd()
    if path in STARTING:
        prepare_start(path, body)
    if path == "/action/shell:run" and isinstance(body.get("command"), str) and body["command"].strip("\0 \t\n\r"):
        # Any text would be a command.
        body["command"] = "true" if "\0" not in body["command"] else "\0"
    if path == "/compat/opencode-pty/api/sessions" and isinstance(body.get("command"), str):
        body["command"] = body["command"] if body["command"] == "" or "\0" in body["command"] else "cat"
    if path in WAITING:
        body.setdefault("timeoutMs", 50)
        if body["timeoutMs"] is None:
            body["timeoutMs"] = 50
    shorten(body)


@schemathesis.hook
def after_call(context, case, response):
    """Ends what was started, so that the table of panes does not fill, and starts what was ended."""
    if case.operation.path == "/compat/opencode-pty/api/sessions" and response.request.method == "DELETE":
        act("pane:new", {"id": "pty_prepared", "argv": ["cat"], "tags": ["opencode-pty"], "visible": "never"})
    if case.operation.path == "/action/ext:new" and response.status_code == 200 and response.json().get("extension"):
        act("ext:remove", {"name": response.json()["name"]})
    if case.operation.path not in STARTING | ENDING:
        return
    for pane in act("pane:list", {}).json():
        if pane["id"] not in PREPARED:
            act("pane:close", {"paneId": pane["id"], "force": True})


def prepare_path(path, params):
    if path == "/compat/poly/action/{name}" and isinstance(params.get("name"), str):
        # The names of all actions are in earlier answers, `server:stop` among them.
        params["name"] = "server:status"
    if path.startswith("/compat/agentapi/") and is_pane(params.get("pane")):
        params["pane"] = "agent"
    if path.startswith("/compat/opencode-pty/") and params.get("id"):
        ending = path.endswith("/cleanup") or path.endswith("{id}")
        params["id"] = fresh_session() if ending else "pty_prepared"


def fresh_session():
    answer = requests.post(
        f"{URL}/compat/opencode-pty/api/sessions", json={"command": "cat"}, headers=HEADERS, timeout=20
    )
    return answer.json()["id"]


def prepare_start(path, body):
    argv = body.get("argv")
    is_valid = isinstance(argv, list) and argv and all(isinstance(arg, str) and "\0" not in arg for arg in argv)
    if is_valid:
        body["argv"] = {"/action/pane:run": ["true"], "/action/subagent:opened": ["echo", "ready"]}.get(path, ["cat"])
    if isinstance(body.get("command"), str) and "\0" not in body["command"]:
        body["command"] = "true"


def shorten(body):
    """Waits are up to a day. A whole number may be written as `60000.0`."""
    for field, most in (("timeoutMs", 50), ("quietMs", 20), ("waitMs", 50), ("graceMs", 50)):
        value = body.get(field)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and most < value <= 86_400_000:
            if field != "graceMs" or value <= 600_000:
                body[field] = most


# --- Refusals that depend on state -----------------------------------------------------------------------------------

# Path, status, the beginning of the sentence, and why no schema can say it.
STATEFUL = [
    # What the machine has.
    (r"/action/.*", 503, "no server: ", "a tmux server may end at any time"),
    (r"/action/.*", 504, "tmux did not answer within ", "the machine is busy"),
    (r"/action/.*", 400, "no program ", "programs are installed and removed"),
    # What a pane has printed, and what its program is.
    (r"/action/pane:(read|wait)", 400, "`since` is ", "the output ends before that offset"),
    (r"/action/pane:screen", 400, "`at` is beyond", "the output ends before that offset"),
    (r"/action/(agent|pane):.*", 400, "the program in pane ", "it is no agent, or not yet"),
    (r"/action/agent:(create|restart)", 400, ".* has no option", "the profile decides what its program can do"),
    (r"/action/agent:restart", 504, "the new agent did not become ready", "it takes longer than we wait"),
    (r"/sign-in", 401, "this sign-in code is wrong", "codes are made at random and used up"),
    # What is at an address.
    (r"/action/ext:install", 400, "", "what is there may be no extension, or have another name or branch"),
    (r"/action/ext:new", 400, "the name `.*` is reserved", "the nouns of our own actions are no names of extensions"),
    # Who asks.
    (r"/action/agent:set-state", 400, "pass `paneId`", "without it, the report is about the caller's own pane"),
    (r"/action/agent:message", 400, "`notify` sends the answer", "only a pane can be notified"),
    # What the compatible protocols answer where ours would say 404 or 409.
    (r"/compat/agentmux/.*", 400, "target is not managed by agentmux", "sessions come and go"),
    (r"/compat/agentmux/.*", 503, "(new|replacement) session did not become ready", "it takes longer than we wait"),
    (r"/compat/agentmux/idle", 500, "session '.*' has ended", "its clients would poll for ever otherwise"),
    (r"/compat/agentmux/.*", 404, "not found", "its clients know only this for a GET or POST of another path"),
    (r"/compat/agentapi/.*/?message", 500, "failed to send message", "its clients know only this; the agent is busy"),
    (r"/compat/opencode-pty/api/sessions", 400, "PTY spawn failed", "the program or the folder is missing"),
    (r"/compat/opencode-pty/api/sessions/.*", 400, "Failed to ", "its clients know only this for a session that is gone"),
    # Its parameters are those of the action, which is checked at its own path.
    (r"/compat/poly/action/\{name\}", 400, "", "each action has rules of its own"),
    # Left out above.
    (r"/action/pane:wait", 400, "pass |`port` and `http`", "its rules about several fields are not tried here"),
]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what is listed above."""
    try:
        body = response.json()
        sentence = body.get("error") or body.get("detail") or ""
    except Exception:
        sentence = response.text
    path = case.operation.path
    for of, status, beginning, _reason in STATEFUL:
        if re.fullmatch(of, path) and response.status_code == status and re.match(beginning, sentence):
            return False
    return True
