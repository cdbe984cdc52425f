// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// The page of `memtrace serve`. What is looked at stands in the address; the server decides what everything means. Names come from a trace,
// so they are only ever set as text.
import {paint} from "./scene.js";
import {makeTabs} from "./tabs.js";
import {api, Dropped, el, save, setToken} from "./ask.js";

const $ = id => document.getElementById(id);
const KEYS = ["trace", "from", "to", "in", "by", "p", "f", "m", "tab"];
const dark = matchMedia("(prefers-color-scheme: dark)");
let token = "", trace = null, picture = null, image = null, hover = null, drag = null, levels = null, steps = 0, top = 0;
/** What is looked at: texts by KEYS; what is not there is the whole, or chosen by the picture. */
let view = {};

// ---- the address is the state

function read() {
	const a = new URLSearchParams(location.hash.slice(1));
	token = a.get("t") || token;
	setToken(token);
	return Object.fromEntries(KEYS.filter(k => a.has(k)).map(k => [k, a.get(k)]));
}

function address(v) {
	const a = new URLSearchParams({t: token});
	KEYS.forEach(k => v[k] !== undefined && v[k] !== "" && a.set(k, v[k]));
	return "#" + a;
}

/** Looks at something else, as one step back; `same`: the last step is replaced, as while a slider is dragged. */
function go(next, {same = false, reason = ""} = {}) {
	view = next;
	if (!same) top = ++steps;
	history[same ? "replaceState" : "pushState"]({steps, reason: same ? history.state?.reason || "" : reason}, "", address(view));
	show();
}

const change = (changes, options) => go({...view, ...changes}, options);
const asNumbers = v => Object.fromEntries(Object.entries(v).map(([k, x]) => [k, String(x)]));
/** What the server says that is to be looked at; the trace and the tab stay. */
const goTo = (zoom, reason = "") => go({...asNumbers(zoom), trace: view.trace, tab: view.tab}, {reason});

addEventListener("popstate", () => {
	steps = history.state?.steps ?? 0;
	view = read();
	show();
});

/** The values of the address that a question about the trace has. */
function question(more = {}) {
	const q = {};
	KEYS.forEach(k => k !== "tab" && view[k] !== undefined && (q[k] = view[k]));
	return {...q, ...more};
}

const mark = producer => change({m: String(producer)}, {same: true});
const zoomInto = producer => change({in: String(producer), m: ""});

function say(text) {
	$("say").textContent = text;
}

// ---- the picture

function room() {
	const r = $("stage").getBoundingClientRect();
	return {w: Math.max(200, Math.floor(r.width)), h: Math.max(150, Math.floor(r.height)), font: r.width < 500 ? 10 : 12,
		theme: dark.matches ? "dark" : "light"};
}

async function show() {
	$("back").disabled = steps === 0;
	$("forward").disabled = steps >= top;
	const reason = history.state?.reason || "";
	$("reason").hidden = !reason;
	$("reason").firstElementChild.textContent = reason;
	$("by").value = view.by || $("by").dataset.first;
	document.title = (trace ? trace.name + " – " : "") + "memtrace";
	drawOver();
	showTab();
	stretch();
	const late = setTimeout(() => $("wait").hidden = false, 300);
	try {
		const size = room();
		const found = await api("picture", question(size), "picture");
		const model = JSON.stringify([view.trace, view.from, view.to, view.in, view.by, view.f]);
		picture = {...found, size, model};
		draw();
		$("figures").textContent = found.figures;
		$("over").setAttribute("aria-label", `Memory over time of ${trace.name}: ${found.figures}`);
		if (view.p === undefined || document.activeElement !== $("p")) $("p").value = 1000 * Math.sqrt(found.p);
		$("auto").setAttribute("aria-pressed", view.p === undefined);
		showPath(found.path);
		$("wait").textContent = "Reading the accesses…";
		document.body.dataset.ready = "1";
		if (levels?.model !== model) loadLevels(model);
	} catch (e) {
		if (!(e instanceof Dropped)) {
			$("wait").textContent = e.message;
			$("wait").hidden = false;
			clearTimeout(late);
			document.body.dataset.ready = "1";
			return;
		}
	}
	clearTimeout(late);
	$("wait").hidden = true;
}

