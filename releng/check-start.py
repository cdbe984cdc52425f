#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The workbench starts although its main thread is slow: a check by hand, two minutes.

    releng/check-start.py [PRODUCT]     default: the product that was built last

The platform prepares the first window in a thread of its own, while the main thread sleeps in Display.sleep and is woken once.
Display.sleep forgets a wake that comes just before it. On a busy machine this happened in one of ten starts: no window, for ever.
Here a debugger stops the main thread for half a second each time that it goes to sleep, so the wake is always lost.
Needs a JDK (jdb, jcmd; JAVA_HOME) and Xvfb. Exit code 1 when no window came.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = "releng/org.memtrace.product/target/products/org.memtrace.product/linux/gtk/x86_64"
WAITING = "org.eclipse.ui.application.WorkbenchAdvisor.openWindows"
SLEEPING = "org.eclipse.swt.widgets.Display.sleep"
STOPS = 10
STOP_S = 0.5
ASLEEP_S = 5
LIMIT_S = 300


class Debugger:
    """jdb, attached to a JVM that waits for it."""

    def __init__(self, jdb, port):
        self.process = subprocess.Popen([jdb, "-attach", port], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1)
        self.said = ""
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while c := self.process.stdout.read(1):
            with self.changed:
                self.said += c
                self.changed.notify_all()

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def says(self, words, limit_s):
        """Waits until the words were said, and forgets what was said before; whether they were."""
        with self.changed:
            said = self.changed.wait_for(lambda: words in self.said, limit_s)
            self.said = self.said.split(words, 1)[1] if said else self.said
            return said

    def expect(self, words):
        if not self.says(words, LIMIT_S):
            sys.exit("memtrace: the debugger did not say '%s', but: %s" % (words, self.said[-500:]))


def main_thread(jcmd, pid):
    """The stack of the main thread, as text."""
    stacks = subprocess.run([jcmd, str(pid), "Thread.print"], capture_output=True, text=True, check=False).stdout
    return stacks.split('"main"', 1)[-1].split("\n\n", 1)[0]


def start(product, home, java_home):
    """Starts the workbench and loses its wake; whether it has a window after it."""
    environment = dict(os.environ, HOME=home, MEMTRACE_HOME=home + "/traces", XDG_STATE_HOME=home + "/state",
                       XDG_CACHE_HOME=home + "/cache",
                       MEMTRACE_CACHE="/proc/nothing", JAVA_HOME=java_home, MEMTRACE_JAVA=java_home,
                       MEMTRACE_VMARGS="-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0")
    with open(home + "/out", "w", encoding="utf-8") as out:
        workbench = subprocess.Popen([product + "/memtrace-workbench", "-new", "-data", home + "/data"], env=environment, stdout=out,
                                     stderr=subprocess.STDOUT)
    try:
        port = ""
        while not port.endswith("\n"):
            if workbench.poll() is not None:
                sys.exit("memtrace: the workbench ended: " + open(home + "/out", encoding="utf-8").read())
            time.sleep(0.1)
            port = open(home + "/out", encoding="utf-8").read().partition("address: ")[2]
        jdb = Debugger(java_home + "/bin/jdb", port.strip().splitlines()[0])
        jdb.expect("] ")
        jdb.tell("stop in " + WAITING)
        jdb.expect("Deferring breakpoint")
        jdb.tell("resume")
        jdb.expect("Breakpoint hit")
        jdb.expect("] ")
        jdb.tell("clear " + WAITING)
        jdb.expect("Removed")
        jdb.tell("stop thread in " + SLEEPING)
        jdb.expect("Set breakpoint")
        jdb.tell("cont")
        for _ in range(STOPS):
            if not jdb.says("Breakpoint hit", ASLEEP_S):
                break  # it sleeps, or has a window
            time.sleep(STOP_S)
            jdb.tell("resume")
        jdb.tell("clear " + SLEEPING)
        jdb.expect("Removed")
        jdb.tell("resume")
        jdb.tell("exit")
        end = time.time() + LIMIT_S / 5
        stack = ""
        while time.time() < end:
            stack = main_thread(java_home + "/bin/jcmd", workbench.pid)
            if "WorkbenchAdvisor.openWindows" not in stack and "PartRenderingEngine" in stack:
                return True
            time.sleep(1)
        print(stack, file=sys.stderr)
        return False
    finally:
        workbench.kill()
        workbench.wait()


def main():
    product = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else os.path.join(ROOT, BUILT)
    jdb = os.environ.get("JAVA_HOME") or next(iter(sorted(glob.glob("/usr/lib/jvm/*/bin/jdb"), reverse=True)), "")
    java_home = jdb.removesuffix("/bin/jdb")
    if not os.path.exists(java_home + "/bin/jdb"):
        sys.exit("memtrace: no jdb; set JAVA_HOME to a JDK")
    home = tempfile.mkdtemp(prefix="check-start.")
    read, write = os.pipe()
    display = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x1024x24"], pass_fds=[write],
                               stderr=subprocess.DEVNULL)
    try:
        os.close(write)
        with os.fdopen(read, encoding="utf-8") as f:
            os.environ["DISPLAY"] = ":" + f.readline().strip()
        opened = start(product, home, java_home)
    finally:
        display.terminate()
        display.wait()
        shutil.rmtree(home, ignore_errors=True)
    print("the window is there although the wake was lost" if opened else "no window: the main thread waits for a wake that was lost")
    return 0 if opened else 1


if __name__ == "__main__":
    sys.exit(main())
