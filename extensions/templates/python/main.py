"""An extension of paned: greets, and counts programs that ended."""

import json
import sys


class Extension:
    """What the extension does. The test uses it without paned."""

    def __init__(self):
        self.ended = 0

    def hello(self, who="world"):
        return {"greeting": f"hello, {who}", "ended": self.ended}

    def on_event(self, name, payload):
        if name == "pane:exited":
            self.ended += 1
            # Standard output is the protocol; this is in `paned ext logs my-extension`.
            print(f"{payload['paneId']} ended", file=sys.stderr, flush=True)


# Called by `paned action my-extension:hello --who you`, over HTTP and by agents alike.
HELLO = {
    "name": "hello",
    "description": "Greet, and tell how many programs have ended.",
    "kind": "question",
    "parameters": {
        "type": "object",
        "properties": {"who": {"type": "string", "description": "Who is greeted."}},
        "additionalProperties": False,
    },
}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def handle(extension, method, params):
    """Answers one request of paned."""
    if method == "initialize":
        send({"method": "registerAction", "params": HELLO})
    elif method == "runAction":
        return extension.hello(**params["params"])
    elif method == "handleEvent":
        extension.on_event(params["name"], params["payload"])
    elif method == "shutdown":
        sys.exit(0)
    return {}


def main():
    extension = Extension()
    for line in sys.stdin:
        request = json.loads(line)
        if "method" not in request:
            continue
        try:
            answer = {"result": handle(extension, request["method"], request.get("params", {}))}
        except Exception as error:
            answer = {"error": {"code": -32000, "message": str(error)}}
        if "id" in request:
            send({"id": request["id"], **answer})


if __name__ == "__main__":
    main()
