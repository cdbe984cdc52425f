// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// What stands below the picture, for the same window, memory and filters.
import {api, el, save} from "./ask.js";

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

/** All of them; `host` is the page: what is looked at, and how to look at something else. */
export const makeTabs = host => [structures(host)];