function canvas(id, size) {
	const c = $(id), scale = devicePixelRatio || 1;
	c.width = Math.round(size.w * scale);
	c.height = Math.round(size.h * scale);
	const g = c.getContext("2d");
	g.setTransform(scale, 0, 0, scale, 0, 0);
	return [c, g, scale];
}

function draw() {
	const [c, g, scale] = canvas("scene", picture.size);
	paint(g, picture.scene, scale);
	image = c;
	hover = null;
	$("tip").hidden = true;
	drawOver();
}

/** Until the picture of another window is there, the old one stands where it belongs. */
function stretch() {
	if (!picture || !trace) return;
	const from = Number(view.from ?? 0), to = Number(view.to ?? trace.duration), [x, y, w, h] = picture.plot;
	if (from === picture.from && to === picture.to || (view.in ?? "") !== String(picture.state.in ?? "")) return;
	const c = $("scene"), g = c.getContext("2d"), s = devicePixelRatio || 1;
	const copy = document.createElement("canvas");
	copy.width = c.width;
	copy.height = c.height;
	copy.getContext("2d").drawImage(c, 0, 0);
	const x0 = x + w * (picture.from - from) / (to - from), w1 = w * (picture.to - picture.from) / (to - from);
	g.save();
	g.beginPath();
	g.rect(x, y, w, h);
	g.clip();
	g.fillStyle = getComputedStyle(document.body).backgroundColor;
	g.fillRect(x, y, w, h);
	g.imageSmoothingEnabled = false;
	g.drawImage(copy, x * s, y * s, w * s, h * s, x0, y, w1, h);
	g.restore();
	picture = {...picture, from, to};
}

function drawOver() {
	if (!picture) return;
	const [, g] = canvas("over", picture.size), style = getComputedStyle(document.documentElement);
	const accent = style.getPropertyValue("--acc"), [px, py, pw, ph] = picture.plot;
	g.strokeStyle = g.fillStyle = accent;
	g.lineWidth = 2;
	for (const [x0, y0, x1, y1] of picture.marks) {
		g.strokeRect(x0 + 1, y0 + 1, x1 - x0 - 2, Math.max(2, y1 - y0 - 2));
		if (y1 - y0 < 8) { // too low to be seen: a wedge at each side
			const y = (y0 + y1) / 2;
			for (const [at, d] of [[px, -7], [px + pw, 7]]) {
				g.beginPath();
				g.moveTo(at + d, y - 4);
				g.lineTo(at, y);
				g.lineTo(at + d, y + 4);
				g.fill();
			}
		}
	}
	g.strokeStyle = style.getPropertyValue("--fg");
	g.lineWidth = 1;
	if (drag?.area) {
		const [x0, y0, x1, y1] = drag.area;
		g.fillStyle = style.getPropertyValue("--bg");
		g.globalAlpha = .45;
		g.fillRect(px, py, pw, y0 - py);
		g.fillRect(px, y1, pw, py + ph - y1);
		g.fillRect(px, y0, x0 - px, y1 - y0);
		g.fillRect(x1, y0, px + pw - x1, y1 - y0);
		g.globalAlpha = 1;
	}
	if (drag?.moved) {
		g.setLineDash([4, 3]);
		g.strokeRect(Math.min(drag.x0, drag.x1) + .5, Math.min(drag.y0, drag.y1) + .5, Math.abs(drag.x1 - drag.x0), Math.abs(drag.y1 - drag.y0));
		g.setLineDash([]);
	} else if (hover?.area) {
		const [x0, y0, x1, y1] = hover.area;
		g.strokeRect(x0 + .5, y0 + .5, Math.max(1, x1 - x0 - 1), Math.max(1, y1 - y0 - 1));
	}
}

function showPath(path) {
	const all = el("button", {textContent: "All memory"});
	all.onclick = () => change({in: undefined});
	const parts = [all];
	for (const p of path) {
		const b = el("button", {textContent: p.name});
		b.onclick = () => change({in: String(p.id)});
		parts.push(" › ", b);
	}
	$("path").replaceChildren(...(path.length ? parts : []));
}

// ---- gestures

