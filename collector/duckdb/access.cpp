// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// memtrace_access(FILE): the accesses of a trace as a table. Only the columns that a statement needs are decoded, and chunks that the
// parameters exclude are not read.
#include <climits>
#include <atomic>

#include "duckdb/bytes.hpp"
#include "duckdb/functions.hpp"
#include "duckdb/trace.hpp"

namespace memtrace {

namespace {

enum Out {
	START_NS, END_NS, TIME_NS, FIRST_NS, IMAGE, PRODUCER, PAGE_START, PAGE_INDEX, ADDRESS, STRUCTURE_ID, TASK, THREAD_INDEX, READS_OUT,
	WRITES_OUT, FLAGS_OUT, IP_OUT, TYPE, THREAD_NAME, CPU, NODE_OUT, SHARING_OUT, STRUCTURE, SITE, TYPE_NAME, SIZE_CLASS, PHASE, PATTERN,
	REGION, REGION_PATH, NUMA_DISTANCE, OFFSET, LEVEL, LATENCY, FUNCTION, SOURCE, OBJECT, OUTS
};
enum class Sort { NUMBER, ADDRESS, TEXT, ELSEWHERE_TEXT, ELSEWHERE_NUMBER };
constexpr i64 FLAG_BITS = 15;
constexpr i64 UNKNOWN = -1;

// A column of the table, in the order of docs/reference/columns.md, and what it needs of a chunk. What needs the analysis of memtrace is
// elsewhere.
struct Column {
	const char *name;
	Sort sort;
	Wanted needs;
	const Dictionary Trace::*texts;
};
const Column COLUMNS[OUTS] = {
	{"start_ns", Sort::NUMBER, bit(TIME), nullptr},
	{"end_ns", Sort::NUMBER, bit(TIME), nullptr},
	{"time_ns", Sort::NUMBER, bit(TIME), nullptr},
	{"first_access_ns", Sort::NUMBER, bit(TIME) | bit(FIRST), nullptr},
	{"image", Sort::NUMBER, bit(LEAVES) | bit(THREAD), nullptr},
	{"producer", Sort::NUMBER, bit(LEAVES), nullptr},
	{"page_start", Sort::ADDRESS, bit(LEAVES), nullptr},
	{"page_index", Sort::NUMBER, bit(LEAVES) | bit(TIME), nullptr},
	{"address", Sort::ADDRESS, bit(LEAVES) | bit(READ_OFFSET) | bit(WRITE_OFFSET), nullptr},
	{"structure_id", Sort::NUMBER, bit(LEAVES) | bit(TIME), nullptr},
	{"task", Sort::NUMBER, bit(THREAD), nullptr},
	{"thread_index", Sort::NUMBER, bit(THREAD), nullptr},
	{"reads", Sort::NUMBER, bit(READS), nullptr},
	{"writes", Sort::NUMBER, bit(WRITES), nullptr},
	{"flags", Sort::NUMBER, bit(FLAGS), nullptr},
	{"ip", Sort::ADDRESS, bit(IP), nullptr},
	{"type", Sort::TEXT, bit(SHARING) | bit(READS) | bit(WRITES), &Trace::type},
	{"thread", Sort::TEXT, bit(THREAD), &Trace::thread},
	{"cpu", Sort::TEXT, bit(CPU_SET), &Trace::cpu},
	{"node", Sort::NUMBER, bit(NODE), nullptr},
	{"sharing", Sort::NUMBER, bit(SHARING), nullptr},
	{"structure", Sort::TEXT, bit(LEAVES), &Trace::structure},
	{"site", Sort::TEXT, bit(LEAVES), &Trace::site},
	{"type_name", Sort::TEXT, bit(LEAVES), &Trace::type_name},
	{"size_class", Sort::TEXT, bit(LEAVES), &Trace::size_class},
	{"phase", Sort::ELSEWHERE_TEXT, 0, nullptr},
	{"pattern", Sort::ELSEWHERE_TEXT, 0, nullptr},
	{"region", Sort::TEXT, bit(TIME) | bit(THREAD), &Trace::region},
	{"region_path", Sort::TEXT, bit(TIME) | bit(THREAD), &Trace::region_path},
	{"numa_distance", Sort::ELSEWHERE_NUMBER, 0, nullptr},
	{"offset", Sort::NUMBER, bit(LEAVES) | bit(READ_OFFSET) | bit(WRITE_OFFSET), nullptr},
	{"level", Sort::TEXT, bit(FLAGS), &Trace::level},
	{"latency", Sort::NUMBER, bit(FLAGS), nullptr},
	{"function", Sort::TEXT, bit(IP) | bit(THREAD), &Trace::function},
	{"source", Sort::TEXT, bit(IP) | bit(THREAD), &Trace::source},
	{"object", Sort::TEXT, bit(IP) | bit(THREAD), &Trace::object},
};

bool is_elsewhere(Sort sort)
{
	return sort == Sort::ELSEWHERE_TEXT || sort == Sort::ELSEWHERE_NUMBER;
}

// What a statement asks for: which rows.
struct Bind {
	std::shared_ptr<const Trace> trace;
	std::vector<Out> columns;
	i64 from_ns = INT64_MIN, to_ns = INT64_MAX;
	i64 thread = -1;
	// Ranges of producers; empty: all.
	std::vector<std::pair<int, int>> producers;
	bool some_producers = false;
	std::vector<const ChunkEntry *> chunks;

