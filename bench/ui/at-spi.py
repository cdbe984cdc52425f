#!/usr/bin/python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What a screen reader is told of the workbench: walks the AT-SPI tree of its windows.

usage: at-spi.py APPLICATION [--tree] [--wait SECONDS]

Prints each control that a person reaches and that has no name, or no role, and a table that has no cells; with --tree all
that is there: role, name, value, states. The exit code is 1 when something is missing, 2 when the application is not there.
"""
import sys
import time
import warnings

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, GLib  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)  # the names of the interfaces are those of old versions, too
MOST_CHILDREN = 200
# who reaches one of these must hear what it is
CONTROLS = {
    "push button", "toggle button", "check box", "radio button", "combo box", "text", "entry", "password text", "spin button", "slider",
    "table", "tree table", "tree", "list", "list box", "menu item", "check menu item", "radio menu item", "page tab", "drawing area",
    "image", "canvas", "terminal", "document frame", "link", "menu", "button", "level bar",
}
NO_ROLE = {"unknown", "invalid", "redundant object", "extended"}
TABLES = {"table", "tree table"}


def attempt(call, otherwise):
    """An object may be gone while it is asked."""
    try:
        return call()
    except GLib.Error:
        return otherwise


def states(o):
    s = attempt(o.get_state_set, None)
    names = []
    for name in ("FOCUSABLE", "FOCUSED", "SHOWING", "VISIBLE", "SENSITIVE", "CHECKED", "SELECTED"):
        if s is not None and s.contains(getattr(Atspi.StateType, name)):
            names.append(name.lower())
    return names


def value(o):
    """Number or text that a control has, empty: none."""
    v = attempt(o.get_value_iface, None)
    if v is not None:
        n = attempt(v.get_current_value, None)
        if n is not None:
            return str(n)
    t = attempt(o.get_text_iface, None)
    if t is not None:
        n = attempt(t.get_character_count, 0)
        return attempt(lambda: Atspi.Text.get_text(t, 0, min(n, 60)), "") if n > 0 else ""
    return ""


def windows(application):
    """Whether it has a window with controls in it, and not only its frame."""
    for i in range(attempt(application.get_child_count, 0)):
        window = attempt(lambda: application.get_child_at_index(i), None)
        if window is not None and attempt(window.get_child_count, 0) > 0:
            return True
    return False


class Walk:
    def __init__(self, tree):
        self.tree = tree
        self.wrong = []
        self.seen = 0
        self.controls = 0
        self.tables = []

    def visit(self, o, path, depth):
        role = attempt(o.get_role_name, "invalid")
        name = (attempt(o.get_name, "") or "").strip()
        about = (attempt(o.get_description, "") or "").strip()
        now = states(o)
        self.seen += 1
        if self.tree:
            print("%s%s %r%s%s %s" % ("  " * depth, role, name, " (" + about + ")" if about else "",
                                      " = " + repr(value(o)) if value(o) else "", ",".join(now)))
        if "showing" not in now and role not in ("application", "frame"):
            return
        place = path + [role + (" '" + name + "'" if name else "")]
        if role in CONTROLS and "focusable" in now:
            self.controls += 1
            if not (name or about or self.labelled(o)):
                self.wrong.append("no name: " + " / ".join(p for p in place if "'" in p or p is place[-1]))
        # rows of a table that are gone have none for a moment
        if role in NO_ROLE and not any(p.split(" '")[0] in TABLES for p in path):
            self.wrong.append("no role: " + " / ".join(p for p in place if "'" in p or p is place[-1]))
        if role in TABLES:
            self.table(o, place)
        n = attempt(o.get_child_count, 0)
        for i in range(min(n, MOST_CHILDREN)):
            child = attempt(lambda: o.get_child_at_index(i), None)
            if child is not None:
                self.visit(child, place, depth + 1)

    @staticmethod
    def labelled(o):
        for r in attempt(o.get_relation_set, []) or []:
            if r.get_relation_type() == Atspi.RelationType.LABELLED_BY and r.get_n_targets() > 0:
                return attempt(r.get_target(0).get_name, "")
        return ""

    @staticmethod
    def inside(cell):
        """A cell with a picture and a text has both as children."""
        children = [attempt(lambda i=i: cell.get_child_at_index(i), None) for i in range(attempt(cell.get_child_count, 0))]
        return "".join(attempt(c.get_name, "") or "" for c in children if c is not None)

    def table(self, o, place):
        t = attempt(o.get_table_iface, None)
        if t is None:
            self.wrong.append("a table without the interface of one: " + " / ".join(p for p in place if "'" in p or p is place[-1]))
            return
        rows, columns = attempt(t.get_n_rows, -1), attempt(t.get_n_columns, -1)
        if rows < 0 or columns < 0:
            self.wrong.append("a table that does not tell its size: " + " / ".join(p for p in place if "'" in p or p is place[-1]))
        if rows > 0 and columns > 0:
            texts = []
            for c in range(columns):
                cell = attempt(lambda: t.get_accessible_at(0, c), None)
                texts.append("" if cell is None else attempt(cell.get_name, "") or value(cell) or self.inside(cell))
            self.tables.append("%s: %d rows, %d columns: %s" % (place[-1], rows, columns, ", ".join(texts)[:100]))
            if not any(texts):
                self.wrong.append("the cells of the first row have no text: " + " / ".join(p for p in place if "'" in p or p is place[-1]))


def main():
    name = sys.argv[1]
    tree = "--tree" in sys.argv
    limit = float(sys.argv[sys.argv.index("--wait") + 1]) if "--wait" in sys.argv else 60
    end = time.monotonic() + limit
    application = None
    while application is None and time.monotonic() < end:
        desktop = Atspi.get_desktop(0)
        for i in range(desktop.get_child_count()):
            a = attempt(lambda: desktop.get_child_at_index(i), None)
            if a is not None and name.lower() in (attempt(a.get_name, "") or "").lower() and windows(a):
                application = a
        if application is None:
            time.sleep(1)
    if application is None:
        print("at-spi.py: no application is called " + name, file=sys.stderr)
        return 2
    walk = Walk(tree)
    walk.visit(application, [], 0)
    for w in walk.wrong + sorted(set(walk.tables)):
        print(w)
    print("%d objects, %d controls, %d with something missing" % (walk.seen, walk.controls, len(walk.wrong)))
    return 1 if walk.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
