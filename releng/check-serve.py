#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Opens the page of `memtrace serve` in headless Chromium and uses it: releng/check-serve.py [--shots DIR] ADDRESS

The address is what the command has printed. The trace must have a finding. Fails on any error in the console, and on what does not react.
"""
import importlib.util, json, os, sys

spec = importlib.util.spec_from_file_location("report", os.path.join(os.path.dirname(os.path.abspath(__file__)), "check-report.py"))
report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(report)
check = report.check
DRAWN = report.COLOURED + "('scene')"
SETTLED = "document.body && document.body.dataset.ready === '1' && document.getElementById('wait').hidden && document.body.dataset.asking === '0'"


def go(b, address):
    b.call("Page.navigate", url="about:blank")
    b.call("Page.navigate", url=address)
    b.wait(SETTLED)


def size(b, width, height, dark=False):
    b.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    b.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
    b.eval("new Promise(r => setTimeout(r, 400))")
    b.wait(SETTLED)


def click(b, expression):
    b.eval(expression + ".click()")


def key(b, name, **more):
    b.eval(f"document.getElementById('over').dispatchEvent(new KeyboardEvent('keydown', Object.assign({{key: '{name}', cancelable: true, bubbles: true}}, {json.dumps(more)})))")


def mouse(b, kind, x, y, **more):
    b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)


def changed(b, before, what):
    """Waits for another picture."""
    try:
        b.wait(SETTLED + f" && JSON.stringify({DRAWN}) !== {json.dumps(json.dumps(before, separators=(',', ':')))}", 30)
        return True
    except SystemExit:
        check(False, what)
        return False


def same(b, picture, what):
    """Waits for a picture that was there before."""
    try:
        b.wait(f"{SETTLED} && JSON.stringify({DRAWN}) === {json.dumps(json.dumps(picture, separators=(',', ':')))}", 30)
    except SystemExit:
        check(False, f"{what}: not the picture of before, {b.eval('location.hash')}: {b.eval(DRAWN)}")


def picture(b):
    b.wait("document.body.dataset.findings === '1' && document.querySelector('#panel tbody tr') !== null", 120)
    b.wait(SETTLED)
    check(b.eval(f"{DRAWN}[0]") > 1000, "nothing is drawn")
    whole = b.eval(DRAWN)
    # level of detail
    b.eval("(p => { p.value = 1000; p.dispatchEvent(new Event('input')); p.dispatchEvent(new Event('change')); })(document.getElementById('p'))")
    changed(b, whole, "p = 1 is the same picture")
    check("p=1" in b.eval("location.hash"), "the address does not keep p")
    check(b.eval("document.getElementById('figures').textContent").startswith("p = 1"), "the figures are not those of p = 1: " + b.eval("document.getElementById('figures').textContent"))
    click(b, "document.getElementById('auto')")
    same(b, whole, "Auto")
    # colours
    b.eval("(s => { s.value = 'thread'; s.dispatchEvent(new Event('change')); })(document.getElementById('by'))")
    changed(b, whole, "other colours change nothing")
    check("by=thread" in b.eval("location.hash"), "the address does not keep the colours")
    # back
    click(b, "document.getElementById('back')")
    same(b, whole, "Back")
    check(b.eval("document.getElementById('by').value") == "type", "Back leaves the choice of colours")
    # wheel and keys
    at = b.eval("(r => [r.left + r.width * .6, r.top + r.height * .4])(document.getElementById('over').getBoundingClientRect())")
    mouse(b, "mouseWheel", *at, deltaX=0, deltaY=-300)
    b.wait("/[&#]from=\\d+/.test(location.hash)", 30)
    changed(b, whole, "the wheel does not zoom")
    key(b, "w")
    same(b, whole, "the key W")
    check("from=" not in b.eval("location.hash"), "the key W leaves a window")
    # a drag of time and memory
    mouse(b, "mouseMoved", *at)
    mouse(b, "mousePressed", *at, button="left", clickCount=1)
    mouse(b, "mouseMoved", at[0] + 90, at[1] + 60, button="left")
    mouse(b, "mouseReleased", at[0] + 90, at[1] + 60, button="left", clickCount=1)
    b.wait("/[&#]from=\\d+/.test(location.hash)", 30)
    changed(b, whole, "a drag does not zoom")
    link, zoomed = b.eval("location.href"), b.eval(DRAWN)
    go(b, link)
    same(b, zoomed, "a link")
    key(b, "w")
    same(b, whole, "the key W, again")
    # keyboard: the first block is told, and Enter zooms to it
    key(b, "ArrowRight", shiftKey=True)
    b.wait("document.getElementById('say').textContent !== '' && !document.getElementById('tip').hidden", 30)
    key(b, "Enter")
    changed(b, whole, "Enter does not zoom to the block")
    click(b, "document.getElementById('whole')")
    same(b, whole, "the button Whole")


def findings(b):
    b.wait("document.body.dataset.findings === '1'")
    check(b.eval("document.querySelectorAll('#cards li').length") > 0, "no finding")
    click(b, "document.querySelector('#cards .head')")
    b.wait("!document.getElementById('reason').hidden && !document.querySelector('#cards .more').hidden", 30)
    check(b.eval("document.getElementById('reason').textContent").startswith("Shown for finding"), "no reason is given")
    b.wait(SETTLED)
    click(b, "document.getElementById('reasonBack')")
    b.wait("document.getElementById('reason').hidden && !/[&#](from|in|by|m)=/.test(location.hash)", 30)


def structures(b):
    rows = "document.querySelectorAll('#panel tbody tr')"
    click(b, "document.getElementById('tab-structures')")
    b.eval("new Promise(r => setTimeout(r, 300))")
    b.wait(SETTLED + f" && {rows}.length > 0", 60)
    many = b.eval(rows + ".length")
    b.eval("(s => { s.value = 'no such structure'; s.dispatchEvent(new Event('input')); })(document.querySelector('#panel input'))")
    b.wait(rows + ".length === 0", 30)
    b.eval("(s => { s.value = ''; s.dispatchEvent(new Event('input')); })(document.querySelector('#panel input'))")
    b.wait(f"{rows}.length === {many}", 30)
    click(b, "document.querySelector('#panel th button')")
    b.wait("document.querySelector('#panel th').ariaSort === 'ascending'", 30)
    names = [n.lower() for n in b.eval("[...document.querySelectorAll('#panel tbody td:first-child')].map(x => x.textContent)")]
    check(names == sorted(names), f"not sorted by name: {names[:5]}")
    click(b, rows + "[0]")
    b.wait("document.querySelector('#panel tr.sel') !== null && location.hash.includes('m=')", 30)


def others(b, shots):
    """Each table and chart below the picture has something, also by the keyboard."""
    for tab, there in (("threads", "document.querySelectorAll('#panel tbody tr').length > 1"), ("accesses", "document.querySelectorAll('#panel tbody tr').length > 50"),
                       ("density", DRAWN.replace("'scene'", "'c'") + "[0] > 500"), ("gantt", DRAWN.replace("'scene'", "'c'") + "[0] > 500"),
                       ("source", "document.querySelectorAll('#panel td.code').length > 0 || document.querySelector('#panel .tools .dim').textContent !== ''")):
        click(b, f"document.getElementById('tab-{tab}')")
        b.eval("new Promise(r => setTimeout(r, 300))")
        b.wait(SETTLED)
        b.eval("(c => c && (c.id = 'c'))(document.querySelector('#panel canvas'))")
        check(b.eval(there), f"nothing in {tab}: {b.eval('document.getElementById(`panel`).textContent.slice(0, 300)')}")
        check("tab=" + tab in b.eval("location.hash"), f"the address does not keep {tab}")
        if shots:
            shot(b, os.path.join(shots, f"serve-{tab}.png"))
    b.eval("(e => { e.focus(); e.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft', bubbles: true})); })(document.getElementById('tab-source'))")
    b.wait("document.activeElement.id === 'tab-gantt' && document.activeElement.ariaSelected === 'true'", 20)
    click(b, "document.getElementById('tab-structures')")


def names(b):
    """What a screen reader is told, and that nothing of a page is wider than it."""
    nameless = b.eval("""[...document.querySelectorAll('button, input, select, [tabindex="0"]:not(tr)')].filter(e => e.offsetParent &&
        !(e.textContent.trim() || e.ariaLabel || e.getAttribute('aria-label') || e.labels?.length)).map(e => e.outerHTML)""")
    check(nameless == [], f"without a name: {nameless}")
    check(b.eval("document.querySelectorAll('h1').length") == 1, "not one h1")


def widths(b, shots):
    for width, height in ((360, 740), (768, 1024), (1366, 768), (1920, 1080), (3840, 2160)):
        for dark in (False, True):
            size(b, width, height, dark)
            check(b.eval("document.documentElement.scrollWidth") <= width, f"{width}: wider than the window: {b.eval('document.documentElement.scrollWidth')}")
            check(b.eval(f"{DRAWN}[0]") > 500, f"{width}: nothing is drawn")
            if shots and width <= 1920:
                shot(b, os.path.join(shots, f"serve-{width}{'-dark' if dark else ''}.png"))
    size(b, 1366, 768)


def shot(b, file):
    data = b.call("Page.captureScreenshot", captureBeyondViewport=True, clip=dict(x=0, y=0, **b.eval(
        "({width: document.documentElement.clientWidth, height: Math.min(2400, document.documentElement.scrollHeight)})"), scale=1))["data"]
    with open(file, "wb") as out:
        out.write(report.base64.b64decode(data))


def main():
    args = sys.argv[1:]
    shots = args.pop(args.index("--shots") + 1) if "--shots" in args else None
    addresses = [a for a in args if not a.startswith("--")]
    if len(addresses) != 1:
        raise SystemExit(__doc__)
    if shots:
        os.makedirs(shots, exist_ok=True)
    b = report.Browser()
    try:
        size_now = (1366, 768)
        b.call("Emulation.setDeviceMetricsOverride", width=size_now[0], height=size_now[1], deviceScaleFactor=1, mobile=False)
        go(b, addresses[0])
        picture(b)
        findings(b)
        structures(b)
        others(b, shots)
        names(b)
        widths(b, shots)
        check(not b.errors, f"in the console: {b.errors[:3]}")
        # without the part behind the # there is nothing but a question
        b.call("Page.navigate", url="about:blank")
        b.call("Page.navigate", url=addresses[0].split("#")[0])
        b.wait("document.querySelector('#token')?.open", 30)
        check(b.eval("document.getElementById('name').textContent") == "memtrace", "a page without the token shows a trace")
    finally:
        b.close()
    print(f"serve: {report.passed} passed, {report.failed} failed")
    return report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