	bool filters() const { return from_ns != INT64_MIN || to_ns != INT64_MAX || thread >= 0 || some_producers; }
};

struct Global {
	std::atomic<size_t> next{0};
	std::vector<Out> wanted;
	Wanted needs = 0;
};

// One thread's chunk.
struct Local {
	explicit Local(const std::string &file) : chunk(file) {}

	ChunkReader chunk;
	std::vector<int> producer;
	// Rows that are given, and how many were.
	std::vector<uint32_t> rows;
	size_t given = 0;
	// The last place of code that was looked up.
	u64 last_ip = 0;
	i64 last_image = -2;
	int last_frame = -1;
};

void select_structure(Bind &b, const std::string &name)
{
	const Trace &t = *b.trace;
	for (size_t p = 0; p < t.memory.parts.size(); p++) {
		int id = t.memory.parts[p];
		if (t.structure.texts[static_cast<size_t>(t.structure.code[p])] == name)
			b.producers.emplace_back(id, t.memory.tree[static_cast<size_t>(id)].end);
	}
	if (b.producers.empty())
		throw Bad("there is no structure '" + name + "'" + near(name, t.structure.texts));
	b.some_producers = true;
}

void choose_chunks(Bind &b)
{
	const Trace &t = *b.trace;
	auto cells = static_cast<i64>(t.memory.of_cell.size());
	for (const ChunkEntry &e : t.index) {
		if (e.known && (e.start_ns >= b.to_ns || e.end_ns <= b.from_ns))
			continue;
		if (e.known && b.thread >= 0 && (b.thread < e.min[THREAD] || b.thread > e.max[THREAD]))
			continue;
		if (e.cell_from < 0 || e.cell_to > cells || e.cell_from >= e.cell_to)
			throw t.db.damaged("chunk " + std::to_string(e.id) + " has a page that is not known");
		int from = t.memory.of_cell[static_cast<size_t>(e.cell_from)];
		int to = t.memory.of_cell[static_cast<size_t>(e.cell_to - 1)];
		bool hit = !b.some_producers;
		for (const auto &[first, end] : b.producers)
			hit = hit || (first <= to && from < end);
		if (hit)
			b.chunks.push_back(&e);
	}
}

void bind(duckdb_bind_info info)
{
	guarded([&] {
		auto b = std::make_unique<Bind>();
		b->trace = open_trace(text_parameter(info, 0));
		number_parameter(info, "from_ns", b->from_ns);
		number_parameter(info, "to_ns", b->to_ns);
		std::string name;
		if (text_parameter(info, "structure", name))
			select_structure(*b, name);
		i64 threads = static_cast<i64>(b->trace->threads.size());
		if (number_parameter(info, "thread", b->thread) && (b->thread < 0 || b->thread >= threads))
			throw Bad("there is no thread " + std::to_string(b->thread) + "; there are 0 to " + std::to_string(threads - 1));
		i64 all = 0;
		number_parameter(info, "all_columns", all);
		choose_chunks(*b);
		i64 rows = 0;
		for (const ChunkEntry *e : b->chunks)
			rows += e->rows;
		for (int c = 0; c < OUTS; c++) {
			const Column &column = COLUMNS[c];
			if (is_elsewhere(column.sort) && all == 0)
				continue;
			b->columns.push_back(static_cast<Out>(c));
			if (column.texts != nullptr && !((*b->trace).*column.texts).texts.empty())
				add_enum(info, column.name, ((*b->trace).*column.texts).texts);
			else
				add_column(info, column.name, column.sort == Sort::ADDRESS ? DUCKDB_TYPE_UBIGINT
						: column.sort == Sort::TEXT || column.sort == Sort::ELSEWHERE_TEXT ? DUCKDB_TYPE_VARCHAR : DUCKDB_TYPE_BIGINT);
		}
		duck.bind_set_cardinality(info, static_cast<idx_t>(rows), !b->filters());
		duck.bind_set_bind_data(info, b.release(), [](void *p) { delete static_cast<Bind *>(p); });
	}, [&](const char *why) { duck.bind_set_error(info, why); });
}

void init(duckdb_init_info info)
{
	guarded([&] {
		const auto *b = static_cast<const Bind *>(duck.init_get_bind_data(info));
		auto g = std::make_unique<Global>();
		for (idx_t i = 0; i < duck.init_get_column_count(info); i++) {
			idx_t c = duck.init_get_column_index(info, i);
			Out out = c < b->columns.size() ? b->columns[c] : OUTS; // OUTS: the number of a row, for count(*)
			g->wanted.push_back(out);
			if (out == OUTS)
				continue;
			if (is_elsewhere(COLUMNS[out].sort))
				throw Bad(std::string("the column ") + COLUMNS[out].name + " is made by memtrace sql, or export --format parquet");
			g->needs |= COLUMNS[out].needs;
		}
		if (b->from_ns != INT64_MIN || b->to_ns != INT64_MAX)
			g->needs |= bit(TIME);
		if (b->thread >= 0)
			g->needs |= bit(THREAD);
		if (b->some_producers)
			g->needs |= bit(LEAVES);
		duck.init_set_max_threads(info, b->chunks.empty() ? 1 : b->chunks.size());
		duck.init_set_init_data(info, g.release(), [](void *p) { delete static_cast<Global *>(p); });
	}, [&](const char *why) { duck.init_set_error(info, why); });
}

void init_local(duckdb_init_info info)
{
	guarded([&] {
		const auto *b = static_cast<const Bind *>(duck.init_get_bind_data(info));
		auto l = std::make_unique<Local>(b->trace->db.file());
		duck.init_set_init_data(info, l.release(), [](void *p) { delete static_cast<Local *>(p); });
	}, [&](const char *why) { duck.init_set_error(info, why); });
}

// Reads the next chunk that has rows of the statement; false at the end.
bool next_chunk(const Bind &b, Global &g, Local &l)
{
	const Trace &t = *b.trace;
	for (;;) {
		size_t k = g.next++;
		if (k >= b.chunks.size())
			return false;
		l.chunk.read(*b.chunks[k], g.needs);
		auto n = static_cast<size_t>(l.chunk.rows);
		if (g.needs & bit(LEAVES)) {
			l.producer.resize(n);
			for (size_t leaf = 0; leaf < l.chunk.leaf.size(); leaf++) {
				if (static_cast<u64>(l.chunk.leaf[leaf]) >= t.memory.of_cell.size())
					throw t.db.damaged("chunk " + std::to_string(b.chunks[k]->id) + " has a page that is not known");
				std::fill(l.producer.begin() + l.chunk.leaf_from[leaf], l.producer.begin() + l.chunk.leaf_from[leaf + 1],
						t.memory.of_cell[static_cast<size_t>(l.chunk.leaf[leaf])]);
			}
		}
		l.given = 0;
		l.rows.clear();
		for (uint32_t r = 0; r < n; r++) {
			bool ok = true;
			if (b.from_ns != INT64_MIN || b.to_ns != INT64_MAX) {
				auto time = static_cast<size_t>(l.chunk.column[TIME][r]);
				ok = l.chunk.start_ns[time] < b.to_ns && l.chunk.end_ns[time] > b.from_ns;
			}
			ok = ok && (b.thread < 0 || l.chunk.column[THREAD][r] == b.thread);
			if (ok && b.some_producers) {
				ok = false;
				for (const auto &[first, end] : b.producers)
					ok = ok || (l.producer[r] >= first && l.producer[r] < end);
			}
			if (ok)
				l.rows.push_back(r);
		}
		if (!l.rows.empty())
			return true;
	}
}

// Values of one column of some rows.
class Cells {
public:
	Cells(const Bind &b, Local &l) : t(*b.trace), c(l.chunk), l(l) {}

