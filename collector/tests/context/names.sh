#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Names of memory that no allocation and no plain symbol has: thread-local data, members of COMMON blocks, small globals,
# allocators of programs, code made at run time, debug information in another file. Run by ../run.sh context.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
cd "$work" || exit 2

record() {
	timeout 300 "$MEMTRACE" record --quiet --backend none "$@"
}

# expect NAME WANT GOT
expect() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: got '$3', want '$2'"; fi
}

# structures TRACE PATTERN: kind name size of those whose name matches, sorted
structures() {
	awk -F, -v p="$2" 'FNR > 1 && $3 ~ p { print $2, $3, strtonum("0x" $5) - strtonum("0x" $4) }' "$1"/p0000/structures.csv | sort
}

# at TRACE ADDRESS TID: name and thread of the smallest structure that holds an address
at() {
	awk -F, -v a="$2" 'FNR > 1 { v = strtonum("0x" a); s = strtonum("0x" $4); e = strtonum("0x" $5)
		if (v >= s && v < e && (!best || e - s < best)) { best = e - s; found = $3 " " $8 } } END { print found }' "$1/p0000/structures.csv"
}

# ---- types: of static objects, and of what a block consists of that is assigned to a variable
cat > types.c <<'END'
#include <stdlib.h>
#include <string.h>
struct vec { double x, y, z; };
struct particle { struct vec pos, v; int kind; };
struct mesh { struct particle *cells; double **rows; struct { float *w; } in; };
typedef double row_t[64];
static double grid[512][256];
struct particle fixed[1000];
row_t table[32];
struct mesh global;
const char *names[4000];
static void fill(void *p, size_t n) { memset(p, 1, n); }
static int init(struct mesh *m, int n)
{
	m->cells = malloc(n * sizeof(*m->cells));
	m->rows = calloc(n, sizeof(double *));
	for (int i = 0; i < 3; i++)
		m->rows[i] = malloc(8000);
	m->in.w = malloc(40000);
	fill(m->cells, n * sizeof(*m->cells));
	return posix_memalign((void **)&global.cells, 64, 7 * 1000 * sizeof(struct particle));
}
int main(void)
{
	struct mesh *m = malloc(5000 + sizeof(*m));
	struct mesh local;
	double (*B)[8] = malloc(6400);
	void *raw = malloc(9000);
	row_t *t = malloc(100 * sizeof(row_t));
	struct particle *one[3];
	one[1] = malloc(sizeof(struct particle) * 200);
	init(m, 1000); init(&local, 2000);
	fill(B, 6400); fill(raw, 9000); fill(t, 5000); fill(grid, sizeof(grid)); fill(fixed, sizeof(fixed)); fill(table, sizeof(table)); names[1] = "a";
	fill(one[1], 100);
	return 0;
}
END
cat > types.cpp <<'END'
#include <vector>
#include <memory>
#include <cstdlib>
namespace sim { struct Cell { double a; int b; }; double *field; 
class Box { public: Cell *cells; std::vector<int> index; void make(int n) { cells = new Cell[n]; index.resize(n); field = static_cast<double *>(std::malloc(n * 8)); } }; }
sim::Box box;
void *volatile keep;
int main() {
	std::vector<double> v(4000);
	auto u = std::make_unique<float[]>(5000);
	sim::Cell **ptrs = new sim::Cell *[1000];
	keep = ptrs;
	box.make(3000);
	std::vector<std::vector<double>> vv(500);
	for (auto &r : vv) r.resize(600);
	return v[3] + u[3] + (ptrs != nullptr);
}
END
cat > types.f90 <<'END'
module m
  type :: cell
    real(8) :: p(3)
    integer :: k
  end type
  real(8), allocatable :: field(:,:)
  type(cell), allocatable :: cells(:)
  real(8) :: fixed(100,200)
end module
program t
  use m
  real(4), dimension(:), allocatable :: w
  common /blk/ a, b
  real(8) :: a(64,64), b(100)
  allocate(field(300,200), cells(500))
  allocate(w(5000))
  field = 1; cells(1)%k = 2; w = 3; fixed = 4; a = 5; b = 6
  print *, sum(field), cells(1)%k, sum(w), sum(fixed), sum(a), sum(b)
