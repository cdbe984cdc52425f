#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""check-shipped.py PRODUCT: the bundles in the folder of a product against its papers.

- memtrace.cdx.json names each bundle that is not ours, by hash or, where the
  target platform wraps a library, by coordinates; and nothing else.
- LICENSES/third-party has a licence text for each.
- each is used: reached from our bundles, from the configuration or from the
  extenders in it by Require-Bundle, Import-Package, fragments, or named in ROOTS.

Prints what is wrong and a last line; exit code 1 when something is.
"""
import glob
import hashlib
import json
import os
import re
import sys
import zipfile

# Used without being required by a manifest: how
ROOTS = {
    "org.eclipse.equinox.launcher": "started by memtrace-workbench",
    "org.eclipse.equinox.simpleconfigurator": "starts the bundles",
    "org.eclipse.equinox.event": "a service that e4 needs",
    "org.apache.felix.scr": "starts the services of e4",
    "org.apache.aries.spifly.dynamic.bundle": "service loader of NatTable's collections and of jsvg",
    "org.eclipse.swt.svg": "images of JFace, a fragment of SWT",
    "com.h2database": "the other store, an optional import of org.memtrace.storage",
    "org.postgresql.jdbc": "the store on a server, an optional import of org.memtrace.storage",
    "slf4j.simple": "the log of NatTable, found as a service",
}


def clauses(header):
    """Names and attributes of an OSGi header: [([name...], optional?)]."""
    result = []
    for clause in re.findall(r'(?:[^,"]|"[^"]*")+', header):
        parts = re.findall(r'(?:[^;"]|"[^"]*")+', clause)
        result.append(([p.strip() for p in parts if "=" not in p], "resolution:=optional" in clause.replace('"', "").replace(" ", "")))
    return result


def manifest(jar):
    with zipfile.ZipFile(jar) as z:
        text = z.read("META-INF/MANIFEST.MF").decode().replace("\r", "").replace("\n ", "")
    return dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)


def unused(bundles):
    exporters = {}
    for name, headers in bundles.items():
        for packages, _ in clauses(headers.get("Export-Package", "")):
            for package in packages:
                exporters.setdefault(package, set()).add(name)
    reached, todo = set(), [b for b in bundles if b.startswith("org.memtrace.")] + list(ROOTS)
    while todo:
        name = todo.pop()
        if name in reached or name not in bundles:
            continue
        reached.add(name)
        headers = bundles[name]
        for names, optional in clauses(headers.get("Require-Bundle", "")):
            todo += [] if optional else names
        for packages, optional in clauses(headers.get("Import-Package", "")):
            for package in packages:
                todo += [] if optional else exporters.get(package, ())
        if "Fragment-Host" in headers:
            todo.append(clauses(headers["Fragment-Host"])[0][0][0])
        # the native half of a host that is used
        todo += [b for b, h in bundles.items() if h.get("Fragment-Host", "").split(";")[0] == name and "Eclipse-PlatformFilter" in h]
    return sorted(bundles.keys() - reached)


def main(product):
    problems = []
    plugins = sorted(glob.glob(os.path.join(product, "plugins", "*.jar")))
    with open(os.path.join(product, "memtrace.cdx.json"), encoding="utf-8") as f:
        bom = json.load(f)
    by_hash, by_name = {}, {}
    for c in bom["components"]:
        by_hash.update({h["content"]: c for h in c["hashes"] if h["alg"] == "SHA-256"})
        by_name[f"{c['group']}:{c['name']}:{c['version']}"] = c
    named, bundles = set(), {}
    for jar in plugins:
        headers = manifest(jar)
        name = headers["Bundle-SymbolicName"].split(";")[0].strip()
        bundles[name] = headers
        if name.startswith("org.memtrace."):
            continue
        with open(jar, "rb") as f:
            component = by_hash.get(hashlib.sha256(f.read()).hexdigest()) or by_name.get(headers.get("Bundle-Name"))
        if component is None:
            problems.append(f"{os.path.basename(jar)} is not in memtrace.cdx.json")
            continue
        named.add(component["bom-ref"])
        if not component.get("licenses"):
            problems.append(f"{component['bom-ref']} has no licence in memtrace.cdx.json")
        folder = os.path.join(product, "LICENSES", "third-party", component["name"])
        texts = [f for f in glob.glob(os.path.join(folder, "**"), recursive=True)
                 if os.path.isfile(f) and os.path.getsize(f) > 700 and not os.path.basename(f).startswith("NOTICE")]
        if not texts:
            problems.append(f"{name}: no licence text in {folder}")
    for c in bom["components"]:
        if c["bom-ref"] not in named:
            problems.append(f"{c['bom-ref']} is in memtrace.cdx.json and not shipped")
    for name in unused(bundles):
        problems.append(f"{name} is shipped and used by nothing")
    for text in ("EPL-2.0.txt", "GPL-2.0-only.txt", "GPL-2.0-or-later.txt"):
        if not os.path.isfile(os.path.join(product, "LICENSES", text)):
            problems.append(f"LICENSES/{text} is missing")
    for problem in problems:
        print("FAILED: " + problem)
    print(f"shipped: {len(named)} libraries, {len(bundles) - len(named)} bundles of memtrace, {len(problems)} problems")
    return 1 if problems or not named else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
