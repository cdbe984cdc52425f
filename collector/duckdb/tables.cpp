// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// The small tables of a trace: memtrace_structure(FILE) and so on. Rows are made when they are given.
#include <climits>
#include <set>

#include "duckdb/functions.hpp"
#include "duckdb/trace.hpp"

namespace memtrace {

namespace {

// A value: nothing, a number, or a text.
struct Cell {
	enum { NOTHING, NUMBER, TEXT } kind = NOTHING;
	i64 number = 0;
	std::string text;

	static Cell of(i64 n) { return {NUMBER, n, {}}; }
	static Cell address(u64 n) { return {NUMBER, static_cast<i64>(n), {}}; }
	static Cell words(const std::string &t) { return t.empty() ? Cell() : Cell{TEXT, 0, t}; }
	// What is not known is negative.
	static Cell known(i64 n) { return n < 0 ? Cell() : of(n); }
	// The end of a life, which may be that of the trace.
	static Cell end(i64 ns) { return ns == INT64_MAX ? Cell() : of(ns); }
};

using Rows = std::function<void(size_t row, std::vector<Cell> &cells)>;

struct Bind;

struct Column {
	const char *name;
	duckdb_type type;
};
constexpr duckdb_type N = DUCKDB_TYPE_BIGINT;
constexpr duckdb_type A = DUCKDB_TYPE_UBIGINT;
constexpr duckdb_type T = DUCKDB_TYPE_VARCHAR;

struct Table {
	const char *name;
	std::vector<Column> columns;
	void (*prepare)(Bind &b);
};

struct Bind {
	const Table *table = nullptr;
	std::shared_ptr<const Trace> trace;
	size_t count = 0;
	Rows row;
};

struct State {
	size_t at = 0;
	std::vector<idx_t> wanted;
};

const char *const KINDS[] = {"static", "heap", "mmap", "stack", "brk", "file"};

void structures(Bind &b)
{
	const auto &all = b.trace->memory.structures;
	b.count = all.size();
	b.row = [&all](size_t r, std::vector<Cell> &c) {
		const Structure &s = all[r];
		c = {Cell::of(static_cast<i64>(r)), Cell::of(s.image), Cell::words(KINDS[s.kind]), Cell::words(s.name), Cell::address(s.start),
			Cell::address(s.stop), Cell::address(s.stop - s.start), Cell::of(s.birth_ns), Cell::end(s.death_ns), Cell::known(s.task),
			Cell::known(s.stack), Cell::words(s.site), Cell::words(s.type_name), Cell::known(s.huge_bytes), Cell::known(s.no_huge_bytes)};
	};
}

void threads(Bind &b)
{
	const auto &all = b.trace->threads;
	b.count = all.size();
	b.row = [&all](size_t r, std::vector<Cell> &c) {
		const Thread &t = all[r];
		c = {Cell::of(static_cast<i64>(r)), Cell::of(t.image), Cell::of(t.task), Cell::words(t.name), Cell::of(t.birth_ns),
			Cell::end(t.death_ns), Cell::words(t.start_routine), Cell::of(t.main ? 1 : 0), Cell::known(t.cpu_ns)};
	};
}

void producers(Bind &b)
{
	const Memory &m = b.trace->memory;
	b.count = m.tree.size();
	b.row = [&m](size_t r, std::vector<Cell> &c) {
		const Producer &p = m.tree[r];
		c = {Cell::of(static_cast<i64>(r)), Cell::known(p.parent), Cell::words(kind_name(p.kind)), Cell::words(m.name(static_cast<int>(r))),
			Cell::address(p.start), Cell::address(p.stop), Cell::known(p.structure), Cell::of(p.end)};
	};
}

void regions(Bind &b)
{
	const auto &all = b.trace->regions.all;
	b.count = all.size();
	b.row = [&all](size_t r, std::vector<Cell> &c) {
		const Region &x = all[r];
		c = {Cell::known(x.thread), Cell::of(x.image), Cell::of(x.task), Cell::words(x.name), Cell::words(x.path), Cell::of(x.depth),
			Cell::of(x.from_ns), Cell::of(x.to_ns)};
	};
}

// Rows that are read at once; they are few.
void keep(Bind &b, std::vector<std::vector<Cell>> rows)
{
	auto all = std::make_shared<std::vector<std::vector<Cell>>>(std::move(rows));
	b.count = all->size();
	b.row = [all](size_t r, std::vector<Cell> &c) { c = (*all)[r]; };
}

void stacks(Bind &b)
{
	std::set<i64> used;
	for (const Structure &s : b.trace->memory.structures)
		if (s.stack >= 0)
			used.insert(s.stack);
	std::vector<std::vector<Cell>> rows;
	i64 last = -1;
	i64 depth = 0;
	b.trace->db.rows("MT_FRAME", {"STACK", "IP", "OBJECT", "FUNCTION", "FILE", "LINE"}, [&](const Statement &row, const std::vector<int> &at) {
		i64 stack = row.number(at[0]);
		if (used.count(stack) == 0)
			return;
		depth = stack == last ? depth + 1 : 0;
		last = stack;
		i64 ip = row.number(at[1]);
		i64 line = row.number(at[5]);
		rows.push_back({Cell::of(stack), Cell::of(depth), ip == 0 ? Cell() : Cell::of(ip), Cell::words(row.text(at[2])),
				Cell::words(row.text(at[3])), Cell::words(row.text(at[4])), line == 0 ? Cell() : Cell::of(line)});
	});
	keep(b, std::move(rows));
}

void intervals(Bind &b)
{
	std::vector<std::vector<Cell>> rows;
	b.trace->db.rows("MT_INTERVAL", {"IMAGE", "START_NS", "END_NS", "TARGET_NS", "FAULTS", "LOST", "UNATTRIBUTED", "EVENT", "CLOSED_NS",
			"SUBPHASES", "RECORDS", "ACCESSES", "RESIDENT_BYTES", "UNSEEN_SHARED_BYTES", "UNSEEN_FILE_BYTES", "PROGRAM_CPU_NS",
			"MONITOR_CPU_NS", "SCAN_NS", "ZAP_NS"}, [&](const Statement &row, const std::vector<int> &at) {
		std::vector<Cell> c;
		for (size_t i = 0; i < at.size(); i++) {
			if (i == 7)
				c.push_back(Cell::words(row.text(at[i])));
			else if (at[i] < 0 || row.type(at[i]) == SQLITE_NULL) // a database that was made earlier
				c.emplace_back();
			else
				c.push_back(i < 7 ? Cell::of(row.number(at[i])) : Cell::known(row.number(at[i])));
		}
		rows.push_back(std::move(c));
	});
	keep(b, std::move(rows));
}

void trace(Bind &b)
{
	const Trace &t = *b.trace;
	i64 end = t.db.property("end_ns");
	i64 rows = 0;
	for (const ChunkEntry &e : t.index)
		rows += e.rows;
	keep(b, {{Cell::of(t.start_ns), Cell::of(end), Cell::of(t.memory.page_bytes), Cell::of(rows)}});
}

const std::vector<Table> TABLES = {
	{"memtrace_structure", {{"id", N}, {"image", N}, {"kind", T}, {"name", T}, {"start", A}, {"end", A}, {"size_bytes", N}, {"birth_ns", N},
			{"death_ns", N}, {"task", N}, {"stack", N}, {"site", T}, {"type_name", T}, {"huge_bytes", N}, {"no_huge_bytes", N}}, structures},
	{"memtrace_thread", {{"index", N}, {"image", N}, {"task", N}, {"name", T}, {"birth_ns", N}, {"death_ns", N}, {"start_routine", T},
			{"main", N}, {"cpu_ns", N}}, threads},
	{"memtrace_stack", {{"stack", N}, {"depth", N}, {"ip", A}, {"object", T}, {"function", T}, {"file", T}, {"line", N}}, stacks},
	{"memtrace_interval", {{"image", N}, {"start_ns", N}, {"end_ns", N}, {"target_ns", N}, {"faults", N}, {"lost", N}, {"unattributed", N},
			{"event", T}, {"closed_ns", N}, {"subphases", N}, {"records", N}, {"accesses", N}, {"resident_bytes", N},
			{"unseen_shared_bytes", N}, {"unseen_file_bytes", N}, {"program_cpu_ns", N}, {"monitor_cpu_ns", N}, {"scan_ns", N},
			{"zap_ns", N}}, intervals},
	{"memtrace_producer", {{"id", N}, {"parent", N}, {"kind", T}, {"name", T}, {"start", A}, {"end", A}, {"structure_id", N},
			{"subtree_end", N}}, producers},
	{"memtrace_region", {{"thread_index", N}, {"image", N}, {"task", N}, {"name", T}, {"path", T}, {"depth", N}, {"start_ns", N},
			{"end_ns", N}}, regions},
	{"memtrace_trace", {{"start_ns", N}, {"end_ns", N}, {"page_size_bytes", N}, {"records", N}}, trace},
};

void bind(duckdb_bind_info info)
{
	guarded([&] {
		auto b = std::make_unique<Bind>();
		b->table = static_cast<const Table *>(duck.bind_get_extra_info(info));
		b->trace = open_trace(text_parameter(info, 0));
		b->table->prepare(*b);
		for (const Column &c : b->table->columns)
			add_column(info, c.name, c.type);
		duck.bind_set_cardinality(info, b->count, true);
		duck.bind_set_bind_data(info, b.release(), [](void *p) { delete static_cast<Bind *>(p); });
	}, [&](const char *why) { duck.bind_set_error(info, why); });
}

void init(duckdb_init_info info)
{
	guarded([&] {
		auto s = std::make_unique<State>();
		for (idx_t i = 0; i < duck.init_get_column_count(info); i++)
			s->wanted.push_back(duck.init_get_column_index(info, i));
		duck.init_set_max_threads(info, 1);
		duck.init_set_init_data(info, s.release(), [](void *p) { delete static_cast<State *>(p); });
	}, [&](const char *why) { duck.init_set_error(info, why); });
}

// memtrace_elsewhere(TABLE, COLUMNS): a table that memtrace makes when a statement reads it. It has columns, and no rows: reading it is the
// sentence by which memtrace knows which table is wanted.
void bind_elsewhere(duckdb_bind_info info)
{
	guarded([&] {
		auto name = std::make_unique<std::string>(text_parameter(info, 0));
		std::string columns = text_parameter(info, 1);
		for (size_t at = 0; at < columns.size();) {
			size_t end = std::min(columns.find(',', at), columns.size());
			size_t blank = columns.find(' ', at);
			if (blank == std::string::npos || blank >= end)
				throw Bad("columns are names with types between commas");
			std::string type = columns.substr(blank + 1, end - blank - 1);
			add_column(info, columns.substr(at, blank - at).c_str(), type == "VARCHAR" ? T : type == "UBIGINT" ? A : N);
			at = end + 1;
		}
		duck.bind_set_bind_data(info, name.release(), [](void *p) { delete static_cast<std::string *>(p); });
	}, [&](const char *why) { duck.bind_set_error(info, why); });
}

void init_elsewhere(duckdb_init_info info)
{
	const auto *name = static_cast<const std::string *>(duck.init_get_bind_data(info));
	duck.init_set_error(info, (std::string(OURS) + "the table " + *name + " is made by memtrace sql").c_str());
}

void give_nothing(duckdb_function_info, duckdb_data_chunk output)
{
	duck.data_chunk_set_size(output, 0);
}

void put(const Cell &cell, duckdb_type type, size_t row, Target &target)
{
	if (cell.kind == Cell::NOTHING)
		target.null(row);
	else if (type == T)
		target.text(row, cell.text);
	else
		target.data<i64>()[row] = cell.number;
}

void give(duckdb_function_info info, duckdb_data_chunk output)
{
	guarded([&] {
		const auto *b = static_cast<const Bind *>(duck.function_get_bind_data(info));
		auto *s = static_cast<State *>(duck.function_get_init_data(info));
		size_t n = std::min<size_t>(b->count - s->at, duck.vector_size());
		std::vector<Target> targets;
		for (size_t j = 0; j < s->wanted.size(); j++)
			targets.emplace_back(duck.data_chunk_get_vector(output, j));
		std::vector<Cell> cells;
		for (size_t r = 0; r < n; r++) {
			b->row(s->at + r, cells);
			for (size_t j = 0; j < targets.size(); j++)
				if (s->wanted[j] < cells.size())
					put(cells[s->wanted[j]], b->table->columns[s->wanted[j]].type, r, targets[j]);
		}
		s->at += n;
		duck.data_chunk_set_size(output, n);
	}, [&](const char *why) { duck.function_set_error(info, why); });
}

} // namespace

void register_tables(duckdb_connection connection)
{
	for (const Table &table : TABLES) {
		Function f(table.name);
		f.parameter(DUCKDB_TYPE_VARCHAR);
		f.extra(&table);
		f.enter(connection, bind, init, nullptr, give);
	}
	Function f("memtrace_elsewhere");
	f.parameter(DUCKDB_TYPE_VARCHAR);
	f.parameter(DUCKDB_TYPE_VARCHAR);
	f.enter(connection, bind_elsewhere, init_elsewhere, nullptr, give_nothing);
}

} // namespace memtrace
