"""A program that asks before it acts: two keys in one row take the place of its composer, and one of them is enough."""

import os
import sys
import termios
import tty

RULE = "─" * 60


def read():
    return os.read(0, 4096).decode().replace("\x1b[200~", "").replace("\x1b[201~", "")


def show(above, below):
    sys.stdout.write("\x1b[H\x1b[2J" + "\r\n".join(above + below))
    sys.stdout.flush()


def composer(draft):
    show(log, [RULE, "❯ " + draft, RULE])
    sys.stdout.write(f"\x1b[{len(log) + 2};{3 + len(draft)}H")
    sys.stdout.flush()


log = ["keys 0.1"]
saved = termios.tcgetattr(0)
tty.setraw(0)
try:
    draft = ""
    composer(draft)
    while True:
        for char in read():
            if char == "\x03":
                raise SystemExit
            if char != "\r":
                draft = draft + char if char.isprintable() else ""
                continue
            ask = ["Approve tool call?", "run_commands", "", "  $ " + draft, " [y] Approve   [n] Deny", "", "model 0%"]
            show(log, ask)
            answer = ""
            while answer not in ("y", "n"):
                answer = read()
            log.append(f"{'ran' if answer == 'y' else 'refused'}: {draft}")
            draft = ""
        composer(draft)
finally:
    termios.tcsetattr(0, termios.TCSANOW, saved)
