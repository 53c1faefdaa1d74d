"""A full-screen program: a composer between two rules that stays on the screen while it works, and a footer with keys."""

import os
import select
import sys
import termios
import time
import tty

ROWS, COLS = 24, 80
log = ["boxed 0.1"]
draft = ""
busy_until = 0.0
prompt = ""


def draw(step):
    rule = "─" * COLS
    status = f"{'◐◓◑◒'[step % 4]} Working ({int(busy_until - time.time()) + 1}s)" if is_busy() else ""
    rows = log[-(ROWS - 6):] + [status, rule, "▸ " + draft, rule, "enter send · ctrl+c quit"]
    out = "\x1b[?2026h\x1b[H\x1b[2J" + "\r\n".join(rows)
    row = len(rows) - 2
    sys.stdout.write(f"{out}\x1b[{row + 0};{3 + len(draft)}H\x1b[?2026l")
    sys.stdout.flush()


def is_busy():
    return time.time() < busy_until


def take(data):
    global draft, busy_until, prompt
    text = data.decode(errors="replace").replace("\x1b[200~", "").replace("\x1b[201~", "")
    for char in text:
        if char == "\x03":
            raise SystemExit
        if char == "\r":
            if draft:
                log.append("you said: " + draft)
                prompt, draft, busy_until = draft, "", time.time() + 2
        elif char == "\x15":
            draft = ""
        elif char.isprintable():
            draft += char


saved = termios.tcgetattr(0)
tty.setraw(0)
sys.stdout.write("\x1b[?1049h\x1b[?2004h")
try:
    step, was_busy = 0, False
    draw(step)
    while True:
        ready, _, _ = select.select([0], [], [], 0.2 if is_busy() else None)
        if ready:
            take(os.read(0, 4096))
        if was_busy and not is_busy():
            log.append("done: " + prompt)
        was_busy, step = is_busy(), step + 1
        draw(step)
finally:
    sys.stdout.write("\x1b[?1049l")
    termios.tcsetattr(0, termios.TCSANOW, saved)