	i64 start(size_t r) const { return c.start_ns[static_cast<size_t>(c.column[TIME][r])]; }
	i64 end(size_t r) const { return c.end_ns[static_cast<size_t>(c.column[TIME][r])]; }
	const Producer &page(size_t r) const { return t.memory.tree[static_cast<size_t>(l.producer[r])]; }
	u64 page_address(size_t r) const { return page(r).start & ~(static_cast<u64>(t.memory.page_bytes) - 1); }

	const Thread *thread(size_t r) const
	{
		i64 i = c.column[THREAD][r];
		return i < 0 || i >= static_cast<i64>(t.threads.size()) ? nullptr : &t.threads[static_cast<size_t>(i)];
	}

	i64 structure(size_t r) const
	{
		auto several = t.blocks.find(l.producer[r]);
		return several == t.blocks.end() ? page(r).structure : t.memory.alive(several->second, start(r), end(r));
	}

	i64 place(size_t r) const
	{
		i64 read = c.column[READ_OFFSET][r];
		return read >= 0 ? read : c.column[WRITE_OFFSET][r];
	}

	i64 image(size_t r) const
	{
		int s = page(r).structure;
		return s >= 0 ? t.memory.structures[static_cast<size_t>(s)].image : thread(r) != nullptr ? thread(r)->image : UNKNOWN;
	}