end program
END
# types TRACE: name and type of what the source's own lines define or allocate
types() {
	csv "$1/p0000/structures.csv" Kind Name Site Type | sed -n 's/^\(static\|heap\)|\([^|]*\)|.*\/types\.[a-z0-9]*:[0-9]*|\(.*\)$/\2: \3/p' | sort -u
}
# members TRACE: type, and the members of one of it, of types that have some
members() {
	csv "$1/p0000/structures.csv" Site Type Members | sed -n 's/^[^|]*\/types\.[a-z0-9]*:[0-9]*|\([^|]*\)|\([0-9]*;\)/\1: \2/p' | sort -u
}
# csv FILE COLUMN...: these columns of all rows, with | between them
csv() {
	python3 -c '
import csv, sys
with open(sys.argv[1], newline="") as f:
    for row in csv.DictReader(f):
        print("|".join(row[c] for c in sys.argv[2:]))' "$@"
}
for level in 0 1; do
	gcc -g -O$level -o types types.c
	record -o types-$level.trace -- ./types > /dev/null
	expect "types in C, -O$level" 'B: double[100][8]
fixed: struct particle[1000]
global.cells: struct particle[7000]
global: struct mesh
grid: double[512][256]
m->cells: struct particle[1000]
m->cells: struct particle[2000]
m->in.w: float[10000]
m->rows: double *[1000]
m->rows: double *[2000]
m->rows[i]: double[1000]
m: struct mesh
names: char *[4000]
one[1]: struct particle[200]
raw: 
t: double[100][64]
table: double[32][64]' "$(types types-$level.trace)"
	expect "members in C, -O$level" 'struct mesh: 24;0 8 cells struct particle *;8 8 rows double **;16 8 in.w float *
struct particle[1000]: 56;0 8 pos.x double;8 8 pos.y double;16 8 pos.z double;24 8 v.x double;32 8 v.y double;40 8 v.z double;48 4 kind int' \
		"$(members types-$level.trace)"
	expect "bytes of elements in C, -O$level" 'char *|8
double *|8
double|8
float|4' "$(csv types-$level.trace/p0000/structures.csv Type Members | sed -n 's/\(\[[0-9]*\]\)*|\([0-9][0-9]*\)$/|\2/p' | grep '^char \*|\|^double\|^float' | sort -u)"
done
if g++ -g -O2 -o types-cpp types.cpp 2> /dev/null; then
	record -o types-cpp.trace -- ./types-cpp > /dev/null
	expect "types in C++" 'box: sim::Box
cells: sim::Cell[3000]
field: double[3000]
index: int[3000]
keep: void *
ptrs: sim::Cell *[1000]
r: double[600]
sim::field: double *
u: float[5000]
v: double[4000]
vv: std::vector<double, std::allocator<double> >[500]' "$(types types-cpp.trace)"
	expect "members in C++" 'sim::Box: 32;0 8 cells sim::Cell *;8 8 index._M_impl._M_start int *;16 8 index._M_impl._M_finish int *;24 8 index._M_impl._M_end_of_storage int *
sim::Cell[3000]: 16;0 8 a double;8 4 b int
std::vector<double, std::allocator<double> >[500]: 24;0 8 _M_impl._M_start double *;8 8 _M_impl._M_finish double *;16 8 _M_impl._M_end_of_storage double *' \
		"$(members types-cpp.trace)"
fi
if gfortran -g -O1 -o types-f types.f90 2> /dev/null; then
	record -o types-f.trace -- ./types-f > /dev/null
	expect "types in Fortran" 'blk::a: real(kind=8)(64,64)
blk::b: real(kind=8)(100)
cells: type cell(:)
field: real(kind=8)(:,:)
m::cells: type cell(:)
m::field: real(kind=8)(:,:)
m::fixed: real(kind=8)(100,200)
w: real(kind=4)(:)' "$(types types-f.trace)"
	expect "members in Fortran" 'type cell(:): 32;0 24 p real(kind=8)(3);24 4 k integer(kind=4)' "$(members types-f.trace)"
fi

