#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What the pages of docs/ and all that names them must keep: a few seconds, no package beside Python.

    releng/check-docs.py

* A link of a page leads to a file of the repository; one with an anchor to a heading or a line of a list that is there.
* docs/...md in sources, commands, scripts and messages is a page, with its anchor if one is named.
* A page has 250 lines at most, but for the generated ones.
* Each page is in the index (docs/README.md) and in the navigation of the site (releng/docs/mkdocs.yml), if that is there.
* The help of the workbench names pages and headings that are there, and has every page of start and howto.

Paths to sources that pages name are looked at by HouseTest. Exit code 1 when something is wrong; each fault is a line FILE:LINE: what.
"""
import functools
import os
import posixpath
import re
import subprocess
import sys

MOST_LINES = 250
GENERATED = {"docs/reference/cli.md", "docs/reference/columns.md", "docs/measured/programs.md"}
HELP = "HelpPages.java"
NAVIGATION = "releng/docs/mkdocs.yml"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
MENTION = re.compile(r"(?<![\w])(?<!\w/)docs/([\w/-]{2,}\.md)(#[\w-]+)?")


def tracked():
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True, check=True)
    return sorted({f for f in out.stdout.split("\0") if f and os.path.exists(f)})


def slug(heading):
    """As GitHub makes the anchor of a heading."""
    heading = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    heading = re.sub(r"\\(.)", r"\1", heading)
    return re.sub(r"[^\w _-]", "", heading.lower()).strip().replace(" ", "-")


def lines_of(text):
    """(number, line, inside of a block of code)"""
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.lstrip().startswith("```")
        yield number, line, fence or mark
        fence ^= mark


@functools.cache
def read(name):
    with open(name, encoding="utf-8", errors="replace") as f:
        return f.read()


@functools.cache
def anchors(page):
    found, seen = set(), {}
    for _, line, code in lines_of(read(page)):
        heading = None if code else re.match(r"#{1,6} +(.*)", line)
        if heading:
            name = slug(heading[1])
            found.add(name + (f"-{seen[name]}" if name in seen else ""))
            seen[name] = seen.get(name, 0) + 1
    return found


def link_faults(page):
    for number, line, code in lines_of(read(page)):
        if code:
            continue
        # an address in code is no link, but a link may have code as its text
        for _, target in LINK.findall(re.sub(r"`[^`]*\]\([^`]*`", "", line)):
            if re.match(r"[a-z][a-z+.-]*:", target):
                continue
            path, _, anchor = target.partition("#")
            to = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
            if not os.path.exists(to):
                yield number, f"the link {target} leads nowhere"
            elif anchor and to.endswith(".md") and anchor not in anchors(to):
                yield number, f"{to} has no heading #{anchor}"


def broken_links(page):
    """Links whose text goes on in the next line."""
    text = read(page)
    for m in re.finditer(r"\[((?:[^\[\]`]|`[^`]*`)*\n(?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)", text):
        if "\n\n" in m[1]:
            continue
        path, _, anchor = m[2].partition("#")
        if re.match(r"[a-z][a-z+.-]*:", m[2]):
            continue
        number = text.count("\n", 0, m.end()) + 1
        to = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if not os.path.exists(to):
            yield number, f"the link {m[2]} leads nowhere"
        elif anchor and to.endswith(".md") and anchor not in anchors(to):
            yield number, f"{to} has no heading #{anchor}"


def mention_faults(name):
    for number, line in enumerate(read(name).split("\n"), 1):
        for page, anchor in MENTION.findall(line):
            page = "docs/" + page
            if not os.path.exists(page):
                yield number, f"there is no {page}"
            elif anchor and anchor[1:] not in anchors(page):
                yield number, f"{page} has no heading {anchor}"


def help_faults(name, pages):
    text = read(name)
    files = re.findall(r'"([\w/-]+\.md)"', re.search(r"FILES = List\.of\((.*?)\);", text, re.S)[1])
    for page, anchor in re.findall(r'Place\("([\w/-]+\.md)", "([^"]*)"\)', text):
        if page not in files:
            yield 1, f"{page} is not among the pages of the help"
        elif anchor and anchor not in anchors("docs/" + page):
            yield 1, f"docs/{page} has no heading #{anchor}"
    for page in files:
        if "docs/" + page not in pages:
            yield 1, f"there is no docs/{page}"
    for page in pages:
        if re.match(r"docs/(start|howto)/", page) and page[5:] not in files:
            yield 1, f"the help has no {page}"


def main():
    os.chdir(subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip())
    files = tracked()
    markdown = [f for f in files if f.endswith(".md")]
    pages = [f for f in markdown if f.startswith("docs/")]
    faults = []

    def add(name, found):
        faults.extend(f"{name}:{number}: {what}" for number, what in found)

    for page in markdown:
        if page != "CHANGELOG.md":
            add(page, link_faults(page))
            add(page, broken_links(page))
    for name in files:
        if name.endswith((".java", ".c", ".h", ".py", ".sh", ".txt", ".md", ".xml", ".R", ".Rd", ".ipynb", ".rules", ".list", ".toml", ".json")) \
                or posixpath.basename(name) in ("Makefile", "Kbuild", "memtrace-workbench", "memtrace"):
            if name not in ("CHANGELOG.md", "releng/check-docs.py"):
                add(name, mention_faults(name))
    listed = {posixpath.normpath(posixpath.join("docs", t.partition("#")[0])) for _, t in LINK.findall(read("docs/README.md"))}
    navigation = set(re.findall(r"[\w/-]+\.md", read(NAVIGATION))) if os.path.exists(NAVIGATION) else None
    for page in pages:
        length = read(page).count("\n")
        if length > MOST_LINES and page not in GENERATED:
            faults.append(f"{page}:{length}: more than {MOST_LINES} lines; cut it by kind of text")
        if page != "docs/README.md" and not page.startswith("docs/extend/") and page not in listed:
            faults.append(f"docs/README.md:1: {page} is not in the index")
        if navigation is not None and page[5:] not in navigation:
            faults.append(f"{NAVIGATION}:1: {page[5:]} is not in the navigation")
    for name in files:
        if posixpath.basename(name) == HELP:
            add(name, help_faults(name, pages))
    print("\n".join(sorted(set(faults)) or [f"{len(pages)} pages, {len(markdown)} documents: all links lead somewhere"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
