# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Job control of a shell on a pseudo terminal with a recorded program in it.
# Prints one word per step that went right; each wait has a limit.
import os
import pty
import select
import sys
import time

memtrace, backend = sys.argv[1:3]
record = f"{memtrace} record -q --backend {backend}"
pid, fd = pty.fork()
if pid == 0:
    os.environ["PS1"] = "PROMPT>"
    os.environ["TERM"] = "dumb"
    os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
seen = ""


def wait_for(text, limit=120):
    """Reads until text appears behind what was consumed; True when it did."""
    global seen
    end = time.time() + limit
    while text not in seen:
        left = end - time.time()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            return False
        try:
            seen += os.read(fd, 65536).decode(errors="replace")
        except OSError:
            return False
    seen = seen[seen.index(text) + len(text):]
    return True


def send(text):
    os.write(fd, text.encode())


words = []
wait_for("PROMPT>")
send(f"{record} -o t1.trace sh -c 'echo started; exec cat'\n")
wait_for("\r\nstarted")  # until then the terminal is the shell's
send("hel\n")
if wait_for("hel\r\nhel\r\n"):
    words.append("cat")
send("\x1a")
if wait_for("Stopped"):
    words.append("stopped")
wait_for("PROMPT>")
send("fg\n")
wait_for("exec cat'\r\n")
send("lo\n")
if wait_for("lo\r\nlo\r\n"):
    words.append("continued")
send("\x04")
wait_for("PROMPT>")
send("test $? = 0 && echo ze''ro\n")
if wait_for("zero"):
    words.append("0")
wait_for("PROMPT>")
send(f"{record} -o t2.trace sh -c 'echo started; exec sleep 600'\n")
wait_for("\r\nstarted")
send("\x03")
wait_for("PROMPT>")
send("test $? = 130 && echo in''terrupted\n")
if wait_for("interrupted"):
    words.append("130")
wait_for("PROMPT>")
send(f"{record} -o t3.trace bash --norc --noprofile -i\n")
wait_for("PROMPT>")
send("sh -c 'echo running; exec cat'\n")
wait_for("\r\nrunning")  # until then it is the shell that is interrupted
send("\x03")
wait_for("PROMPT>")
send("echo in''ner; exit 4\n")
if wait_for("inner"):
    words.append("inner")
wait_for("PROMPT>")
send("test $? = 4 && echo fo''ur\n")
if wait_for("four"):
    words.append("4")
send("exit\n")
print(" ".join(words))