# ---- thread-local data, small globals, local statics
cat > tls.c <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static _Thread_local long mine[300];
_Thread_local char flag;		/* less than eight bytes */
long counters[4];
double one = 1.5;
static pthread_barrier_t all;
static void *run(void *a)
{
	static long calls;
	mine[7] = calls++;
	flag = 1;
	counters[(long)a]++;
	printf("%lx %d\n", (unsigned long)&mine[299] + 7, gettid());
	fflush(stdout);
	pthread_barrier_wait(&all);	/* each has a stack of its own */
	return a;
}
int main(void)
{
	pthread_t t[4];
	pthread_barrier_init(&all, 0, 4);
	for (long i = 1; i < 4; i++)
		pthread_create(&t[i], 0, run, (void *)i);
	run(0);
	for (long i = 1; i < 4; i++)
		pthread_join(t[i], 0);
	return one++ == 2 || mine[7] == 99;
}
END
for how in "-O2 -pie -fPIE" "-O0 -no-pie" "-O1 -ftls-model=global-dynamic -fPIC"; do
	gcc -g $how -pthread -o tls tls.c && rm -rf tls.trace && record -o tls.trace ./tls > tls.out
	while read -r address tid; do
		expect "thread-local ($how)" "mine $tid" "$(at tls.trace "$address")"
	done < tls.out
	expect "globals ($how)" "static calls 8;static counters 32;static one 8" "$(structures tls.trace '^(calls|counters|one|flag)$' | paste -sd ';')"
done
printf '#include <stdio.h>\nstatic _Thread_local long all[300];\nint main(void) { return printf("%%p\\n", (void *)&all[7]) < 0; }\n' > alone.c
gcc -g -O1 -fno-builtin -o alone alone.c && record -o alone.trace ./alone > alone.out
expect "one object is all thread-local data of a program" "all" "$(at alone.trace "$(cut -c3- alone.out)" | sed 's/ .*//')"
expect "it has no second name" "" "$(structures alone.trace '^alone thread-local data$')"
record --min-static 16 -o tls16.trace ./tls > /dev/null
expect "--min-static" "static counters 32" "$(structures tls16.trace '^(calls|counters|one)$' | paste -sd ';')"

# ---- COMMON blocks: members, also threadprivate ones; the rest of a block; another declaration of it with fewer members
if command -v gfortran > /dev/null; then
	cat > common.f90 <<'END'
program p
  double precision u(1000), v(500)
  integer k(10)
  common /fields/ u, v, k
  double precision x(2000)
  integer n
  common /scratch/ x, n
!$omp threadprivate(/scratch/)
  integer, save :: local(50)
  u = 1; v = 2; k = 3; local = 4
!$omp parallel num_threads(2)
  x = 3
!$omp end parallel
  call other()
  print *, u(1), v(2), k(3), local(4), x(5)
end program
subroutine other()
  double precision first(1000)
  common /fields/ first
  double precision part(8)
  common /partly/ part
  first(7) = 8
  part(2) = 3
end subroutine
subroutine never()
  double precision all(100)
  common /partly/ all
  all(99) = 4
end subroutine
END
	gfortran -g -O1 -fopenmp -o common common.f90 2> /dev/null && OMP_NUM_THREADS=2 record -o common.trace ./common > /dev/null
	expect "members of COMMON" "static fields::k 40;static fields::u 8000;static fields::v 4000" "$(structures common.trace '^fields' | paste -sd ';')"
	expect "the declaration with most members" "static partly::all 800" "$(structures common.trace '^partly' | paste -sd ';')"
	expect "threadprivate" "static scratch::x 16000;static scratch::x 16000" "$(structures common.trace '^scratch::x' | paste -sd ';')"
	expect "local static of Fortran" "static local 200" "$(structures common.trace '^local$')"
	expect "line of a member" 1 "$(grep -c 'static,fields::v,.*common.f90:2,' common.trace/p0000/structures.csv)"
else
	skip "COMMON: no gfortran"
fi

# ---- allocators of a program: looked through by name, and without symbols by their callers
cat > wrap.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline, noclone))
static volatile size_t size = 5000;
static void *volatile sink[8];
static struct { void *(*get)(size_t); } table;
NI void *default_malloc(size_t n) { return memset(malloc(n), 1, n); }
NI void *zmalloc(size_t n) { return memset(table.get(n), 0, n); }
NI void put(int i, void *p) { sink[i] = p; }
NI void parse(void) { put(0, zmalloc(size)); put(5, NULL); }
NI void sort(void) { put(1, zmalloc(size + 1)); put(5, NULL); }
NI void print(void) { put(2, zmalloc(size + 2)); put(5, NULL); }
int main(void)
{
	table.get = default_malloc;
	parse();
	sort();
	print();
	return sink[0] == sink[1];
}
END
gcc -g -O1 -o wrap wrap.c && record -o wrap.trace ./wrap
expect "wrappers by name" "parse print sort" "$(structures wrap.trace '^(default_malloc|zmalloc|parse|sort|print|memset)' | sed 's/[: ][0-9].*//; s/heap //' | paste -sd ' ')"
strip -o wrapstripped wrap && record -o wrapstripped.trace ./wrapstripped
expect "wrappers without a name" 3 "$(structures wrapstripped.trace '^wrapstripped.0x' | awk '{ print $2 }' | sort -u | wc -l)"

