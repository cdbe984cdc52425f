// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// Asks the server, and makes elements whose texts are texts.

/** A question whose answer is not wanted any more. */
export class Dropped extends Error {}

const asker = Array.from(crypto.getRandomValues(new Uint8Array(9)), b => b.toString(16).padStart(2, "0")).join("");
const running = new Map();
let token = "", asking = 0;

/** How many answers are waited for, also for tests. */
function count(n) {
	asking += n;
	document.body.dataset.asking = asking;
}

export function setToken(t) {
	token = t;
}

function get(name, values, signal) {
	const q = new URLSearchParams();
	Object.entries(values).forEach(([k, v]) => v !== undefined && v !== "" && q.set(k, v));
	return fetch(`api/${name}?${q}`, {headers: {"X-Memtrace-Token": token, "X-Memtrace-Asker": asker}, signal, cache: "no-store"});
}

/** What the server answers; of several questions of one channel only the last is answered. */
export async function api(name, values, channel) {
	running.get(channel)?.abort();
	const mine = new AbortController();
	running.set(channel, mine);
	let response;
	count(1);
	try {
		response = await get(name, values, mine.signal);
		const answer = await response.json();
		if (mine.signal.aborted || response.status === 409) throw new Dropped();
		if (!response.ok) throw new Error(answer.error);
		return answer;
	} catch (e) {
		if (mine.signal.aborted || e instanceof Dropped) throw new Dropped();
		throw response ? e : new Error("The server does not answer: it has ended, or the tunnel is closed");
	} finally {
		count(-1);
	}
}

/** Saves what the server answers as a file. */
export async function save(name, values, file) {
	const response = await get(name, values);
	if (!response.ok) throw new Error((await response.json()).error);
	const a = el("a", {href: URL.createObjectURL(await response.blob()), download: file.replace(/[^\w.-]+/g, "_")});
	a.click();
	setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

/** An element with properties and children; texts are never markup. */
export function el(name, properties = {}, ...children) {
	const e = document.createElement(name);
	for (const [k, v] of Object.entries(properties)) {
		if (k === "role") e.setAttribute(k, v);
		else e[k] = v;
	}
	e.append(...children);
	return e;
}
