// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
const map = new Map();
let sum = 0;
for (let i = 0; i < 300000; i++)
	map.set('k' + (i * 7919 % 100003), { i, pair: [i, i + 1] });
for (const [, v] of map)
	sum += v.pair[1];
const numbers = Array.from({ length: 400000 }, (_, i) => (i * 1103515245 + 12345) % 1000003);
numbers.sort((x, y) => x - y);
console.log(sum, numbers[1000], JSON.stringify([...map.values()].slice(0, 20000)).length);