# ---- wrappers: a variable that is returned is the caller's; a member is not; what a parameter points to is the caller's, too
cat > passed.c <<'END'
#include <stdlib.h>
#define NI __attribute__((noinline))
struct mesh { double *cells, *nodes; };
static void *volatile sink;
NI static double *make(int n)
{
	double *p = malloc(n * sizeof(double));
	if (!p) {
		abort();
	}
	return p;
}
NI static void *direct(int n) { return calloc(n, 8); }
NI static struct mesh *alloc_mesh(int n)
{
	static struct mesh m;
	m.cells = malloc(n * sizeof(double));
	m.nodes = make(n);
	return &m;
}
NI static void alloc_pair(double **out, int n) { *out = malloc(n * 8); }
NI static void use(void *p) { sink = p; }
int main(void)
{
	double *new = malloc(9600);
	double *grid = make(1001), *field = make(1002);
	double *table = direct(1003), *other;
	struct mesh *mesh = alloc_mesh(1004);
	alloc_pair(&other, 1005);
	use(make(1006));
	use(new); use(grid); use(field); use(table); use(mesh->cells); use(other);
	return 0;
}
END
for how in "-O0" "-O2"; do
	for cc in gcc clang; do
		command -v $cc > /dev/null && $cc -g $how -o passed passed.c || continue
		rm -rf passed.trace && record -o passed.trace -- ./passed
		expect "names through wrappers ($cc $how)" 'heap field 8016;heap grid 8008;heap m.cells 8032;heap m.nodes 8032;heap new 9600;heap other 8040;heap table 8024' \
			"$(structures passed.trace '^(field|grid|m.cells|m.nodes|new|other|.out|table|p|mesh)$' | paste -sd ';')"
		expect "without a variable of the caller ($cc $how)" "heap main:30 8048" "$(structures passed.trace '^main:')"
	done
done
gcc -g -O1 -o passed passed.c && mv passed.c away.c && rm -rf passed.trace && record -o passed.trace -- ./passed
expect "without the source: what is declared on the line" 'heap new 9600' "$(structures passed.trace '^(new|table)$' | paste -sd ';')"
mv away.c passed.c
printf '#include <stdlib.h>\nint main(void)\n{\n\tlong n = (long)malloc(9000);\n\treturn n == 0;\n}\n' > number.c
gcc -g -O0 -o number number.c && mv number.c away.c && record -o number.trace -- ./number
expect "a number that is declared on the line is no name" "heap main:4 9000" "$(structures number.trace '^(n|main:4)$')"

cat > array.cpp <<'END'
#include <memory>
#include <vector>
template <class T> class Array {
	T *data;
	std::vector<int> mask;
public:
	__attribute__((noinline)) explicit Array(int n) : data(new T[n]), mask(n) {}
	~Array() { delete[] data; }
	T &operator[](int i) { return data[i]; }
};
class Sim {
public:
	std::vector<double> pos, vel;
	double *force;
	__attribute__((noinline)) Sim(int n) : pos(n), vel(n + 1), force(new double[n + 2]) { }
};
__attribute__((noinline)) std::vector<double> make(int n) { std::vector<double> v(n); return v; }
__attribute__((noinline)) auto own(int n) { return std::make_unique<double[]>(n); }
int main()
{
	Array<double> rho(1000);
	Array<float> mass(3000);
	Sim sim(2000);
	auto v1 = make(1500);
	auto u1 = own(1600);
	return rho[1] + mass[2] + sim.pos[3] + sim.vel[1] + sim.force[1] + v1[2] + u1[3] > 0;
}
END
if g++ -g -O2 -o array array.cpp 2> /dev/null; then
	record -o array.trace -- ./array || :
	expect "members of containers and of a line of initialisers" 'force 16016;mass.data 12000;mass.mask 12000;pos 16000;rho.data 8000;u1 12800;v1 12000;vel 16008' \
		"$(structures array.trace . | sed -n 's/^heap //p' | grep -v 72704 | sort | paste -sd ';')"