let resting = 0;
const point = e => {
	const r = $("over").getBoundingClientRect();
	return [e.clientX - r.left, e.clientY - r.top];
};
const inPlot = (x, y) => picture && x >= picture.plot[0] && x < picture.plot[0] + picture.plot[2] && y >= picture.plot[1] && y < picture.plot[1] + picture.plot[3];

async function at(x, y) {
	return api("at", {...question(picture.size), x: x.toFixed(1), y: y.toFixed(1)}, "at");
}

/** Shows what is at a point; returns it, null outside of everything. */
async function tell(x, y, keyboard = false) {
	try {
		const found = await at(x, y);
		hover = found.lines ? {...found, x, y} : null;
	} catch (e) {
		hover = null;
	}
	const tip = $("tip");
	tip.hidden = !hover;
	if (hover) {
		tip.replaceChildren(el("b", {textContent: hover.lines[0]}), hover.lines.slice(1).join("\n"));
		const r = $("stage").getBoundingClientRect(), t = tip.getBoundingClientRect();
		tip.style.left = Math.max(4, Math.min(x + 16, r.width - t.width - 4)) + "px";
		tip.style.top = (y + 20 + t.height < r.height ? y + 20 : Math.max(4, y - t.height - 12)) + "px";
		if (keyboard) say(hover.lines.join(", "));
	}
	drawOver();
	return hover;
}

function gestures() {
	const over = $("over");
	over.addEventListener("pointermove", e => {
		const [x, y] = point(e);
		clearTimeout(resting);
		if (drag) {
			[drag.x1, drag.y1] = [x, y];
			drag.moved ||= Math.hypot(x - drag.x0, y - drag.y0) >= 6;
			drawOver();
			if (drag.moved) {
				const mine = drag;
				api("target", {...question(picture.size), x0: drag.x0, y0: drag.y0, x1: x, y1: y}, "target").then(t => {
					mine.area = t.area;
					if (drag === mine) drawOver();
				}, () => {});
			}
			return;
		}
		const a = hover?.area;
		if (a && !(x >= a[0] && x < a[2] && y >= a[1] && y < a[3])) {
			hover = null;
			$("tip").hidden = true;
			drawOver();
		}
		if (e.pointerType !== "touch" && picture) resting = setTimeout(() => tell(x, y), hover ? 400 : 150);
	});
	over.addEventListener("pointerleave", () => {
		clearTimeout(resting);
		hover = null;
		$("tip").hidden = true;
		drawOver();
	});
	over.addEventListener("pointerdown", e => {
		const [x, y] = point(e);
		if (e.button !== 0 || !inPlot(x, y) || e.pointerType === "touch") return;
		over.setPointerCapture(e.pointerId);
		drag = {x0: x, y0: y, x1: x, y1: y};
		$("tip").hidden = true;
	});
	let dragged = false; // the click that follows means nothing
	over.addEventListener("pointerup", async () => {
		const mine = drag;
		drag = null;
		dragged = mine?.moved ?? false;
		if (dragged) {
			try {
				goTo((await api("target", {...question(picture.size), x0: mine.x0, y0: mine.y0, x1: mine.x1, y1: mine.y1}, "target")).zoom);
			} catch (no) {
				say(no.message);
			}
		}
		drawOver();
	});
	over.addEventListener("pointercancel", () => drag = null);
	over.addEventListener("click", async e => {
		const [x, y] = point(e);
		if (!picture || e.detail > 1 || dragged) return;
		const before = picture.model, found = await tell(x, y);
		if (found?.member !== undefined && picture.model === before && String(found.member) !== view.m) mark(found.member);
	});
	over.addEventListener("dblclick", async e => {
		const found = picture && await tell(...point(e));
		if (found) goTo(found.zoom);
	});
	let turning = 0;
	over.addEventListener("wheel", e => {
		if (!picture || e.ctrlKey) return; // the browser's own zoom
		e.preventDefault();
		const step = Math.max(-3, Math.min(3, (e.deltaY || e.deltaX) / 100)), same = performance.now() - turning < 600;
		turning = performance.now();
		if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) move(step / 10, same);
		else zoom(Math.pow(1.25, step), Math.max(0, Math.min(1, (point(e)[0] - picture.plot[0]) / picture.plot[2])), same);
	}, {passive: false});
	over.addEventListener("keydown", keys);
}