	i64 page_index(size_t r) const
	{
		i64 s = structure(r);
		auto size = static_cast<u64>(t.memory.page_bytes);
		return s < 0 ? UNKNOWN : static_cast<i64>(page(r).start / size - t.memory.structures[static_cast<size_t>(s)].start / size);
	}

	i64 offset(size_t r) const
	{
		int s = page(r).structure;
		i64 at = place(r);
		if (s < 0 || at < 0)
			return UNKNOWN;
		i64 offset = static_cast<i64>(page_address(r) - t.memory.structures[static_cast<size_t>(s)].start) + at;
		return offset < 0 ? UNKNOWN : offset;
	}

	i64 number(Out out, size_t r) const
	{
		switch (out) {
		case START_NS: return start(r);
		case END_NS: return end(r);
		case TIME_NS: return minus(start(r), t.start_ns);
		case FIRST_NS: return c.column[FIRST][r] < 0 ? UNKNOWN : plus(start(r), c.column[FIRST][r]);
		case IMAGE: return image(r);
		case PRODUCER: return l.producer[r];
		case PAGE_START: return static_cast<i64>(page(r).start);
		case PAGE_INDEX: return page_index(r);
		case ADDRESS: return place(r) < 0 ? UNKNOWN : static_cast<i64>(page_address(r)) + place(r);
		case STRUCTURE_ID: return structure(r);
		case TASK: return thread(r) == nullptr ? UNKNOWN : thread(r)->task;
		case THREAD_INDEX: return c.column[THREAD][r];
		case READS_OUT: return c.column[READS][r];
		case WRITES_OUT: return c.column[WRITES][r];
		case FLAGS_OUT: return c.column[FLAGS][r] & FLAG_BITS;
		case IP_OUT: return c.column[IP][r] == 0 ? UNKNOWN : c.column[IP][r];
		case NODE_OUT: return c.column[NODE][r];
		case SHARING_OUT: return c.column[SHARING][r] == 0 ? UNKNOWN : c.column[SHARING][r];
		case OFFSET: return offset(r);
		case LATENCY: {
			i64 cycles = c.column[FLAGS][r] >> 8 & 0xffff;
			return cycles == 0 ? UNKNOWN : cycles;
		}
		default: return UNKNOWN;
		}
	}

