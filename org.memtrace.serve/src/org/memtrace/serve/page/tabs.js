// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// What stands below the picture, for the same window, memory and filters.
import {api, el, save} from "./ask.js";
import {paint} from "./scene.js";

const PAGE = 100;

/** A table whose heads sort and whose rows are marked by a click and zoomed to by two, or by Enter. */
function grid(host, columns, rows, sort, onSort) {
	const heads = columns.map(c => {
		const th = el("th", {scope: "col", className: c.number ? "n" : "", title: c.meaning || ""});
		if (onSort) {
			th.append(el("button", {textContent: c.title, onclick: () => onSort(c)}));
			th.ariaSort = sort.id === c.id ? sort.descending ? "descending" : "ascending" : "none";
		} else th.textContent = c.title;
		return th;
	});
	const body = el("tbody", {});
	body.append(...rows.map(r => row(host, columns, r)));
	return [el("div", {className: "scroll"}, el("table", {}, el("thead", {}, el("tr", {}, ...heads)), body)), body];
}

function row(host, columns, r) {
	const tr = el("tr", {}, ...r.cells.map((c, i) => el("td", {textContent: c, className: columns[i].number ? "n" : i === 0 ? "wrap" : "", title: c.length > 40 ? c : ""})));
	if (r.producer !== undefined) {
		tr.tabIndex = 0;
		tr.dataset.producer = r.producer;
		tr.classList.toggle("sel", String(r.producer) === host.view().m);
		tr.onclick = () => host.mark(r.producer);
		tr.ondblclick = () => host.zoomInto(r.producer);
		tr.onkeydown = e => {
			if (e.key === "Enter") host.zoomInto(r.producer);
			else if (e.key === " " || e.key === "m") host.mark(r.producer);
			else if (e.key === "ArrowDown") tr.nextElementSibling?.focus();
			else if (e.key === "ArrowUp") tr.previousElementSibling?.focus();
			else return;
			e.preventDefault();
		};
	}
	return tr;
}

function structures(host) {
	const sort = {id: "accesses", descending: true};
	let place, words, count, trace, shown = "", limit = PAGE;
	const values = () => host.question({sort: sort.id, descending: sort.descending ? 1 : 0, words: words.value, p: undefined, by: undefined, m: undefined});
	async function show() {
		const asked = JSON.stringify([values(), limit]);
		if (asked === shown) {
			place.querySelectorAll("tbody tr").forEach(tr => tr.classList.toggle("sel", tr.dataset.producer === host.view().m));
			return;
		}
		const found = await api("structures", {...values(), limit}, "structures");
		const keep = document.activeElement?.closest?.("th")?.cellIndex;
		const [table] = grid(host, found.columns, found.rows, sort, c => {
			sort.descending = sort.id === c.id ? !sort.descending : c.number;
			sort.id = c.id;
			show();
		});
		const more = found.all > found.rows.length ? [el("button", {textContent: "More", onclick: () => {
			limit = Math.min(1000, limit + 300);
			show();
		}})] : [];
		count.textContent = found.rows.length < found.all ? `${found.rows.length} of ${found.all}` : String(found.all);
		place.replaceChildren(table, ...more);
		if (keep >= 0) place.querySelectorAll("th button")[keep]?.focus();
		shown = asked;
	}
	return {
		id: "structures", title: "Structures",
		open(panel, t) {
			trace = t;
			shown = "";
			limit = PAGE;
			words = el("input", {type: "search", placeholder: "Find in names, places, callers", ariaLabel: "Find structures"});
			let typed = 0;
			words.oninput = () => {
				clearTimeout(typed);
				typed = setTimeout(show, 200);
			};
			count = el("span", {className: "dim", role: "status"});
			const csv = el("button", {textContent: "Save as CSV", onclick: () => save("structures.csv", values(), trace.name + "-structures.csv")});
			place = el("div", {});
			panel.append(el("div", {className: "tools"}, words, count, csv), place);
		},
		show,
	};
}

/** Sums by a property that is chosen. */
function sums(host) {
	let place, choice;
	const values = () => host.question({key: choice.value || "thread", p: undefined, by: undefined, m: undefined, limit: 200});
	async function show() {
		const found = await api("sums", values(), "sums");
		if (!choice.childElementCount) {
			choice.append(...found.keys.map(k => el("option", {value: k.id, textContent: k.title})));
			choice.value = "thread";
		}
		const [table, body] = grid(host, found.columns, found.rows, {}, null);
		[...body.rows].forEach((tr, i) => {
			const bar = el("div", {className: "bar"});
			bar.style.width = 100 * found.rows[i].share + "%";
			tr.append(el("td", {className: "bars", ariaHidden: "true"}, bar));
		});
		place.replaceChildren(table, ...(found.all > found.rows.length ? [el("p", {className: "dim", textContent: `The first ${found.rows.length} of ${found.all}`})] : []));
	}
	return {
		id: "threads", title: "Threads and sums",
		open(panel) {
			choice = el("select", {onchange: show});
			place = el("div", {});
			panel.append(el("div", {className: "tools"}, el("label", {}, "By ", choice)), place);
		},
		show,
	};
}

