#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""compare-builds.py A B PATTERN...: compares the files of two builds byte by byte.

A pattern names files or folders below A and B. Where archives differ their
entries are compared, too, at any depth. Prints a line for each file and
for each difference; exit code 1 when something differs or nothing was there.
"""
import glob
import gzip
import hashlib
import io
import lzma
import os
import sys
import tarfile
import zipfile


def entries(data):
    """name -> (what is known about the entry, its bytes), or None when data is no archive."""
    if data[:4] == b"PK\3\4":
        with zipfile.ZipFile(io.BytesIO(data)) as z:
            return {i.filename: ((i.date_time, i.external_attr, i.compress_type, n, i.extra), z.read(i)) for n, i in enumerate(z.infolist())}
    if data[:2] == b"\x1f\x8b":
        plain = gzip.decompress(data)
        inner = entries(plain)
        return {"(header of gzip)": (data[:10], b""), **(inner if inner is not None else {"(content of gzip)": (None, plain)})}
    if data[:6] == b"\xfd7zXZ\0":
        return {"(content of xz)": (None, lzma.decompress(data))}
    if data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as t:
            return {m.name: ((m.mtime, m.mode, m.uid, m.gid, m.uname, m.linkname, n), t.extractfile(m).read() if m.isfile() else b"")
                    for n, m in enumerate(t)}
    return None


def differences(name, a, b):
    """Lines that tell where a and b differ."""
    x, y = entries(a), entries(b)
    if x is None or y is None:
        at = next((i for i, (p, q) in enumerate(zip(a, b)) if p != q), min(len(a), len(b)))
        return [f"{name}: {len(a)} and {len(b)} bytes, first difference at {at}: {a[max(0, at - 30):at + 50]!r} {b[max(0, at - 30):at + 50]!r}"]
    lines = []
    for n in sorted(x.keys() | y.keys()):
        if n not in x or n not in y:
            lines.append(f"{name}!{n}: only in the {'first' if n in x else 'second'}")
        elif x[n][1] != y[n][1]:
            lines += differences(f"{name}!{n}", x[n][1], y[n][1])
        elif x[n][0] != y[n][0]:
            lines.append(f"{name}!{n}: same content, but {x[n][0]} and {y[n][0]}")
    return lines or [f"{name}: the same entries, packed differently"]


def files(top, patterns):
    found = set()
    for pattern in patterns:
        for path in glob.glob(os.path.join(glob.escape(top), pattern)):
            if os.path.isdir(path):
                found.update(os.path.join(d, f) for d, _, names in os.walk(path) for f in names)
            else:
                found.add(path)
    return {os.path.relpath(f, top): f for f in found}


def main(first, second, *patterns):
    a, b = files(first, patterns), files(second, patterns)
    same = different = 0
    for name in sorted(a.keys() | b.keys()):
        if name not in a or name not in b:
            print(f"DIFFERENT {name}: only in the {'first' if name in a else 'second'} build")
            different += 1
            continue
        with open(a[name], "rb") as f, open(b[name], "rb") as g:
            x, y = f.read(), g.read()
        if x == y:
            same += 1
            print(f"same {hashlib.sha256(x).hexdigest()[:16]} {name}")
        else:
            different += 1
            lines = differences(os.path.basename(name), x, y)
            print(f"DIFFERENT {name}: {len(lines)} differences")
            for line in lines[:40]:
                print("    " + line[:400])
    print(f"reproducible: {same} files the same, {different} different")
    return 1 if different or not same else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
