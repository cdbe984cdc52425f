// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// Paints a scene that SceneNumbers.java has written: one picture for the workbench, for files and for this page.

const FONT = "'DejaVu Sans', Verdana, 'Segoe UI', Helvetica, sans-serif";
const PLACE = [0, 4, 2, 6, 1, 5, 3, 7], SHIFT = [0, 7, 4, 2, 1, 3, 5, 6];
const ANCHOR = ["left", "center", "right"];

function css(argb) {
	const a = Math.floor(argb / 0x1000000), rgb = argb % 0x1000000;
	return `rgba(${rgb >> 16 & 255},${rgb >> 8 & 255},${rgb & 255},${a / 255})`;
}

/** Paints into a context whose unit is a pixel of the scene; `scale` device pixels are one of these. */
export function paint(g, scene, scale) {
	const colors = scene.colors.map(css), ops = scene.ops, mosaics = new Map();
	const snap = v => Math.round(v / 10 * scale) / scale;
	g.fillStyle = colors[scene.bg];
	g.fillRect(0, 0, scene.w, scene.h);
	for (let i = 0; i < ops.length;) {
		const kind = ops[i];
		if (kind <= 2) {
			const x0 = snap(ops[i + 1]), y0 = snap(ops[i + 2]);
			const w = Math.max(1 / scale, snap(ops[i + 3]) - x0), h = Math.max(1 / scale, snap(ops[i + 4]) - y0);
			if (kind === 0) {
				if (ops[i + 5] >= 0) {
					g.fillStyle = colors[ops[i + 5]];
					g.fillRect(x0, y0, w, h);
				}
				if (ops[i + 6] >= 0) {
					g.strokeStyle = colors[ops[i + 6]];
					g.lineWidth = 1;
					g.strokeRect(x0 + .5, y0 + .5, Math.max(0, w - 1), Math.max(0, h - 1));
				}
				i += 7;
			} else if (kind === 1) {
				hatch(g, x0, y0, w, h, ops[i + 5], colors[ops[i + 6]]);
				i += 7;
			} else {
				const key = ops.slice(i + 5, i + 14).join();
				if (!mosaics.has(key)) mosaics.set(key, tile(g, ops[i + 5], ops.slice(i + 6, i + 14).map(c => colors[c])));
				g.save();
				g.translate(Math.floor(x0), Math.floor(y0));
				g.imageSmoothingEnabled = false;
				g.fillStyle = mosaics.get(key);
				g.fillRect(x0 - Math.floor(x0), y0 - Math.floor(y0), w, h);
				g.restore();
				i += 14;
			}
		} else if (kind === 3) {
			line(g, ops, i, colors, scale);
			i += 8;
		} else if (kind === 4) {
			const n = ops[i + 1], at = i + 2 + 2 * n;
			g.beginPath();
			for (let k = 0; k < n; k++) g.lineTo(ops[i + 2 + 2 * k] / 10, ops[i + 3 + 2 * k] / 10);
			g.closePath();
			if (ops[at] >= 0) {
				g.fillStyle = colors[ops[at]];
				g.fill();
			}
			if (ops[at + 1] >= 0) {
				g.strokeStyle = colors[ops[at + 1]];
				g.lineWidth = 1;
				g.stroke();
			}
			i = at + 2;
		} else {
			text(g, ops, i, scene.texts, colors);
			i += 9;
		}
	}
}

function line(g, ops, i, colors, scale) {
	let [x1, y1, x2, y2] = ops.slice(i + 1, i + 5).map(v => v / 10);
	const width = ops[i + 6] / 10;
	if (x1 === x2 || y1 === y2) { // sharp
		const half = Math.round(width * scale) % 2 ? .5 / scale : 0;
		[x1, y1, x2, y2] = [x1, y1, x2, y2].map(v => Math.floor(v * scale) / scale + half);
	}
	g.strokeStyle = colors[ops[i + 5]];
	g.lineWidth = width;
	g.setLineDash(ops[i + 7] ? [3, 3] : []);
	g.beginPath();
	g.moveTo(x1, y1);
	g.lineTo(x2, y2);
	g.stroke();
	g.setLineDash([]);
}

function text(g, ops, i, texts, colors) {
	g.save();
	g.translate(ops[i + 1] / 10, ops[i + 2] / 10);
	if (ops[i + 8]) g.rotate(-Math.PI / 2);
	g.font = `${ops[i + 5] ? "bold " : ""}${ops[i + 4] / 10}px ${FONT}`;
	g.textAlign = ANCHOR[ops[i + 7]];
	g.textBaseline = "alphabetic";
	g.fillStyle = colors[ops[i + 6]];
	g.fillText(texts[ops[i + 3]], 0, 0);
	g.restore();
}

/** Lines that are aligned to the picture, so that neighbours look like one surface. */
function hatch(g, x, y, w, h, time, color) {
	g.save();
	g.beginPath();
	g.rect(x, y, w, h);
	g.clip();
	g.strokeStyle = color;
	g.lineWidth = 1;
	g.beginPath();
	if (!time) {
		for (let d = 8 * Math.floor((y - x - w) / 8); d <= y + h - x; d += 8) {
			g.moveTo(x, x + d);
			g.lineTo(x + w, x + w + d);
		}
	} else {
		for (let d = 14 * Math.floor((x + y) / 14) - 14; d <= x + w + y + h; d += 14) {
			for (const o of [0, 3, 6]) {
				g.moveTo(x, d + o - x);
				g.lineTo(x + w, d + o - x - w);
			}
		}
	}
	g.stroke();
	g.restore();
}

/** Squares whose number is the share of their colour, none of them in a long line. */
function tile(g, cell, colors) {
	const c = document.createElement("canvas");
	c.width = c.height = 8 * cell;
	const t = c.getContext("2d");
	for (let row = 0; row < 8; row++) {
		for (let column = 0; column < 8; column++) {
			t.fillStyle = colors[PLACE[column + SHIFT[row] & 7]];
			t.fillRect(column * cell, row * cell, cell, cell);
		}
	}
	return g.createPattern(c, "repeat");
}