fi

# ---- wrappers that are named
cat > named.c <<'END'
#include <stdlib.h>
#define NI __attribute__((noinline))
static void *pool[4];
NI void *get(int i, int n) { pool[i] = malloc(n); return pool[i]; }
int main(void)
{
	double *left = get(0, 6400), *right = get(1, 6408);
	left[1] = right[2] = 3;
	free(left);
	return 0;
}
END
gcc -g -O1 -o named named.c
record -o named.trace -- ./named
expect "what a function keeps has its name" "heap pool[i] 6400;heap pool[i] 6408" "$(structures named.trace '^(left|right|pool.i.)$' | paste -sd ';')"
record --wrapper 'ge?' -o named2.trace -- ./named
expect "--wrapper" "heap left 6400;heap right 6408" "$(structures named2.trace '^(left|right|pool.i.)$' | paste -sd ';')"
printf '# ours\nget # a pool\n' > wrappers
"$MEMTRACE" finish -q --force --wrapper @wrappers named.trace
expect "finish --wrapper, a list in a file" "heap left 6400;heap right 6408" "$(structures named.trace '^(left|right|pool.i.)$' | paste -sd ';')"
"$MEMTRACE" finish -q --force --wrapper @nowhere named.trace 2> nowhere.err
expect "a list that is not there" "3 memtrace: nowhere, the list of --wrapper: No such file or directory" "$? $(cat nowhere.err)"

# ---- Rust: both manglings, with and without optimisation
cat > rust.rs <<'END'
use std::collections::HashMap;
use std::sync::Arc;
struct Grid { cells: Vec<f64>, index: Vec<u32> }
impl Grid {
    #[inline(never)]
    fn new(n: usize) -> Grid {
        Grid { cells: vec![0.5; n], index: (0..n as u32 + 1).collect() }
    }
}
fn main() {
    let n = 10000;
    let table: Arc<Vec<f64>> = Arc::new(vec![1.0; n]);
    let mut out = vec![0u64; n + 2];
    let grid = Grid::new(n + 3);
    let mut list: Vec<u64> = Vec::with_capacity(n + 4);
    let mut map: HashMap<u64, u64> = HashMap::new();
    for i in 0..3000u64 {
        list.push(i);
        map.insert(i, i * 2);
    }
    out[5] = table[4] as u64 + grid.cells[3] as u64 + grid.index[7] as u64;
    println!("{} {} {:?}", out[5], list[2], map.get(&77));
}
END
if command -v rustc > /dev/null; then
	# how strict is told by the compiler's options, RUST is others
	for how in "-O" "-C opt-level=0" "-O -C symbol-mangling-version=v0"; do
		rustc -g $how -o rust rust.rs 2> rust.log || { fail "rustc $how: $(head -n 1 rust.log)"; continue; }
		rm -rf rust.trace && record -o rust.trace -- ./rust > /dev/null
		expect "names in Rust ($how)" 'heap cells 80024;heap index 40016;heap list 80032;heap out 80016;heap table 80000' \
			"$(structures rust.trace '^(cells|index|list|out|table)$' | paste -sd ';')"
		expect "a map that grows is one ($how)" map "$(structures rust.trace '^map$' | cut -d' ' -f2 | sort -u)"
		expect "nothing in Rust has another name ($how)" "" "$(structures rust.trace . | grep ^heap | grep -vE ' (cells|index|list|out|table|map) ')"
		expect "no mangled name ($how)" 0 "$(grep -cE '_RN|17h[0-9a-f]{16}|::h[0-9a-f]{16}' rust.trace/p0000/stacks.csv)"
	done
else
	skip "Rust: no rustc"
fi

