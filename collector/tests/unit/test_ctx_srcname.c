// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/srcname.c cli/base/util.c cli/names/rustname.c cli/names/source.c
/* Names of variables from source text. */
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/source.h"
#include "cli/names/srcname.h"
#include "cli/base/util.h"

static const struct {
	const char *text, *name;
} c_cases[] = {
	{ "double *A = malloc(n * sizeof(double));", "A" },
	{ "\tdouble *restrict A = (double *)malloc(n);", "A" },
	{ "m->data = calloc(n, 8);", "m->data" },
	{ "double *new = malloc(n * sizeof(double));", "new" },
	{ "new = (double *)malloc(n);", "new" },
	{ "g->new = malloc(n);", "g->new" },
	{ "char **delete = calloc(n, sizeof(*delete)), *using;", "delete" },
	{ "auto *p = new double[n];", "p" },
	{ "this->rows[i].cells = (cell *) malloc(n);", "this->rows[i].cells" },
	{ "auto* x = new T[n];", "x" },
	{ "auto x = std::make_unique<double[]>(n);", "x" },
	{ "*out = malloc(n);", "*out" },
	{ "double (*B)[8] = malloc(n * sizeof *B);", "B" },
	{ "if ((p = malloc(n)) == NULL)", "p" },
	{ "while (!(buf = realloc(buf, n)))", "buf" },
	{ "static int *table[4] = { 0 }, *q = malloc(4);", "table[4]" },
	{ "posix_memalign((void **)&m->a[k], 64, n);", "m->a[k]" },
	{ "err = posix_memalign(&grid, 64, n);", "grid" },
	{ "rc = posix_memalign(pp, 64, n);", "pp" },
	{ "v.resize(n);", "v" },
	{ "this->cells->push_back(x);", "this->cells" },
	{ "std::vector<double> v(n);", "v" },
	{ "std::vector<std::pair<int, int>> edges{n};", "edges" },
	{ "Matrix m(n, n);", "m" },
	{ "hash[key] = value;", "hash[key]" },
	{ "a::b::c = malloc(3);", "a::b::c" },
	{ "char *s = strdup(\"a = b\");", "s" },
	{ "int *p /* the = sign */ = malloc(4); // q = 3", "p" },
	{ "return malloc(n);", NULL },
	{ "free(malloc(10));", NULL },
	{ "foo(a, malloc(n));", NULL },
	{ "x == malloc(n);", NULL },
	{ "if (a <= b) f(n);", NULL },
	{ "", NULL },
	{ "=", NULL },
	{ "((((", NULL },
	{ "]=", NULL },
	{ "\"unterminated", NULL },
	{ "/* unterminated", NULL },
};

static const struct {
	const char *text;
	int item;
	const char *name;
} fortran_cases[] = {
	{ "allocate(a(n))", 0, "a" },
	{ "  ALLOCATE( a(n, m), x%b(0:n-1), stat=err )", 1, "x%b" },
	{ "allocate(real(8) :: w(n))", 0, "w" },
	{ "if (.not. allocated(c)) allocate(c(5)) ! allocate(d(5))", 0, "c" },
	{ "a = [1, 2, 3]", 0, "a" },
	{ "allocate(a(n))", 3, NULL },
	{ "call f(x)", 0, NULL },
};

static const char source[] =
	"#include <stdlib.h>\n"				/* 1 */
	"int main(void)\n"
	"{\n"
	"\tdouble *A = malloc(10), *B = malloc(20);\n"	/* 4 */
	"\tm->big =\n"
	"\t\t(double *)\n"
	"\t\tmalloc(30);\n"				/* 7 */
	"\tfor (int i = 0; i < n; i++) row[i] = malloc(40);\n"
	"\t[&] { std::vector<char> z(100); z[1] = 2; }();\n"	/* 9 */
	"\tfirst = f(1); second = malloc(3);\n"
	"\tdouble *C = xmalloc(1),\n"
	"\t       *D = xmalloc(2);\n"			/* 12 */
	"\tstd::vector<int> p(5), q(6);\n"
	"\tdone(); // x = malloc(1)\n"
	"\tdouble *new = malloc(50);\n"		/* 15 */
	"}\n"
	"double *make(int n)\n"
	"{\n"
	"\tdouble *p = malloc(n), *q = malloc(n);\n"	/* 19 */
	"\tif (!p) { die(); }\n"
	"\tfor (int i = 0; i < n; i++) { p[i] = 0; }\n"
	"\treturn (double *)p;\n"
	"}\n"
	"class Array {\n"
	"\tT *first(int n) { m = new T[n]; T *t = new T[n]; use(t); return m[0]; }\n"	/* 25 */
	"\tT *second() { return t; }\n"
	"\tT *third(int n) {\n"
	"\t\tif (n)\n"
	"\t\t\treturn new T[n];\n"			/* 29 */
	"\t\tauto v = std::vector<T>(n);\n"		/* 30 */
	"\t\treturn std::move(v);\n"
	"\t}\n"
	"};\n"						/* 33 */
	"Array(int n) : data(new T[n]), mask(n), rest{n} {}\n"
	"Sim::Sim(int n)\n"
	"\t: pos(n),\n"
	"\t  vel(n) { work(); }\n"
	"x = n ? f(n) : new T[n];\n"			/* 38 */
	"make(&grid, n); twice(&a, &b); both(x, &m->rows[i]);\n";

