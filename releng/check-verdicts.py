#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
Suites of tests of others, alone and recorded, by their own verdicts. Prints what differs; docs/measured/suites.md has numbers. By hand:

  releng/check-verdicts.py [-a "OPTIONS OF record"] [-t FOLDER] [--user NAME] [--first CASE] stress-ng|cpython|systemd|glib [CASE...]

stress-ng: each stressor that an ordinary user may run, for a second (package stress-ng); its exit code. cpython: modules of the tests of
Python (package libpython3.11-testsuite); the verdict of each test. systemd, glib: the programs of the packages systemd-tests and
libglib2.0-tests; their exit code and, of glib, the verdict of each test. As root the tests run as --user (nobody), with -t for their files:
for stressors a file system of its own, since some fill it. What differs is run again, alone and recorded, until it was the same once or
differed three times; a case that is not the same alone is told apart. Ends with 1 when a case differs each time.
"""
import argparse
import glob
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMTRACE = os.environ.get("MEMTRACE", os.path.join(ROOT, "build/collector/memtrace"))
PYTHON = "/usr/bin/python3.11"
# of Python's tests those that ask the system for something
MODULES = """test_asyncgen test_asyncio test_atexit test_builtin test_bytes test_cmd_line test_concurrent_futures test_contextlib
test_coroutines test_ctypes test_dbm test_dict test_eintr test_epoll test_exceptions test_faulthandler test_fcntl test_file
test_fileio test_fork1 test_ftplib test_functools test_gc test_generators test_glob test_hashlib test_httplib test_httpservers
test_imaplib test_import test_io test_ioctl test_iter test_json test_kqueue test_largefile test_list test_logging test_lzma
test_mailbox test_memoryio test_memoryview test_mmap test_multiprocessing_fork test_multiprocessing_forkserver
test_multiprocessing_main_handling test_multiprocessing_spawn test_openpty test_os test_pathlib test_pickle test_pipes test_poll
test_popen test_posix test_pty test_pwd test_queue test_random test_re test_repl test_resource test_runpy test_sched
test_script_helper test_select test_selectors test_set test_shelve test_shutil test_signal test_site test_smtplib test_socket
test_socketserver test_sqlite3 test_ssl test_stat test_struct test_subprocess test_support test_sys test_sys_settrace test_syslog
test_tarfile test_tempfile test_thread test_threadedtempfile test_threading test_threading_local test_threadsignals test_time
test_timeout test_tracemalloc test_traceback test_tty test_unicode test_urllib2_localnet test_uuid test_venv test_wait3 test_wait4
test_weakref test_zipfile test_zlib""".split()


def stressors(_):
    return subprocess.run(["stress-ng", "--stressors"], capture_output=True, text=True, check=True).stdout.split()


def stressor(name, folder):
    return ["stress-ng", "-q", "--" + name, "1", "-t", "1", "--temp-path", folder], 120


def modules(_):
    folder = "/usr/lib/python3.11/test"
    return [m for m in MODULES if os.path.exists("%s/%s.py" % (folder, m)) or os.path.isdir("%s/%s" % (folder, m))]


def module(name, folder):
    return [PYTHON, "-W", "ignore", "-m", "test", "--junit-xml", folder + "/result.xml", name], 900


def programs(where):
    def cases(_):
        return sorted(os.path.basename(p) for p in glob.glob(where + "/*")
                      if os.access(p, os.X_OK) and os.path.isfile(p) and not p.endswith((".sh", ".py")))

    def command(name, folder):
        return [os.path.join(where, name)], 120
    return cases, command


SUITES = {"stress-ng": (stressors, stressor), "cpython": (modules, module), "systemd": programs("/usr/lib/systemd/tests"),
          "glib": programs("/usr/libexec/installed-tests/glib")}


class Verdict:
    """What a run of a case says: its exit code, and a verdict for each test where it tells these."""

    def __init__(self, status, text, folder):
        self.status, self.text, self.tests = status, text, {}
        try:
            tree = xml.parse(folder + "/result.xml")
        except (OSError, xml.ParseError):
            # TAP
            for line in text.splitlines():
                m = re.match(r"(not ok|ok) \d+ (\S+)( # SKIP)?", line)
                if m:
                    self.tests[m.group(2)] = "skipped" if m.group(3) else m.group(1)
            return
        for t in tree.iter("testcase"):
            bad = [c.tag for c in t if c.tag in ("failure", "error", "skipped")] or ["ok"]
            self.tests[t.get("name")] = bad[0]

    def difference(self, other):
        """None if both are the same; else a sentence."""
        if self.status != other.status:
            text = "status %s instead of %s" % (other.status, self.status)
        elif self.tests != other.tests:
            text = "tests"
        else:
            return None
        changed = [n for n in sorted(set(self.tests) | set(other.tests)) if self.tests.get(n) != other.tests.get(n)]
        if changed:
            text += ": " + ", ".join("%s %s instead of %s" % (n, other.tests.get(n), self.tests.get(n)) for n in changed[:5])
        elif other.text.strip():
            text += ": " + " / ".join(other.text.strip().splitlines()[-2:])[:300]
        return text


def run(suite, name, recorded, args):
    folder = tempfile.mkdtemp(prefix="verdicts.", dir=args.folder)
    command, limit = SUITES[suite][1](name, folder + "/run")
    who = []
    try:
        os.mkdir(folder + "/run")
        if os.geteuid() == 0:
            user = pwd.getpwnam(args.user)
            for f in (folder, folder + "/run"):
                os.chown(f, user.pw_uid, user.pw_gid)
            who = ["setpriv", "--reuid", str(user.pw_uid), "--regid", str(user.pw_gid), "--clear-groups"]
        if recorded:
            command = [MEMTRACE, "record", "--quiet", *shlex.split(args.options), "-o", folder + "/trace", "--", *command]
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": folder + "/run", "TMPDIR": folder + "/run"}
        # a group of its own, so that what a case leaves behind ends with it
        with subprocess.Popen(who + command, cwd=folder + "/run", env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as p:
            try:
                out, _ = p.communicate(timeout=limit)
                status = p.returncode
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, 9)
                out, status = p.communicate()[0], "none after %d s" % limit
        if isinstance(status, int) and status < 0:
            status = 128 - status
        return Verdict(status, out.decode("utf-8", "replace"), folder + "/run")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def judge(suite, name, args):
    """(kind, text): same, DIFFERENT, sometimes, unsteady; and the verdict alone."""
    alone = run(suite, name, False, args)
    text = alone.difference(run(suite, name, True, args))
    first = text
    for _ in range(2):
        if not text:
            break
        again = run(suite, name, False, args)
        if alone.difference(again):
            return "not the same alone", alone.difference(again), alone
        text = alone.difference(run(suite, name, True, args))
    if not first:
        return "same", "", alone
    return ("sometimes different" if not text else "DIFFERENT"), first, alone


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-a", "--options", default="")
    p.add_argument("-t", "--folder", default=tempfile.gettempdir())
    p.add_argument("--user", default="nobody")
    p.add_argument("--first")
    p.add_argument("suite", choices=sorted(SUITES))
    p.add_argument("cases", nargs="*")
    args = p.parse_args()
    cases = args.cases or SUITES[args.suite][0](args)
    if not cases:
        sys.exit("%s is not installed" % args.suite)
    if args.first:
        cases = cases[cases.index(args.first):]
    count, verdicts, tests = {}, {}, 0
    for i, name in enumerate(cases):
        kind, text, alone = judge(args.suite, name, args)
        count[kind] = count.get(kind, 0) + 1
        verdicts[alone.status] = verdicts.get(alone.status, 0) + 1
        tests += len(alone.tests)
        if kind != "same":
            print("%s: %s: %s" % (kind, name, text), flush=True)
        if i % 25 == 24:
            print("... %d of %d: %s" % (i + 1, len(cases), ", ".join("%d %s" % (v, k) for k, v in count.items())), flush=True)
    print("%s: %d cases%s: %s; status alone: %s" % (
        args.suite, len(cases), " with %d tests" % tests if tests else "", ", ".join("%d %s" % (v, k) for k, v in count.items()),
        ", ".join("%s (%d)" % (k, v) for k, v in verdicts.items())))
    return "DIFFERENT" in count


if __name__ == "__main__":
    sys.exit(main())
