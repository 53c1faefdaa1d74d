"""A stand-in for bridges that start a tmux process for each request and sleep before they press Enter.

Usage: tmux_bridge.py SOCKET. It prints its port. GET /capture, POST /send with {"text": …}.
"""
import json
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SOCKET = sys.argv[1]
LINES = 80
PAUSE = 0.2
# Such a bridge does not wait for tmux without an end. What Python makes of that is part of what it costs: it asks again
# and again, with pauses, whether tmux is done.
PATIENCE = 10


def tmux(*args):
    command = ["tmux", "-S", SOCKET, *args]
    return subprocess.run(command, capture_output=True, check=True, text=True, timeout=PATIENCE).stdout


class Bridge(BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply({"content": tmux("capture-pane", "-p", "-t", "main", "-S", f"-{LINES}")})

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        text = json.loads(self.rfile.read(length))["text"]
        tmux("send-keys", "-t", "main", "-l", text)
        time.sleep(PAUSE)
        tmux("send-keys", "-t", "main", "Enter")
        self.reply({"ok": True})

    def reply(self, answer):
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


tmux("-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", "80", "-y", "24", "cat")
server = ThreadingHTTPServer(("127.0.0.1", 0), Bridge)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