/** The first accesses of what is shown; the rest is not read. */
function accesses(host) {
	let place, limit;
	async function show() {
		const found = await api("accesses", host.question({limit, p: undefined, by: undefined, m: undefined}), "accesses");
		const [table] = grid(host, found.columns, found.rows, {}, null);
		const more = found.complete || limit >= 1000 ? [] : [el("button", {textContent: "More", onclick: () => {
			limit = Math.min(1000, limit + 300);
			show();
		}})];
		place.replaceChildren(el("p", {className: "dim", role: "status", textContent: found.complete ? `All ${found.rows.length} records of what is shown`
			: `The first ${found.rows.length} records of what is shown, in order of time; zoom in to see others`}), table, ...more);
	}
	return {
		id: "accesses", title: "Accesses",
		open(panel) {
			limit = PAGE;
			place = el("div", {});
			panel.append(place);
		},
		show,
	};
}

/** A scene below the picture, with the same window of time. */
function chart(host, id, title, height, tools) {
	let canvas, note, first = 0;
	const t = {
		id, title,
		open(panel) {
			first = 0;
			canvas = el("canvas", {className: "chart", role: "img"});
			note = el("span", {className: "dim", role: "status"});
			panel.append(el("div", {className: "tools"}, ...(tools ? tools.open(t.show, n => {
				first = Math.max(0, first + n);
				t.show();
			}) : []), note), canvas);
		},
		async show() {
			const w = Math.max(200, Math.floor(canvas.parentElement.clientWidth - 32)), dark = matchMedia("(prefers-color-scheme: dark)").matches;
			const found = await api(id, host.question({w, h: height, font: w < 500 ? 10 : 12, theme: dark ? "dark" : "light", p: undefined, m: undefined,
				...(tools ? {...tools.values(), first} : {})}), id);
			const scale = devicePixelRatio || 1;
			canvas.width = w * scale;
			canvas.height = height * scale;
			canvas.style.width = w + "px";
			canvas.style.height = height + "px";
			const g = canvas.getContext("2d");
			g.setTransform(scale, 0, 0, scale, 0, 0);
			paint(g, found.scene, scale);
			canvas.setAttribute("aria-label", `${title} of the window that is shown: ${found.scene.texts.slice(0, 20).join(", ")}`);
			if (found.rows !== undefined) {
				first = found.first;
				note.textContent = `rows ${found.rows ? first + 1 : 0} to ${Math.min(found.rows, first + found.shown)} of ${found.rows}`;
			}
		},
	};
	return t;
}

function gantt(host) {
	let rows;
	return chart(host, "gantt", "Gantt", 480, {
		open(show, move) {
			rows = el("select", {onchange: () => move(-1e7)}, el("option", {value: "PRODUCER", textContent: "Structures"}),
				el("option", {value: "THREAD", textContent: "Threads"}), el("option", {value: "CPU", textContent: "CPUs"}));
			return [el("label", {}, "Rows ", rows), el("button", {textContent: "Earlier rows", onclick: () => move(-12)}),
				el("button", {textContent: "Later rows", onclick: () => move(12)})];
		},
		values: () => ({rows: rows.value}),
	});
}

/** The source of the program with what each line did. */
function source(host) {
	let files, place, note;
	async function show() {
		const values = host.question({p: undefined, by: undefined, m: undefined});
		const list = (await api("sources", values, "sources")).files, before = files.value;
		files.replaceChildren(...list.map(f => el("option", {value: f.id, textContent: f.name.slice(f.name.lastIndexOf("/") + 1), title: f.name})));
		if (!list.length) {
			note.textContent = "The trace names no source: the program was not compiled with -g, or its code was not recorded";
			place.replaceChildren();
			return;
		}
		if (list.some(f => String(f.id) === before)) files.value = before;
		const found = await api("source", {...values, id: files.value}, "source");
		note.textContent = found.note;
		const body = el("tbody", {});
		for (const l of found.lines) {
			const tr = el("tr", {}, el("td", {className: "n", textContent: l.accesses ?? ""}), el("td", {className: "n", textContent: l.threads ?? ""}),
				el("td", {className: "n", textContent: l.shared ?? ""}), el("td", {className: "n dim", textContent: l.n}), el("td", {className: "code", textContent: l.text}));
			if (l.share) tr.style.background = `color-mix(in srgb, var(--acc) ${Math.round(8 + 32 * l.share)}%, transparent)`;
			body.append(tr);
		}
		place.replaceChildren(el("div", {className: "scroll source"}, el("table", {}, el("thead", {}, el("tr", {},
			...["Accesses", "Threads", "Shared", "Line", "Source"].map((h, i) => el("th", {scope: "col", className: i < 4 ? "n" : "", textContent: h})))), body)));
		const top = found.lines.reduce((b, l, i) => (l.share ?? 0) > (found.lines[b]?.share ?? 0) ? i : b, 0);
		const box = place.firstElementChild;
		box.scrollTop = Math.max(0, (body.rows[top]?.offsetTop ?? 0) - 120);
	}
	return {
		id: "source", title: "Source",
		open(panel) {
			files = el("select", {onchange: show});
			note = el("span", {className: "dim", role: "status"});
			place = el("div", {});
			panel.append(el("div", {className: "tools"}, el("label", {}, "File ", files), note), place);
		},
		show,
	};
}

/** All of them; `host` is the page: what is looked at, and how to look at something else. */
export const makeTabs = host => [structures(host), sums(host), accesses(host), chart(host, "density", "Density", 240), gantt(host), source(host)];
