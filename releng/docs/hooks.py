# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Hooks of MkDocs: what the pages of docs/ link to outside of it.

Documents (examples/matmul/README.md, CONTRIBUTING.md) become pages below source/. Sources, scripts and folders are
named instead: the site stands without the repository.
"""
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
OURS = {"assets/iframe-worker.js": "iframe-worker.js", "assets/site.css": "site.css"}
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)


def place(page):
    """Where a page of the site is in the repository."""
    return page[len("source/"):] if page.startswith("source/") else "docs/" + page


def target(page, link):
    """The file of the repository that a link of this file leads to, or None for addresses and places of the page itself."""
    path = link.partition("#")[0]
    if not path or re.match(r"[a-z][a-z+.-]*:", link):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(page), path))


def outside(name):
    return not name.startswith("docs/") and name.endswith(".md") and name != "CHANGELOG.md" and (ROOT / name).is_file()


def on_files(files, config):
    for uri, name in OURS.items():
        files.append(File.generated(config, uri, abs_src_path=str(HERE / name)))
    todo = [(place(f.src_uri), Path(f.abs_src_path).read_text(encoding="utf-8")) for f in files.documentation_pages()]
    found = set()
    while todo:
        page, text = todo.pop()
        for _, _, link in LINK.findall(CODE.sub("", text)):
            name = target(page, link)
            if name and outside(name) and name not in found:
                found.add(name)
                todo.append((name, (ROOT / name).read_text(encoding="utf-8")))
    for name in sorted(found):
        files.append(File.generated(config, "source/" + name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown, page, config, files):
    here = page.file.src_uri

    def rewrite(m):
        name = target(place(here), m[3])
        if name is None:
            return m[0]
        anchor = m[3].partition("#")[2]
        to = name[len("docs/"):] if name.startswith("docs/") else "source/" + name
        if name == "docs":
            to = "README.md"
        known = files.get_file_from_path(to)
        if known and not known.inclusion.is_excluded():
            return f"{m[1]}[{m[2]}]({posixpath.relpath(to, posixpath.dirname(here) or '.')}{'#' + anchor if anchor else ''})"
        if m[2].strip("`") in (name, posixpath.basename(name)):
            return f"`{name}`"
        return f"{m[2]} (`{name}`)"

    done, result = 0, []
    for code in CODE.finditer(markdown):
        result += [LINK.sub(rewrite, markdown[done:code.start()]), code[0]]
        done = code.end()
    return "".join(result) + LINK.sub(rewrite, markdown[done:])
