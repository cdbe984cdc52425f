#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Opens build/site in headless Chromium, as files and without a network, and uses it: releng/check-site.py [SHOTS]

Looks whether the search finds pages, whether a page fetches anything from elsewhere, whether it is wider than a phone, and
whether Markdown was taken for text. With SHOTS keeps pictures, light and dark, wide and narrow.
"""
import glob
import importlib.util
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SITE = os.path.join(os.path.dirname(HERE), "build", "site")
spec = importlib.util.spec_from_file_location("check_report", os.path.join(HERE, "check-report.py"))
check_report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_report)

# what a reader types -> the page that must be among the first five
SEARCHES = {"false sharing": "howto/sharing.html", "numactl interleave": "howto/numa.html", "perf_event_paranoid": "how/collector-user.html",
            "write-tracking": "reference/cli.html"}
SHOTS = ["index", "howto/numa", "start/pictures", "reference/columns", "howto/workbench/picture"]
faults = []


def go(browser, page, width=1366, dark=False):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
    browser.call("Page.navigate", url="about:blank")
    browser.call("Page.navigate", url=f"file://{SITE}/{page}")
    browser.wait("document.readyState === 'complete' && document.querySelector('.md-content') !== null", 60)


def search(browser):
    for words, page in SEARCHES.items():
        go(browser, "index.html")
        browser.eval("document.querySelector('.md-search__input').focus()")
        browser.wait("document.querySelector('.md-search__input') === document.activeElement", 20)
        browser.eval(f"(i => {{ i.value = {words!r}; i.dispatchEvent(new Event('input', {{bubbles: true}})); "
                     "i.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true})); })(document.querySelector('.md-search__input'))")
        browser.wait("document.querySelectorAll('.md-search-result__item').length > 0", 60)
        found = browser.eval("[...document.querySelectorAll('.md-search-result__item > a')].slice(0, 5).map(a => a.href)")
        if not any(f"/{page}" in address for address in found):
            faults.append(f"search for {words}: {page} is not among the first: {found}")


def pages(browser, shots):
    for page in SHOTS:
        for width in (1366, 400):
            go(browser, page + ".html", width)
            if browser.eval("document.documentElement.scrollWidth > window.innerWidth"):
                faults.append(f"{page} is wider than {width} pixels")
            elsewhere = browser.eval("performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith('file:'))")
            if elsewhere:
                faults.append(f"{page} fetches {elsewhere}")
            if shots:
                for dark in (False, True):
                    go(browser, page + ".html", width, dark)
                    browser.shot(os.path.join(shots, f"{page.replace('/', '-')}-{width}-{'dark' if dark else 'light'}.png"), dark)


def markdown():
    """Paragraphs that have what would be a list, a table or code if a blank line stood before it."""
    for file in sorted(glob.glob(SITE + "/**/*.html", recursive=True)):
        with open(file, encoding="utf-8") as f:
            text = f.read()
        for paragraph in re.findall(r"<p>(.*?)</p>", text, re.S):
            plain = re.sub(r"<[^>]+>", "", paragraph)
            if re.search(r"(?m)^(- |\* |1\. |\| |```)", plain):
                faults.append(f"{os.path.relpath(file, SITE)}: Markdown shown as text: {plain[:80]!r}")


def main():
    shots = sys.argv[1] if len(sys.argv) > 1 else None
    if shots:
        os.makedirs(shots, exist_ok=True)
    markdown()
    browser = check_report.Browser()
    try:
        search(browser)
        pages(browser, shots)
    finally:
        browser.close()
    faults.extend(f"the console: {e}" for e in browser.errors)
    print("\n".join("FAILED: " + f for f in faults) or f"{len(SEARCHES)} searches, {len(SHOTS)} pages at 2 widths: as they should be")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
