"""Run it with `python3 -m unittest`. paned is not needed: the test plays its part."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

from main import Extension

MAIN = Path(__file__).with_name("main.py")


class ExtensionTest(unittest.TestCase):
    def test_hello_greets_and_counts_the_programs_that_ended(self):
        extension = Extension()
        extension.on_event("pane:exited", {"paneId": "web"})
        self.assertEqual(extension.hello("you"), {"greeting": "hello, you", "ended": 1})
        self.assertEqual(extension.hello(), {"greeting": "hello, world", "ended": 1})

    def test_it_speaks_the_protocol(self):
        call = {"action": "my-extension:hello", "params": {"who": "you"}, "caller": {}}
        requests = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}},
            {"jsonrpc": "2.0", "id": 2, "method": "runAction", "params": call},
        ]
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        ran = subprocess.run(
            [sys.executable, MAIN], input=lines, capture_output=True, text=True, timeout=30, check=True
        )
        register, ready, answer = map(json.loads, ran.stdout.splitlines())
        self.assertEqual(register["params"]["name"], "hello")
        self.assertEqual(ready["id"], 1)
        self.assertEqual(answer["result"], {"greeting": "hello, you", "ended": 0})


if __name__ == "__main__":
    unittest.main()
