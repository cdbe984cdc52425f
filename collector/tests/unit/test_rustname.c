// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/rustname.c cli/base/util.c
/* Names of variables and fields from statements in Rust. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "cli/names/rustname.h"
#include "cli/base/util.h"

/* @at: where the call begins in the text; NULL: not known. */
static const struct {
	const char *text, *at, *name;
} cases[] = {
	{ "let v = vec![0.0; n];", "vec!", "v" },
	{ "    let mut out = vec![0u64; n];", "vec!", "out" },
	{ "let table: Arc<Vec<f64>> = Arc::new(vec![1.0; n]);", "vec!", "table" },
	{ "let table: Arc<Vec<f64>> = Arc::new(vec![1.0; n]);", NULL, "table" },
	{ "let mut particles: Vec<Particle> = Vec::with_capacity(50_000);", "Vec::with", "particles" },
	{ "let b: Box<[f32]> = vec![0f32; 300_000].into_boxed_slice();", "vec!", "b" },
	{ "let index: Vec<u32> = (0..n as u32).map(|x| x * 2).collect();", "collect", "index" },
	{ "Grid { cells: vec![0.0; n], index: (0..n).collect() }", "vec!", "cells" },
	{ "Grid { cells: vec![0.0; n], index: (0..n).collect() }", "(0..n)", "index" },
	{ "let g = Grid { cells: vec![0.0; n], index: Vec::new() };", "vec!", "g.cells" },
	{ "let g = Grid { cells: vec![0.0; n], index: Vec::with_capacity(n) };", "Vec::with", "g.index" },
	{ "cells: vec![0.0; n],", "vec!", "cells" },
	{ "cells: Vec::<f64>::with_capacity(n),", "Vec::", "cells" },
	{ "self.cells = Vec::with_capacity(n);", "Vec::", "self.cells" },
	{ "self.rows[i] = vec![0; n];", "vec!", "self.rows[i]" },
	{ "self.rows[i].data.resize(n, 0.0);", "resize", "self.rows[i].data" },
	{ "particles.push(Particle { pos: [0.0; 3] });", "push", "particles" },
	{ "map.insert(i, i * 2);", "insert", "map" },
	{ "for i in 0..60_000u64 { map.insert(i, i * 2); }", "map.insert", "map" },
	{ "*map.entry(k).or_insert(0) += 1;", "entry", "map" },
	{ "let a = 1; let b = vec![0; n];", "vec!", "b" },
	{ "let s = \"a = b\".to_string();", "\"a", "s" },
	{ "let s = format!(\"{} = {}\", a, b);", "format", "s" },
	{ "static TABLE: Lazy<Vec<u8>> = Lazy::new(|| vec![0; 9]);", "vec!", "TABLE" },
	{ "if let Some(x) = f(vec![0; n]) {", "vec!", NULL },
	{ "let (a, b) = (vec![0; n], vec![1; n]);", "vec!", NULL },
	{ "if x == vec![0; n] {", "vec!", NULL },
	{ "match x { 1 => vec![0; n], _ => vec![1; n] }", "vec!", NULL },
	{ "consume(vec![0; n]);", "vec!", NULL },
	{ "vec![0; n]", "vec!", NULL },
	{ "let c: char = '\"'; let d = vec![0; n];", "vec!", "d" },
	{ "fn f<'a>(x: &'a str) { let d = x.to_owned();", "x.to", "d" },
	{ "let x /* = y */ = vec![0; n]; // z = 3", "vec!", "x" },
	{ "", NULL, NULL },
	{ "=", NULL, NULL },
	{ "]=", NULL, NULL },
	{ "let", NULL, NULL },
	{ "let =", NULL, NULL },
	{ "\"unterminated", NULL, NULL },
	{ "{{{{", "{{", NULL },
	{ "))))", "))", NULL },
};

int main(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = cases[i].at ? strstr(cases[i].text, cases[i].at) : NULL;
		char *name = mt_name_in_rust(cases[i].text, at ? (size_t)(at - cases[i].text) + 1 : 0);

		if (strcmp(name ? name : "(none)", cases[i].name ? cases[i].name : "(none)"))
			printf("in: %s\n", cases[i].text);
		CHECK_STR(name ? name : "(none)", cases[i].name ? cases[i].name : "(none)");
		free(name);
	}
	return mt_test_done();
}
