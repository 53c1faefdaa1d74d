"""A chat program that reads lines in canonical mode and never leaves it.

What it does is in the line: `quote` pauses right after something that looks like its prompt, `wait`
works in silence until Ctrl+C, `menu` asks with a numbered menu, `end` exits in the middle of a turn.
"""

import sys
import time


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


say("lines 0.1\n")
while True:
    say("> ")
    line = sys.stdin.readline()
    if not line:
        break
    if line.startswith("quote"):
        say("Like this:\n> ")
        time.sleep(2.5)
        say("a quoted line\nthe end of it\n")
    elif line.startswith("wait"):
        try:
            time.sleep(60)
            say("nothing came\n")
        except KeyboardInterrupt:
            say("\nstopped\n")
    elif line.startswith("menu"):
        say("Which files?\n  1. all\n  2. none\nChoose [1-2]: ")
        say(f"chosen: {sys.stdin.readline()!r}\n")
    elif line.startswith("end"):
        time.sleep(1)
        sys.exit(7)
    else:
        say(f"got {line!r}\n")