function window_(from, to, same) {
	const length = Math.max(1000, Math.min(trace.duration, to - from));
	const begin = Math.max(0, Math.min(trace.duration - length, from));
	const whole = length >= trace.duration;
	change({from: whole ? undefined : String(Math.round(begin)), to: whole ? undefined : String(Math.round(Math.min(trace.duration, begin + length)))}, {same});
}

/** Keeps the instant at a fraction of the window where it is. */
function zoom(factor, at, same) {
	const from = Number(view.from ?? 0), to = Number(view.to ?? trace.duration), t = from + at * (to - from);
	window_(t - at * (to - from) * factor, t + (1 - at) * (to - from) * factor, same);
}

function move(share, same) {
	const from = Number(view.from ?? 0), to = Number(view.to ?? trace.duration), d = share * (to - from);
	window_(from + d, to + d, same);
}

async function keys(e) {
	const arrow = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key];
	const [px, py, pw, ph] = picture?.plot || [];
	let done = true;
	if (!picture || e.altKey || e.metaKey) return;
	if (arrow && e.shiftKey) {
		const a = hover?.area || [px, py, px, py];
		const x = hover ? arrow[0] > 0 ? a[2] + 1 : arrow[0] < 0 ? a[0] - 1 : hover.x : px + 1;
		const y = hover ? arrow[1] > 0 ? a[3] + 1 : arrow[1] < 0 ? a[1] - 1 : hover.y : py + 1;
		e.preventDefault();
		if (inPlot(x, y)) await tell(x, y, true);
	} else if (arrow && e.ctrlKey && arrow[0]) move(arrow[0] / 10);
	else if (e.ctrlKey) return;
	else if (arrow) stepLevel(arrow[0] + arrow[1] > 0 ? 1 : -1);
	else if (e.key === "+" || e.key === "=") zoom(.8, .5);
	else if (e.key === "-") zoom(1.25, .5);
	else if (e.key === "u" || e.key === "U") up();
	else if (e.key === "w" || e.key === "W") whole();
	else if (e.key === "Home") change({p: undefined});
	else if (e.key === "Backspace") history.back();
	else if ((e.key === "Enter" || e.key === "z") && hover) goTo(hover.zoom);
	else if ((e.key === "m" || e.key === "M") && hover?.member !== undefined) mark(hover.member);
	else if (e.key === "Escape") {
		hover = null;
		$("tip").hidden = true;
		drawOver();
	} else done = false;
	if (done) e.preventDefault();
}

const up = async () => view.in !== undefined && goTo((await api("parent", question(), "parent")).zoom);
const whole = () => change({from: undefined, to: undefined, in: undefined, f: undefined});

// ---- level of detail

async function loadLevels(model) {
	levels = {model, levels: []};
	drawCurves();
	try {
		let found = await api("levels", question(), "levels");
		for (const all of [1, 0]) {
			if (levels.model !== model) return;
			levels = {...found, model};
			drawCurves();
			if (!all || found.complete) return;
			found = await api("levels", question({all: 1}), "levels");
		}
	} catch (e) { /* the slider works without */ }
}

function stepLevel(direction) {
	const list = levels?.levels || [], p = picture?.p ?? 0;
	let now = 0;
	list.forEach((l, i) => l[0] <= p + 1e-12 && (now = i));
	const next = list[now + direction];
	if (next) change({p: String(next[0])});
}

/** Loss and reduction against the square root of p; only what is computed is drawn. */
function drawCurves() {
	const c = $("curves"), r = c.getBoundingClientRect(), [, g] = canvas("curves", {w: Math.max(1, r.width), h: Math.max(1, r.height)});
	if (!levels?.complete) return;
	const style = getComputedStyle(document.documentElement);
	for (const [i, color] of [[2, "--high"], [3, "--acc"]]) {
		g.strokeStyle = style.getPropertyValue(color);
		g.lineWidth = 1.5;
		g.beginPath();
		levels.levels.forEach((l, k) => {
			const x = Math.sqrt(l[0]) * r.width, end = Math.sqrt(levels.levels[k + 1]?.[0] ?? 1) * r.width, y = 2 + (r.height - 4) * (1 - l[i] / 100);
			g.lineTo(x, y);
			g.lineTo(end, y);
		});
		g.stroke();
	}
}

