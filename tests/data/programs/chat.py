"""A chat program with a line prompt, a spinner while it works, and a question before it deletes anything."""

import sys
import time

SPINNER = "|/-\\"


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def work(seconds):
    for step in range(int(seconds * 10)):
        say(f"\r{SPINNER[step % 4]} thinking...")
        time.sleep(0.1)
    say("\r" + " " * 20 + "\r")


say("chat 0.1, type bye to leave\n")
for number in range(1000):
    say("you: > ")
    line = sys.stdin.readline().strip()
    if not line or line == "bye":
        break
    work(1.5)
    if "delete" in line:
        say("Delete the file? [y/N] ")
        answer = sys.stdin.readline().strip()
        say("deleted\n" if answer == "y" else "kept\n")
        continue
    say(f"answer {number}: {line}\n")