# ---- small blocks: which place allocated the pages of a heap, against what the program says itself, page by page
cat > small.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
struct list { struct list *next; long value[5]; };
struct left { struct left *next; char text[56]; };
struct right { struct right *next; char text[88]; };
static double ***u, **v;
static struct list *first;
static struct left *lefts;
static struct right *rights;
static void say(const char *name, void *p, size_t n)
{
	for (unsigned long page = (unsigned long)p >> 12; page <= ((unsigned long)p + n - 1) >> 12; page++)
		printf("%lx %s\n", page, name);
}
NI static void push(long i)
{
	struct list *node = malloc(sizeof(*node));
	memset(node, 1, sizeof(*node));
	node->next = first;
	node->value[0] = i;
	first = node;
	say("node", node, sizeof(*node));
}
static void *run(void *arg)
{
	double **rows = arg;
	for (int i = 0; i < 1500; i++) {
		rows[i] = calloc(129, sizeof(double));
		say("rows", rows[i], 1032);
	}
	return arg;
}
int main(void)
{
	pthread_t t;
	static double *rows[1500];

	u = malloc(8 * sizeof(*u));
	for (int k = 0; k < 8; k++) {
		u[k] = malloc(300 * sizeof(**u));
		for (int j = 0; j < 300; j++) {
			u[k][j] = malloc(258 * sizeof(double));
			say("u", u[k][j], 2064);
		}
	}
	v = malloc(2000 * sizeof(*v));
	for (int j = 0; j < 2000; j++) {
		v[j] = malloc(258 * sizeof(double));
		say("v", v[j], 2064);
	}
	for (long i = 0; i < 40000; i++)
		push(i);
	for (long i = 0; i < 15000; i++) {
		struct left *l = malloc(sizeof(*l));
		l->next = lefts;
		lefts = l;
		say("mixed", l, sizeof(*l));
		struct right *r = malloc(sizeof(*r));
		r->next = rights;
		rights = r;
		say("mixed", r, sizeof(*r));
	}
	pthread_create(&t, NULL, run, rows);
	pthread_join(t, NULL);
	return 0;
}
END
gcc -g -O1 -pthread -o small small.c && record -o small.trace -- ./small > small.out
# pages of each place, and how many of them have its name, no name, another one
python3 - small.out small.trace/p0000/structures.csv > small.pages <<'END'
import collections, csv, sys
truth = {}
for line in open(sys.argv[1]):
    page, name = line.split()
    page = int(page, 16)
    truth[page] = name if truth.get(page, name) == name else "border"
parts = [(int(r["Start"], 16) >> 12, int(r["End"], 16) >> 12, r["Name"], r["Site"]) for r in csv.DictReader(open(sys.argv[2], newline=""))
         if r["Kind"] == "brk" and r["Site"]]
count = collections.Counter()
for page, name in truth.items():
    found = {n.split(" (")[0] for a, b, n, _ in parts if a <= page < b} - {"lefts", "rights"}
    count[name, "none" if not found else "right" if found == {name} else "wrong"] += 1
for name in ("u", "v", "node", "rows", "mixed"):
    n = sum(count[name, k] for k in ("right", "none", "wrong"))
    print(name, "named" if count[name, "right"] > 0.85 * n else "not named" if count[name, "none"] > 0.9 * n else dict(count),
          "wrong" if count[name, "wrong"] > 0.02 * n else "right")
END
expect "pages of small blocks" 'u named right;v named right;node named right;rows named right;mixed not named right' "$(paste -sd ';' small.pages)"
expect "what they are called" 'node (blocks of 48 bytes);rows (rows of 1.01 KiB);u (rows of 2.02 KiB);v (rows of 2.02 KiB)' \
	"$(csv small.trace/p0000/structures.csv Kind Name Site | sed -n 's/^brk|\(.*\)|..*/\1/p' | sort -u | paste -sd ';')"

# ---- a library that works in threads of its own: library and offset, not where threads begin
if command -v xz > /dev/null && head -c 300000 /dev/urandom > big && record -o xz.trace xz -k -T2 --block-size=65536 big 2> /dev/null; then
	expect "no block is named after start_thread" 0 "$(structures xz.trace '^(start_thread|clone)' | wc -l)"
fi