// ---- findings

async function loadFindings() {
	const state = $("findingsState");
	try {
		const f = await api("findings", {trace: view.trace}, "findings");
		state.textContent = f.heading + ".";
		$("warnings").replaceChildren(...f.warnings.map(w => el("li", {textContent: w})));
		$("cards").replaceChildren(...f.cards.map(card));
		$("whyNot").hidden = !f.why_not?.length;
		$("whyNot").lastElementChild.replaceChildren(...(f.why_not || []).map(w => el("li", {textContent: w.title + ": " + w.reason})));
	} catch (e) {
		if (e instanceof Dropped) return;
		state.textContent = e.message;
	}
	document.body.dataset.findings = "1";
}

function card(f, n) {
	const head = el("button", {className: "head", ariaExpanded: "false"}, el("span", {className: "sev", textContent: f.label}), " ",
		el("b", {textContent: f.title + ": " + f.name}));
	const more = el("div", {className: "more", hidden: true});
	const li = el("li", {className: f.severity}, head, more);
	const part = (title, text) => text ? [el("h4", {textContent: title}), el("p", {textContent: text})] : [];
	head.onclick = async () => {
		const open = more.hidden;
		for (const other of $("cards").children) {
			other.classList.remove("open");
			other.firstElementChild.ariaExpanded = "false";
			other.lastElementChild.hidden = true;
		}
		if (!open) return;
		more.hidden = false;
		head.ariaExpanded = "true";
		li.classList.add("open");
		if (!more.childElementCount) {
			more.append(el("p", {textContent: f.evidence}), el("p", {className: "dim", textContent: f.figures + "."}),
				...f.places.map(p => place(p)), ...part("What to change", f.advice), ...part("How", f.fix));
			if (f.command) more.append(el("pre", {textContent: f.command}));
			if (f.code) {
				const copy = el("button", {textContent: "Copy the code"});
				copy.onclick = () => clip(f.code, copy);
				more.append(el("pre", {textContent: f.code}), copy);
			}
			more.append(...part("How to check", f.check), ...f.notes.map(t => el("p", {className: "dim", textContent: t})));
		}
		try {
			const to = await api("finding", {trace: view.trace, n}, "finding");
			goTo(to.zoom, to.reason);
			$("cards").children[n].firstElementChild.focus();
		} catch (e) {
			say(e.message);
		}
	};
	return li;
}

function place(p) {
	return el("p", {}, p.what + " ", el("b", {textContent: p.function || "?"}), p.at ? ", " + p.at : "");
}

async function clip(text, button) {
	try {
		await navigator.clipboard.writeText(text);
	} catch (e) {
		const area = el("textarea", {value: text});
		document.body.append(area);
		area.select();
		document.execCommand("copy");
		area.remove();
	}
	const before = button.textContent;
	button.textContent = "Copied";
	setTimeout(() => button.textContent = before, 1500);
}

// ---- tables

const tabs = makeTabs({view: () => view, question, mark, zoomInto, say});
let shownTab = null;
async function showTab() {
	const id = tabs.some(t => t.id === view.tab) ? view.tab : tabs[0].id;
	for (const b of $("tabs").children) b.ariaSelected = String(b.dataset.tab === id);
	$("panel").setAttribute("aria-labelledby", "tab-" + id);
	const tab = tabs.find(t => t.id === id);
	if (!trace) return;
	if (shownTab !== tab) {
		shownTab = tab;
		$("panel").replaceChildren();
		tab.open($("panel"), trace);
	}
	$("panel").querySelectorAll(".error").forEach(e => e.remove());
	try {
		await tab.show();
	} catch (e) {
		if (!(e instanceof Dropped) && shownTab === tab) $("panel").append(el("p", {className: "error", textContent: e.message}));
	}
}