	// Place of a text in its dictionary, by value; -1 for none.
	i64 value(Out out, size_t r)
	{
		switch (out) {
		case TYPE: {
			i64 threads = c.column[SHARING][r];
			return (threads > 1 ? 3 : threads == 0 ? 6 : 0) + (c.column[WRITES][r] <= 0 ? 0 : c.column[READS][r] <= 0 ? 1 : 2);
		}
		case THREAD_NAME: return c.column[THREAD][r];
		case CPU: return c.column[CPU_SET][r];
		case STRUCTURE: return t.memory.part_of[static_cast<size_t>(l.producer[r])];
		case SITE:
		case TYPE_NAME: return page(r).structure;
		case SIZE_CLASS: return t.size_class_of[static_cast<size_t>(l.producer[r])];
		case LEVEL: return (c.column[FLAGS][r] >> 4 & 15) - 1;
		case FUNCTION:
		case SOURCE:
		case OBJECT: return frame(r);
		case REGION:
		case REGION_PATH: {
			int innermost = 0;
			int path = 0;
			t.regions.at(c.column[THREAD][r], start(r) + minus(end(r), start(r)) / 2, innermost, path);
			return out == REGION ? innermost : path;
		}
		default: return UNKNOWN;
		}
	}

private:
	i64 frame(size_t r)
	{
		auto ip = static_cast<u64>(c.column[IP][r]);
		i64 image = thread(r) == nullptr ? -1 : thread(r)->image;
		if (ip != l.last_ip || image != l.last_image) {
			l.last_ip = ip;
			l.last_image = image;
			l.last_frame = ip == 0 ? -1 : t.code.of(image, ip);
		}
		return l.last_frame;
	}

	const Trace &t;
	const ChunkReader &c;
	Local &l;
};

// Columns that each row has, whatever the number.
bool always(Out out)
{
	return out == START_NS || out == END_NS || out == TIME_NS || out == READS_OUT || out == WRITES_OUT || out == FLAGS_OUT;
}

template <class T> void fill_texts(Cells &cells, Out out, const Dictionary &texts, const uint32_t *rows, size_t n, Target &target)
{
	auto *codes = target.data<T>();
	for (size_t i = 0; i < n; i++) {
		i64 value = cells.value(out, rows[i]);
		int code = value < 0 || value >= static_cast<i64>(texts.code.size()) ? -1 : texts.code[static_cast<size_t>(value)];
		codes[i] = static_cast<T>(code < 0 ? 0 : code);
		if (code < 0)
			target.null(i);
	}
}

void fill(Cells &cells, const Trace &t, Out out, const uint32_t *rows, size_t n, Target &target)
{
	const Column &column = COLUMNS[out];
	if (column.texts == nullptr) {
		auto *numbers = target.data<i64>();
		bool known = always(out);
		for (size_t i = 0; i < n; i++) {
			numbers[i] = cells.number(out, rows[i]);
			if (!known && numbers[i] == UNKNOWN)
				target.null(i);
		}
		return;
	}
	const Dictionary &texts = t.*column.texts;
	if (texts.texts.empty())
		for (size_t i = 0; i < n; i++)
			target.null(i);
	else if (texts.texts.size() <= UINT8_MAX)
		fill_texts<uint8_t>(cells, out, texts, rows, n, target);
	else if (texts.texts.size() <= UINT16_MAX)
		fill_texts<uint16_t>(cells, out, texts, rows, n, target);
	else
		fill_texts<uint32_t>(cells, out, texts, rows, n, target);
}

void give(duckdb_function_info info, duckdb_data_chunk output)
{
	guarded([&] {
		const auto *b = static_cast<const Bind *>(duck.function_get_bind_data(info));
		auto *g = static_cast<Global *>(duck.function_get_init_data(info));
		auto *l = static_cast<Local *>(duck.function_get_local_init_data(info));
		if (l->given >= l->rows.size() && !next_chunk(*b, *g, *l)) {
			l->rows.clear();
			l->given = 0;
			duck.data_chunk_set_size(output, 0);
			return;
		}
		size_t n = std::min<size_t>(l->rows.size() - l->given, duck.vector_size());
		const uint32_t *rows = l->rows.data() + l->given;
		Cells cells(*b, *l);
		for (size_t j = 0; j < g->wanted.size(); j++) {
			if (g->wanted[j] == OUTS)
				continue;
			Target target(duck.data_chunk_get_vector(output, j));
			fill(cells, *b->trace, g->wanted[j], rows, n, target);
		}
		l->given += n;
		duck.data_chunk_set_size(output, n);
	}, [&](const char *why) { duck.function_set_error(info, why); });
}

} // namespace

void register_access(duckdb_connection connection)
{
	Function f("memtrace_access");
	f.parameter(DUCKDB_TYPE_VARCHAR);
	for (const char *name : {"from_ns", "to_ns", "thread", "all_columns"})
		f.named(name, DUCKDB_TYPE_BIGINT);
	f.named("structure", DUCKDB_TYPE_VARCHAR);
	f.enter(connection, bind, init, init_local, give);
}

} // namespace memtrace
