#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Opens reports in headless Chromium and uses them: releng/check-report.py [--shots DIR] [--times] REPORT.html...

Speaks the DevTools protocol over a WebSocket of its own, so that nothing but Chromium is needed. Fails on any error in the
console, and on what does not react. The first report must have a finding.
"""
import base64, json, os, re, shutil, socket, struct, subprocess, sys, tempfile, time


class Browser:
    def __init__(self):
        self.home = tempfile.mkdtemp()
        program = next(p for p in ("chromium", "chromium-browser", "google-chrome") if shutil.which(p))
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0", "--hide-scrollbars",
             "--user-data-dir=" + self.home, "--window-size=1250,1000", "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        address = None
        for line in self.process.stderr:
            found = re.search(r"ws://([\d.]+):(\d+)(/\S+)", line)
            if found:
                address = found.groups()
                break
        if not address:
            raise SystemExit("Chromium did not start")
        os.set_blocking(self.process.stderr.fileno(), False)
        self.socket = socket.create_connection((address[0], int(address[1])), timeout=300)
        self.socket.sendall((f"GET {address[2]} HTTP/1.1\r\nHost: {address[0]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: " + base64.b64encode(os.urandom(16)).decode() + "\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.buffer += self.socket.recv(4096)
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        self.number = 0
        self.errors = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def take(self, n):
        while len(self.buffer) < n:
            more = self.socket.recv(1 << 16)
            if not more:
                raise SystemExit("Chromium went away")
            self.buffer += more
        data, self.buffer = self.buffer[:n], self.buffer[n:]
        return data

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            text += self.take(length)
            if first & 0x80:
                return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode()
        mask = os.urandom(4)
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data)) if len(data) < 1 << 16 else b"\xff" + struct.pack(">Q", len(data))
        self.socket.sendall(b"\x81" + size + mask + bytes(b ^ mask[i & 3] for i, b in enumerate(data)))
        while True:
            m = self.receive()
            if m.get("method") == "Runtime.exceptionThrown":
                d = m["params"]["exceptionDetails"]
                self.errors.append(d.get("exception", {}).get("description") or d["text"])
            elif m.get("method") == "Log.entryAdded" and m["params"]["entry"]["level"] == "error":
                self.errors.append(m["params"]["entry"]["text"])
            elif m.get("method") == "Runtime.consoleAPICalled" and m["params"]["type"] in ("error", "warning"):
                self.errors.append(str(m["params"]["args"]))
            if m.get("id") == self.number:
                if "error" in m:
                    raise SystemExit(f"{method}: {m['error']}")
                return m["result"]

    def eval(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise SystemExit(f"{expression}: {r['exceptionDetails'].get('exception', {}).get('description')}")
        return r["result"].get("value")

    def open(self, path):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + path)
        self.wait("document.readyState === 'complete' && document.body && document.body.dataset.ready === '1'")

    def wait(self, condition, seconds=300):
        end = time.monotonic() + seconds
        while not self.eval(condition):
            if time.monotonic() > end:
                raise SystemExit("this did not become true: " + condition)
            time.sleep(0.05)

    def shot(self, file, dark=False):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.eval("new Promise(r => setTimeout(r, 200))")
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=dict(x=0, y=0, width=size["width"], height=size["height"], scale=1))["data"]
        with open(file, "wb") as out:
            out.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.home, ignore_errors=True)


# Number of pixels of a canvas that are not its background, and a sum that changes with any of them.
COLOURED = """(id => { const c = document.getElementById(id), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
let n = 0, s = 0; for (let i = 0; i < d.length; i += 4) { if (d[i] !== d[0] || d[i + 1] !== d[1]) n++; s = (s * 31 + d[i] * 7 + d[i + 1] * 3 + d[i + 2]) | 0; } return [n, s]; })"""
failed = passed = 0


def check(ok, what):
    global failed, passed
    passed += bool(ok)
    failed += not ok
    if not ok:
        print("FAILED:", what)


def use(b, path, must_find):
    b.errors.clear()
    b.open(path)
    name = os.path.basename(path)
    for canvas in ("time", "pages"):
        check(b.eval(f"{COLOURED}('{canvas}')[0]") > 200, f"{name}: nothing is drawn in {canvas}")
    lines = b.eval("[...document.querySelectorAll('#first dt')].map(t => t.textContent).join()")
    check(lines == "Ran,Spent,First,Where,Not known", f"{name}: it begins with {lines}")
    check(b.eval("[...document.querySelectorAll('#first dd')].every(t => t.textContent.length > 5)"), f"{name}: an empty line")
    findings = b.eval("document.querySelectorAll('.card').length")
    check(findings > 0 or not must_find, f"{name}: no finding")
    before = b.eval(f"{COLOURED}('time')")
    for mode in ("thread", "sharing", "rw"):
        b.eval(f"document.querySelector('[data-mode={mode}]').click()")
        check(b.eval("location.hash").find("m=" + mode) >= 0, f"{name}: the address does not keep {mode}")
    check(b.eval(f"{COLOURED}('time')") != before or must_find is None, f"{name}: other colours change nothing")
    pages = b.eval(f"{COLOURED}('pages')")
    b.eval("document.getElementById('pages').dispatchEvent(new WheelEvent('wheel', {deltaY: -700, cancelable: true}))")
    zoomed = b.eval("[report.state.from, report.state.to]")
    rows = b.eval("document.getElementById('note').textContent")
    check(zoomed[1] - zoomed[0] < 0.99 or b.eval("current.s.rows") <= 4, f"{name}: the wheel does not zoom: {rows}")
    b.eval("document.getElementById('pages').dispatchEvent(new KeyboardEvent('keydown', {key: 'Home', cancelable: true}))")
    check(b.eval("report.state.to - report.state.from") == 1, f"{name}: Home does not show all")
    check(b.eval(f"{COLOURED}('pages')") == pages, f"{name}: another picture after the zoom")
    # the address is the state
    b.eval("document.querySelector('[data-mode=sharing]').click()")
    b.eval("document.getElementById('time').dispatchEvent(new KeyboardEvent('keydown', {key: '+', cancelable: true}))")
    kept = b.eval("JSON.stringify(report.state)")
    address = b.eval("location.href")
    b.call("Page.navigate", url="about:blank")
    b.call("Page.navigate", url=address)
    b.wait("document.body && document.body.dataset.ready === '1'")
    again = json.loads(b.eval("JSON.stringify(report.state)"))
    check(all(abs(v - again[k]) < 1e-5 if isinstance(v, float) else v == again[k] for k, v in json.loads(kept).items()), f"{name}: the address does not bring back {kept}: {again}")
    if findings:
        b.eval("document.querySelector('.card button').click()")
        b.wait("document.querySelector('tr.sel') !== null")
        check(b.eval("document.getElementById('name').textContent === D.structures[D.findings[0].structures[0]].name"), f"{name}: show does not show")
        check(b.eval("D.findings.every((f, i) => !f.fix || document.querySelectorAll('.card')[i].textContent.includes(f.fix))"), f"{name}: words of a fix are missing")
        buttons = b.eval("[...document.querySelectorAll('.card button')].filter(x => x.textContent === 'Copy the code').length")
        check(buttons == b.eval("D.findings.filter(f => f.code).length"), f"{name}: {buttons} buttons copy code")
        if buttons:
            b.eval("document.execCommand = () => true; [...document.querySelectorAll('.card button')].find(x => x.textContent === 'Copy the code').click()")
            b.wait("[...document.querySelectorAll('.card button')].some(x => x.textContent === 'Copied')")
    # tables
    all_rows = b.eval("document.querySelectorAll('#structures tbody tr').length")
    b.eval("(s => { s.value = 'no such structure'; s.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
    check(b.eval("document.querySelectorAll('#structures tbody tr').length") == 0, f"{name}: the search finds everything")
    b.eval("(s => { s.value = ''; s.dispatchEvent(new Event('input')); })(document.getElementById('search'))")
    check(b.eval("document.querySelectorAll('#structures tbody tr').length") == all_rows > 0, f"{name}: the table is not whole again")
    b.eval("document.querySelector('#structures th button').click()")
    names = b.eval("[...document.querySelectorAll('#structures tbody tr td:first-child')].map(x => x.textContent)")
    check(names == sorted(names), f"{name}: not sorted by name: {names[:5]}")
    # Enter shows a structure, and the keyboard stays where it is
    b.eval("document.querySelector('#structures tbody tr:last-child').focus()")
    b.eval("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', cancelable: true}))")
    b.wait("document.activeElement.matches('#structures tbody tr:last-child.sel')", 20)
    # on paper: as wide as the paper, white, without what can only be clicked
    b.call("Emulation.setDeviceMetricsOverride", width=794, height=1123, deviceScaleFactor=1, mobile=False)
    b.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    b.eval("new Promise(r => setTimeout(r, 200))")
    check(b.eval("document.documentElement.scrollWidth") <= 794, f"{name}: wider than the paper: {b.eval('document.documentElement.scrollWidth')}")
    check(b.eval("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", f"{name}: the paper is not white")
    check(b.eval("document.getElementById('pages').getContext('2d').getImageData(0, 0, 1, 1).data[0]") == 255, f"{name}: a dark picture on paper")
    check(b.eval("[...document.querySelectorAll('button')].filter(x => x.offsetParent && !x.closest('th')).length") == 0, f"{name}: buttons on paper")
    b.call("Emulation.clearDeviceMetricsOverride")
    b.call("Emulation.setEmulatedMedia", media="", features=[])
    for what in ("structures", "threads", "never", "pages"):
        lines = b.eval(f"CSV['{what}']().length")
        check(lines >= 1 and b.eval(f"new Set(CSV['{what}']().map(r => r.length)).size") == 1, f"{name}: CSV of {what}")
    check(b.eval("document.querySelectorAll('link, script[src], img').length") == 0, f"{name}: something comes from outside")
    check(not b.errors, f"{name}: in the console: {b.errors[:3]}")


def main():
    args = sys.argv[1:]
    shots = args.pop(args.index("--shots") + 1) if "--shots" in args else None
    times = "--times" in args
    files = [os.path.abspath(a) for a in args if not a.startswith("--")]
    if not files:
        raise SystemExit(__doc__)
    b = Browser()
    try:
        for i, path in enumerate(files):
            use(b, path, i == 0)
            if shots:
                os.makedirs(shots, exist_ok=True)
                b.open(path)
                base = os.path.join(shots, os.path.basename(path)[:-5])
                b.shot(base + ".png")
                b.shot(base + "-dark.png", True)
            if times:
                b.open(path)
                zooms = b.eval("Array.from({length: 20}, (v, i) => { zoom(i / 100, 1 - i / 100); return report.times.draw; }).sort((a, b) => a - b)")
                print(f"{os.path.basename(path)}: {os.path.getsize(path)} bytes, unpacked in {b.eval('report.times.unpack'):.0f} ms, zoom median {zooms[10]:.1f} ms, longest {zooms[-1]:.1f} ms")
    finally:
        b.close()
    print(f"report: {passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