function tabBar() {
	$("tabs").append(...tabs.map(t => {
		const b = el("button", {role: "tab", id: "tab-" + t.id, textContent: t.title});
		b.dataset.tab = t.id;
		b.setAttribute("aria-controls", "panel");
		b.onclick = () => change({tab: t.id}, {same: true});
		b.onkeydown = e => {
			const next = e.key === "ArrowRight" ? b.nextElementSibling : e.key === "ArrowLeft" ? b.previousElementSibling : null;
			if (next) {
				next.focus();
				next.click();
			}
		};
		return b;
	}));
}

// ---- all of it

function controls() {
	$("back").onclick = $("reasonBack").onclick = () => history.back();
	$("forward").onclick = () => history.forward();
	$("up").onclick = up;
	$("whole").onclick = whole;
	$("in").onclick = () => zoom(.8, .5);
	$("out").onclick = () => zoom(1.25, .5);
	$("by").onchange = () => change({by: $("by").value === $("by").dataset.first ? undefined : $("by").value});
	let sliding = false;
	$("p").oninput = () => {
		change({p: String((($("p").value / 1000) ** 2).toFixed(6))}, {same: sliding});
		sliding = true;
	};
	$("p").onchange = () => sliding = false;
	$("auto").onclick = () => change({p: undefined});
	$("finer").onclick = () => stepLevel(-1);
	$("coarser").onclick = () => stepLevel(1);
	$("svg").onclick = () => save("picture.svg", question(room()), trace.name + ".svg").catch(e => say(e.message));
	$("png").onclick = () => image?.toBlob(b => {
		const a = el("a", {href: URL.createObjectURL(b), download: trace.name.replace(/[^\w.-]+/g, "_") + ".png"});
		a.click();
		setTimeout(() => URL.revokeObjectURL(a.href), 1000);
	});
	$("link").onclick = () => clip(location.href, $("link"));
	$("skip").onclick = e => {
		e.preventDefault(); // what stands behind the # is the state
		$("over").focus();
	};
	$("traces").onchange = () => {
		go({trace: $("traces").value});
		begin();
	};
	let resized = 0;
	new ResizeObserver(() => {
		clearTimeout(resized);
		resized = setTimeout(() => {
			const r = room();
			if (trace && picture && (r.w !== picture.size.w || r.h !== picture.size.h)) show();
		}, 120);
	}).observe($("stage"));
	dark.addEventListener("change", () => trace && (show(), drawCurves()));
}

/** Another trace is looked at. */
async function begin() {
	trace = null;
	picture = levels = null;
	shownTab = null;
	$("cards").replaceChildren();
	$("findingsState").textContent = "Looking for findings…";
	try {
		trace = await api("trace", {trace: view.trace}, "trace");
	} catch (e) {
		$("name").textContent = "memtrace";
		$("wait").hidden = false;
		$("wait").textContent = e.message;
		return;
	}
	$("name").textContent = trace.name;
	$("facts").textContent = [trace.duration_text, `${trace.threads} ${trace.threads === 1 ? "thread" : "threads"}`, trace.host, trace.command]
		.filter(x => x).join(" · ");
	$("warning").hidden = !trace.warning;
	$("warning").textContent = trace.warning;
	$("by").replaceChildren(...trace.colours.map(c => el("option", {value: c.id, textContent: c.title, title: c.meaning})));
	$("by").dataset.first = trace.colours[0]?.id ?? "";
	await show();
	loadFindings();
}

async function start() {
	view = read();
	history.replaceState({steps: 0, reason: ""}, "", location.href);
	if (!token) {
		$("token").showModal();
		$("token").addEventListener("close", () => {
			const at = $("address").value.indexOf("#");
			location.hash = at < 0 ? "#t=" + encodeURIComponent($("address").value.trim()) : $("address").value.slice(at);
			location.reload();
		});
		return;
	}
	let all;
	try {
		all = (await api("traces", {}, "traces")).traces;
	} catch (e) {
		$("wait").hidden = false;
		$("wait").textContent = e.message;
		return;
	}
	$("traces").replaceChildren(...all.map((n, i) => el("option", {value: i, textContent: n})));
	$("traces").value = view.trace ?? "0";
	$("traces").parentElement.hidden = all.length < 2;
	begin();
}

tabBar();
controls();
gestures();
start();
