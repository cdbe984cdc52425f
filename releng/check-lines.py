#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Lines of more than 140 characters in Java, C and documents; a tab is one character.

    releng/check-lines.py [FILE...]        default: all files that git knows

Not counted: rows of tables, code and generated pages of documents, text blocks of Java, a
string that is longer than half of a line (messages are found by their words), a long link, the list of
sources of a unit test in C. Exit code 1 when there is such a line.
"""
import re
import subprocess
import sys

LIMIT = 140
GENERATED = {"docs/reference/cli.md", "docs/reference/columns.md"}
STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def long_lines(name):
    """The numbers and lengths of the lines that are too long."""
    with open(name, encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n")
    document, java, block, fence = name.endswith(".md"), name.endswith(".java"), False, False
    for number, line in enumerate(lines, 1):
        inside = block or fence
        if java and line.count('"""') == 1:
            block = not block
            inside = True
        if document and line.lstrip().startswith("```"):
            fence = not fence
        if len(line) <= LIMIT or inside or fence:
            continue
        if document and (line.lstrip().startswith("|") or re.search(r"\S{100}", line) or re.fullmatch(r"`[^`]+`", line)):
            continue
        if line.startswith("// uses: "):
            continue
        if not document and any(len(s) > LIMIT // 2 for s in STRING.findall(line)):
            continue
        yield number, len(line)


def main():
    names = sys.argv[1:] or subprocess.run(["git", "ls-files", "*.java", "*.c", "*.h", "*.md"], capture_output=True, text=True,
                                           check=True).stdout.split("\n")
    bad = 0
    for name in names:
        if name and name not in GENERATED:
            for number, length in long_lines(name):
                print(f"{name}:{number}: {length} characters, at most {LIMIT}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
