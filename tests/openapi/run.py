"""Runs schemathesis against a real server that has panes, an agent, sessions and grants.

The server is in a folder of its own, which is removed afterwards together with every program in it.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = TARGET / "debug" / "paned"
AGENT = TARGET / "debug" / "fake-agent"
CLI = Path(sys.executable).with_name("schemathesis")
# A run takes about 90 seconds on two idle cores.
LONGEST = 900


class Server:
    """A server in a folder."""

    def __init__(self, folder):
        self.state = folder / "state"
        profiles = folder / ".config" / "paned" / "profiles"
        profiles.mkdir(parents=True)
        shutil.copy(ROOT / "tests/data/profiles/fake-agent.toml", profiles)
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMUX_TMPDIR": str(folder),
            "TMPDIR": str(folder),
            "LANG": "C.UTF-8",
            "PANED_LOG": "error",
            "AGENTMUX_AGENT": "fake-agent",
            "AGENTMUX_REPL_CMD": str(AGENT),
        }
        self.log = open(folder / "log", "w")
        self.folder = folder
        self.start()

    def start(self):
        command = [BINARY, "serve", "--port", "0", "--state-dir", self.state, "--json"]
        self.process = subprocess.Popen(
            command, env=self.env, stdout=subprocess.PIPE, stderr=self.log, cwd=self.folder, text=True
        )
        self.url = json.loads(self.process.stdout.readline())["url"]
        self.token = (self.state / "token").read_text().strip()

    def ask(self, path, params=None):
        body = None if params is None else json.dumps(params).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, body, headers)
        return json.load(urllib.request.urlopen(request, timeout=30))

    def act(self, name, params):
        return self.ask(f"/action/{name}", params)

    def prepare(self):
        """Panes, an agent, sessions of the compatible protocols, an extension, and grants."""
        lines = "for n in 1 2 3; do echo line $n; done; exec cat"
        self.act("pane:new", {"id": "reader", "argv": ["sh", "-c", lines], "meta": {"key": "value"}})
        self.act("pane:wait", {"paneId": "reader", "pattern": "line 3", "since": 0})
        for pane, tags in (("agent", []), ("mux", ["agentmux"])):
            self.act("agent:create", {"id": pane, "profile": "fake-agent", "argv": [str(AGENT)], "tags": tags, "persist": True})
        pty = {"id": "pty_prepared", "argv": ["cat"], "tags": ["opencode-pty"], "visible": "never"}
        self.act("pane:new", pty)
        self.act("ext:new", {"name": "greeter", "language": "python"})
        self.wait_for("greeter:hello")
        self.act("grant:create", {"scopes": ["read"], "label": "reader", "panes": ["reader"]})

    def wait_for(self, action):
        """Waits for an action of an extension."""
        deadline = time.monotonic() + 60
        while all(known["name"] != action for known in self.ask("/actions")):
            if deadline < time.monotonic():
                sys.exit(f"openapi: no action {action} after a minute: {self.act('ext:list', {})}")
            time.sleep(0.1)

    def stop(self):
        """Ends every program, then the server. One that has ended is started again for that."""
        try:
            if self.process.poll() is not None:
                self.start()
            for session in self.act("session:list", {}):
                self.act("session:stop", {"name": session["name"]})
            for pane in self.act("pane:list", {}):
                self.act("pane:close", {"paneId": pane["id"], "force": True})
        finally:
            self.process.terminate()
            self.process.wait(20)
            self.log.close()


def check(server, folder, arguments):
    report = folder / "report.json"
    command = [CLI, "--config-file", HERE / "schemathesis.toml", "run", server.url + "/openapi.json"]
    command += ["-H", f"Authorization: Bearer {server.token}", "--checks", "all"]
    command += ["--report", "json", "--report-json-path", report, *arguments]
    env = {**os.environ, "PANED_URL": server.url, "PANED_TOKEN": server.token, "SCHEMATHESIS_HOOKS": str(HERE / "hooks.py")}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    began = time.monotonic()
    done = subprocess.run(command, env=env, cwd=folder, timeout=LONGEST, capture_output=True, text=True)
    print(done.stdout)
    print(done.stderr, file=sys.stderr)
    return done, time.monotonic() - began


def last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1].replace(",", "")) if found else 0


def main():
    folder = Path(tempfile.mkdtemp(prefix="paned-openapi-"))
    os.chmod(folder, 0o700)
    server = Server(folder)
    try:
        server.prepare()
        done, seconds = check(server, folder, sys.argv[1:])
        is_alive = server.process.poll() is None
    finally:
        server.stop()
        log = (folder / "log").read_text()
        shutil.rmtree(folder, ignore_errors=True)
    tested = last(r"Tested: *(\d+)", done.stdout)
    cases = last(r"([\d,]+) generated", done.stdout)
    findings = last(r"found (?:\d+ )?.*?(\d+) unique failures?", done.stdout)
    if not is_alive:
        print("openapi: the server ended; its log:\n" + log)
    failed = done.returncode != 0 or not is_alive or tested == 0
    if failed and findings == 0:
        findings = 1
    print(f"openapi: {tested} operations, {cases} cases, {findings} findings, in {seconds:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
