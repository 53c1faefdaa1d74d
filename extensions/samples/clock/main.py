"""An extension in Python without dependencies: tells the time, and how long ago a pane ended."""

import json
import sys
from datetime import datetime, timezone

ended = {}  # The pane and the time of its exit.


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def now(params):
    if params.get("zone", "utc") not in ("utc", "local"):
        raise ValueError('`zone` must be "utc" or "local"')
    time = datetime.now(timezone.utc)
    time = time.astimezone() if params.get("zone") == "local" else time
    return {"time": time.isoformat(timespec="seconds"), "ended": ended}


def handle(method, params):
    if method == "initialize":
        zone = {"type": "string", "enum": ["utc", "local"], "description": "Of the answer."}
        schema = {"type": "object", "properties": {"zone": zone}}
        send({"method": "registerAction", "params": {
            "name": "now", "description": "Tell the time.", "kind": "question", "parameters": schema}})
    elif method == "runAction":
        return now(params["params"])
    elif method == "handleEvent":
        ended[params["payload"]["paneId"]] = params["time"]
    elif method == "shutdown":
        sys.exit(0)
    return {}


for line in sys.stdin:
    request = json.loads(line)
    try:
        answer = {"result": handle(request.get("method"), request.get("params", {}))}
    except Exception as error:
        code = "invalid" if isinstance(error, ValueError) else "internal"
        answer = {"error": {"code": -32000, "message": str(error), "data": {"code": code}}}
    if "id" in request and "method" in request:
        send({"id": request["id"], **answer})