# ---- code that is made at run time, with a map for perf
cat > jit.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static void *allocate(size_t n) { return malloc(n); }
int main(int argc, char **argv)
{
	/* push %rbp; mov %rsp, %rbp; call *%rsi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd6, 0x5d, 0xc3 };
	char *p = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), name[64];
	void *(*stub)(size_t, void *) = (void *(*)(size_t, void *))p, *(*user)(size_t, void *) = (void *(*)(size_t, void *))(p + 64);
	FILE *f;

	(void)argc;
	memcpy(p, code, sizeof(code));
	/* the user's code calls the stub: mov with the address of the stub in between */
	memcpy(p + 64, "\x55\x48\x89\xe5\x48\xb8", 6);
	memcpy(p + 70, &p, 8);
	memcpy(p + 78, "\xff\xd0\x5d\xc3", 4);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx 8 Builtin:CEntry\n%lx 18 an older function\n%lx 18 %s\n", (unsigned long)stub, (unsigned long)user, (unsigned long)user, argv[1]);
	fclose(f);
	free(user(6000, allocate));
	free(user(7000, allocate));
	return puts(name) < 0;
}
END
gcc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o jit jit.c
# jit NAME-IN-MAP WANTED-NAME WANTED-SITE
jit() {
	rm -rf jit.trace
	record -o jit.trace ./jit "$1" > jit.out
	rm -f "$(cat jit.out)"
	expect "map for perf: $1" "heap $2 6000;heap $2 7000" "$(structures jit.trace . | grep -E ' [67]000$' | paste -sd ';')"
	expect "its site: $1" "$3" "$(awk -F, '$2 == "heap" && $3 == "'"$2"'" { print $10; exit }' jit.trace/p0000/structures.csv)"
}
jit 'JS:*work file:///srv/app.js:12:3' work /srv/app.js:12
jit 'LazyCompile:~work /srv/app.js:12:3' work /srv/app.js:12
jit 'py::work:/srv/app.py' work ''
jit 'double[] org.acme.Grid.fill(int, double)' org.acme.Grid.fill ''
"$MEMTRACE" finish -q --force jit.trace
expect "finished again without the map" 2 "$(structures jit.trace '^org.acme.Grid.fill$' | wc -l)"

# ---- a child is recorded from the block on for which it asks the kernel for much memory: that is a block, too
cat > first.c <<'END'
#include <malloc.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	char *rows;
	switch (argv[argc - 1][0]) {
	case 'c': rows = calloc(8, 1000000); break;
	case 'r': rows = realloc(NULL, 8000000); break;
	case 'a': rows = memalign(64, 8000000); break;
	case 'p': rows = posix_memalign((void **)&rows, 64, 8000000) ? NULL : rows; break;
	default: rows = malloc(8000000);
	}
	rows[5] = 1;
	return rows[4];
}
END
gcc -g -O0 -o first first.c
for how in malloc calloc realloc aligned posix; do
	record -o "first-$how.trace" -- sh -c "./first $how; exit \$?"
	expect "first block of a child: $how" "heap 8000000" "$(awk -F, '$2 == "heap" || $2 == "mmap" {
		n = strtonum("0x" $5) - strtonum("0x" $4); if (n > 1000000) print $2, n }' "first-$how.trace"/p*/structures.csv)"
done

# ---- debug information in another file: beside the program, by debug link; from a server, if one is configured
cat > far.c <<'END'
#include <stdlib.h>
int table[500];
int main(void) { int *rows = malloc(9000); rows[0] = table[3]; return rows[0]; }
END
gcc -g -O0 -o far far.c && mkdir -p link/.debug && objcopy --only-keep-debug far link/.debug/far.debug &&
	strip -o link/far far && (cd link && objcopy --add-gnu-debuglink=.debug/far.debug far)
record -o link.trace link/far
expect "debug link" "heap rows 9000;static table 2000" "$(structures link.trace '^(rows|table)$' | paste -sd ';')"

id=$(readelf -n far | awk '/Build ID/ { print $3 }')
mkdir -p served/buildid/"$id" gone && objcopy --only-keep-debug far "served/buildid/$id/debuginfo" && strip -o gone/far far
record -o gone.trace gone/far
expect "without debug information" 0 "$(structures gone.trace '^(rows|table)$' | wc -l)"
if ldconfig -p | grep -q libdebuginfod.so.1; then
	(cd served && exec timeout 300 python3 -u -m http.server --bind 127.0.0.1 0 > ../server.out 2> ../server.err) &
	server=$!
	await grep -q port server.out
	port=$(sed -n 's/.* port \([0-9]*\).*/\1/p' server.out)
	DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_CACHE_PATH=$work/cache "$MEMTRACE" finish -q --force gone.trace
	expect "debuginfod" "heap rows 9000;static table 2000" "$(structures gone.trace '^(rows|table)$' | paste -sd ';')"
	expect "the server is asked for nothing but the program" "$id" "$(sed -n 's,.*GET /buildid/\([0-9a-f]*\)/.*,\1,p' server.err | sort -u)"
	kill $server
else
	skip "debuginfod: no libdebuginfod"
fi

summary names