static void in_file(const char *path, int line, int column, const char *want)
{
	char *n = mt_name_in_file(path, line, column, 0);

	CHECK_STR(n ? n : "(none)", want ? want : "(none)");
	free(n);
}

static void address(const char *path, int line, int column, const char *want)
{
	char *n = mt_address_in_file(path, line, column);

	CHECK_STR(n ? n : "(none)", want ? want : "(none)");
	free(n);
}

int main(void)
{
	char path[] = "/tmp/mt-src-XXXXXX.c";
	int fd;

	for (size_t i = 0; i < sizeof(c_cases) / sizeof(c_cases[0]); i++) {
		char *n = mt_name_in_statement(c_cases[i].text, 0, 0);

		if (strcmp(n ? n : "(none)", c_cases[i].name ? c_cases[i].name : "(none)"))
			printf("in: %s\n", c_cases[i].text);
		CHECK_STR(n ? n : "(none)", c_cases[i].name ? c_cases[i].name : "(none)");
		free(n);
	}
	for (size_t i = 0; i < sizeof(fortran_cases) / sizeof(fortran_cases[0]); i++) {
		char *n = mt_name_in_statement(fortran_cases[i].text, fortran_cases[i].item, 1);

		CHECK_STR(n ? n : "(none)", fortran_cases[i].name ? fortran_cases[i].name : "(none)");
		free(n);
	}

	fd = mkstemps(path, 2);
	CHECK(fd >= 0 && write(fd, source, sizeof(source) - 1) == sizeof(source) - 1);
	close(fd);
	in_file(path, 4, 14, "A");
	in_file(path, 4, 31, "B");
	in_file(path, 7, 3, "m->big");
	in_file(path, 7, 0, "m->big");
	in_file(path, 8, 40, "row[i]");
	in_file(path, 9, 26, "z");
	in_file(path, 10, 25, "second");
	in_file(path, 10, 0, "second");
	in_file(path, 11, 14, "C");
	in_file(path, 12, 14, "D");
	in_file(path, 13, 19, "p");
	in_file(path, 13, 25, "q");
	in_file(path, 14, 2, NULL);
	in_file(path, 34, 22, "data");
	in_file(path, 34, 37, "mask");
	in_file(path, 34, 41, "rest");
	in_file(path, 36, 7, "pos");
	in_file(path, 37, 8, "vel");
	in_file(path, 38, 19, "x");
	in_file(path, 99, 1, NULL);
	in_file(path, 0, 0, NULL);
	in_file("/nonexistent/x.c", 1, 1, NULL);
	in_file(path, 15, 16, "new");
	CHECK(mt_name_is_returned(path, 19, "p"));
	CHECK(!mt_name_is_returned(path, 19, "q"));
	CHECK(!mt_name_is_returned(path, 4, "p"));
	CHECK(!mt_name_is_returned(path, 25, "m"));
	CHECK(!mt_name_is_returned(path, 25, "t"));
	CHECK(mt_name_is_returned(path, 29, NULL));
	CHECK(!mt_name_is_returned(path, 30, NULL));
	CHECK(mt_name_is_returned(path, 30, "v"));
	CHECK(!mt_name_is_returned(path, 99, "p"));
	CHECK(!mt_name_is_returned("/nonexistent/x.c", 1, "p"));
	address(path, 39, 1, "grid");
	address(path, 39, 17, NULL);
	address(path, 39, 32, "m->rows[i]");
	address(path, 37, 8, NULL);
	address("/nonexistent/x.c", 1, 1, NULL);
	unlink(path);
	return mt_test_done();
}
