// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "duckdb/chunk.hpp"

#include <zstd.h>

#include <algorithm>
#include <climits>

#include "duckdb/bytes.hpp"

namespace memtrace {

namespace {

constexpr i64 MOST_ROWS = 1 << 20;
// More bytes cannot come from an encoder.
constexpr i64 MOST_BYTES = MOST_ROWS * 20 + 1024;
constexpr i64 LARGEST_DICTIONARY = 1 << 16;
constexpr i64 PER_CHUNK = 16;
const char *const NAMES[STORED] = {"LEAVES", "CELL", "TIMES", "TIME", "THREAD", "CPU_SET", "READS", "WRITES", "SHARING", "NODE", "FLAGS",
		"IP", "READ_OFFSET", "WRITE_OFFSET", "FIRST"};

void append(std::string &out, i64 value)
{
	u64 v = static_cast<u64>(value) << 1 ^ static_cast<u64>(value >> 63);
	for (; v >= 0x80; v >>= 7)
		out.push_back(static_cast<char>(v | 0x80));
	out.push_back(static_cast<char>(v));
}

// Columns of an entry of the index.
void unpack(ChunkEntry &e, In in)
{
	e.leaves = in.count(e.rows);
	e.times = in.count(e.rows);
	for (int c = 0; c < STORED; c++) {
		if (c == FIRST && in.at == in.end) { // written before there was this column
			e.min[c] = e.max[c] = -1;
			e.sum[c] = -e.rows;
			break;
		}
		e.min[c] = in.sign();
		e.max[c] = plus(e.min[c], static_cast<i64>(in.number()));
		e.sum[c] = in.sign();
		e.length[c] = in.count(INT_MAX);
		e.crc[c] = e.length[c] > 0 ? static_cast<uint32_t>(in.number()) : 0;
	}
	e.known = true;
}

template <int width> void join(const uint8_t *p, i64 n, i64 *out)
{
	for (i64 i = 0; i < n; i++) {
		u64 v = p[i];
		for (int plane = 1; plane < width; plane++)
			v |= static_cast<u64>(p[plane * n + i]) << 8 * plane;
		out[i] = static_cast<i64>(v);
	}
}

void planes(In &in, i64 n, int width, i64 *out)
{
	using Join = void (*)(const uint8_t *, i64, i64 *);
	static const Join joins[] = {join<1>, join<2>, join<3>, join<4>, join<5>, join<6>, join<7>, join<8>};
	if (width < 1 || width > 8)
		throw Bad("it has values of " + std::to_string(width) + " bytes");
	joins[width - 1](in.skip(static_cast<u64>(n) * static_cast<u64>(width)), n, out);
}

void decode(In &in, i64 n, i64 *out);

void decode_dictionary(In &in, i64 n, int width, i64 *out)
{
	std::vector<i64> values(static_cast<size_t>(in.count(LARGEST_DICTIONARY)));
	if (values.empty())
		throw Bad("it has an empty dictionary");
	values[0] = in.sign();
	for (size_t i = 1; i < values.size(); i++)
		values[i] = plus(values[i - 1], static_cast<i64>(in.number()));
	planes(in, n, width, out);
	for (i64 i = 0; i < n; i++) {
		if (static_cast<u64>(out[i]) >= values.size())
			throw Bad("it has the value " + std::to_string(out[i]) + " of a dictionary of " + std::to_string(values.size()));
		out[i] = values[static_cast<size_t>(out[i])];
	}
}

void decode_delta(In &in, i64 n, int width, i64 *out)
{
	if (n == 0)
		throw Bad("it has differences of nothing");
	i64 value = in.sign();
	planes(in, n - 1, width, out);
	for (i64 i = 0; i < n - 1; i++) {
		auto zigzag = static_cast<u64>(out[i]);
		out[i] = value;
		value = plus(value, static_cast<i64>(zigzag >> 1 ^ (~(zigzag & 1) + 1)));
	}
	out[n - 1] = value;
}

void decode_runs(In &in, i64 n, i64 *out)
{
	i64 runs = in.count(n);
	std::vector<i64> values(static_cast<size_t>(runs));
	std::vector<i64> lengths(static_cast<size_t>(runs));
	decode(in, runs, values.data());
	decode(in, runs, lengths.data());
	i64 at = 0;
	for (size_t r = 0; r < values.size(); r++) {
		if (lengths[r] < 0 || lengths[r] > n - at)
			throw Bad("it has too long a run");
		std::fill(out + at, out + at + lengths[r], values[r]);
		at += lengths[r];
	}
	if (at != n)
		throw Bad("its runs are too short");
}

void decode(In &in, i64 n, i64 *out)
{
	static thread_local int depth = 0;
	uint8_t tag = in.next();
	int width = tag & 0xf;
	switch (tag & 0xf0) {
	case 0x00:
		std::fill(out, out + n, in.sign());
		break;
	case 0x10: {
		i64 min = in.sign();
		planes(in, n, width, out);
		for (i64 i = 0; i < n; i++)
			out[i] = plus(out[i], min);
		break;
	}
	case 0x20:
		decode_dictionary(in, n, width, out);
		break;
	case 0x30:
		decode_delta(in, n, width, out);
		break;
	case 0x40: {
		if (depth >= 8) // an encoder makes runs of runs once
			throw Bad("it has runs in runs");
		struct Deeper {
			Deeper() { depth++; }
			~Deeper() { depth--; }
		} deeper;
		decode_runs(in, n, out);
		break;
	}
	default:
		throw Bad("it has the unknown coding " + std::to_string(tag));
	}
}

} // namespace

void decode_numbers(const uint8_t *&from, const uint8_t *end, i64 n, i64 *out)
{
	In in{from, end};
	decode(in, n, out);
	from = in.at;
}

std::vector<ChunkEntry> read_index(const Database &db)
{
	std::vector<ChunkEntry> index;
	Statement s(db.handle(), "SELECT ID, ROWS, CELL_FROM, CELL_TO, START_NS, LAST_START_NS, END_NS, READS, WRITES, COLUMNS FROM MT_CHUNK"
			" ORDER BY ID");
	uint32_t crc = 0;
	while (s.step()) {
		ChunkEntry e;
		i64 *const numbers[] = {&e.id, &e.rows, &e.cell_from, &e.cell_to, &e.start_ns, &e.last_start_ns, &e.end_ns, &e.reads, &e.writes};
		std::string packed;
		for (int c = 0; c < 9; c++) {
			*numbers[c] = s.number(c);
			if (c > 0)
				append(packed, *numbers[c]);
		}
		size_t size = 0;
		const uint8_t *columns = s.blob(9, size);
		crc = crc32c(crc, packed.data(), packed.size());
		crc = crc32c(crc, columns, size);
		if (e.id != static_cast<i64>(index.size()))
			throw db.damaged("the index of its accesses is not what was written");
		try {
			if (e.rows >= 1 && e.rows <= MOST_ROWS)
				unpack(e, In{columns, columns + size});
		} catch (const Bad &) {
			e.known = false; // reading it says so
		}
		index.push_back(e);
	}
	if (static_cast<i64>(crc) != db.property("chunk_index_crc32c"))
		throw db.damaged("the index of its accesses is not what was written");
	return index;
}

struct ChunkReader::Bytes : In {};

ChunkReader::ChunkReader(const std::string &file) : db(open_file(file)), file(file)
{
	try {
		select = std::make_unique<Statement>(db, "SELECT ID, DATA FROM MT_COLUMN WHERE ID >= ? AND ID < ?");
	} catch (...) {
		sqlite3_close(db);
		throw;
	}
}

ChunkReader::~ChunkReader()
{
	select.reset();
	sqlite3_close(db);
}

void ChunkReader::check(const ChunkEntry &entry)
{
	bool there[STORED] = {};
	select->reset(entry.id * PER_CHUNK, (entry.id + 1) * PER_CHUNK);
	while (select->step()) {
		i64 c = select->number(0) - entry.id * PER_CHUNK;
		if (c < 0 || c >= STORED)
			continue;
		size_t size = 0;
		const uint8_t *bytes = select->blob(1, size);
		stored[c].assign(reinterpret_cast<const char *>(bytes), size);
		there[c] = true;
	}
	for (int c = 0; c < STORED; c++) {
		if (entry.length[c] == 0)
			continue;
		if (!there[c])
			throw Bad(std::string("its column ") + NAMES[c] + " is missing");
		if (static_cast<i64>(stored[c].size()) != entry.length[c] || crc32c(0, stored[c].data(), stored[c].size()) != entry.crc[c])
			throw Bad(std::string("the checksum of its column ") + NAMES[c] + " does not fit");
	}
}

// The bytes as they were before they were compressed; false for a column whose values are all the same.
bool ChunkReader::open(const ChunkEntry &entry, Stored c, Bytes &in)
{
	if (entry.length[c] == 0)
		return false;
	const auto *bytes = reinterpret_cast<const uint8_t *>(stored[c].data());
	in.at = bytes;
	in.end = bytes + stored[c].size();
	if (in.next() == 0)
		return true;
	auto size = static_cast<size_t>(in.count(MOST_BYTES));
	if (plain.size() < size)
		plain.resize(size);
	size_t got = ZSTD_decompress(plain.data(), size, in.at, static_cast<size_t>(in.end - in.at));
	if (ZSTD_isError(got) || got != size)
		throw Bad(std::string("its column ") + NAMES[c] + " cannot be decompressed");
	in.at = plain.data();
	in.end = plain.data() + size;
	return true;
}

void ChunkReader::values(const ChunkEntry &entry, Stored c)
{
	column[c].resize(static_cast<size_t>(rows));
	Bytes in;
	if (open(entry, c, in))
		decode(in, rows, column[c].data());
	else
		std::fill(column[c].begin(), column[c].end(), entry.min[c]);
}

void ChunkReader::read_leaves(const ChunkEntry &entry)
{
	Bytes in;
	if (!open(entry, LEAVES, in))
		throw Bad("its column LEAVES is missing");
	auto n = static_cast<size_t>(entry.leaves);
	leaf.resize(n);
	std::vector<i64> counts(n);
	decode(in, entry.leaves, leaf.data());
	decode(in, entry.leaves, counts.data());
	leaf_from.assign(n + 1, 0);
	i64 at = 0;
	for (size_t l = 0; l < n; l++) {
		leaf_from[l] = at;
		if (counts[l] < 1 || counts[l] > rows - at || leaf[l] < 0)
			throw Bad("its pages do not have its accesses");
		at += counts[l];
	}
	leaf_from[n] = at;
	if (at != rows)
		throw Bad("its pages have " + std::to_string(at) + " accesses");
}

void ChunkReader::read_times(const ChunkEntry &entry)
{
	Bytes in;
	if (!open(entry, TIMES, in))
		throw Bad("its column TIMES is missing");
	auto n = static_cast<size_t>(entry.times);
	start_ns.resize(n);
	end_ns.resize(n);
	decode(in, entry.times, start_ns.data());
	decode(in, entry.times, end_ns.data());
	for (size_t t = 0; t < n; t++)
		end_ns[t] = plus(end_ns[t], start_ns[t]);
	values(entry, TIME);
	for (i64 t : column[TIME])
		if (static_cast<u64>(t) >= n)
			throw Bad("an access has no time");
}

void ChunkReader::read_cpus(const ChunkEntry &entry)
{
	auto &sets = column[CPU_SET];
	sets.resize(static_cast<size_t>(rows));
	Bytes in;
	if (!open(entry, CPU_SET, in)) {
		std::fill(sets.begin(), sets.end(), entry.min[CPU_SET]);
		return;
	}
	std::vector<i64> usual(static_cast<size_t>(in.count(MOST_BYTES)));
	decode(in, static_cast<i64>(usual.size()), usual.data());
	decode(in, rows, sets.data());
	for (size_t r = 0; r < sets.size(); r++) {
		i64 set = sets[r];
		if (set != 0) {
			sets[r] = set - 2;
			continue;
		}
		auto thread = static_cast<u64>(plus(column[THREAD][r], 1));
		if (thread >= usual.size())
			throw Bad("its columns do not fit together");
		sets[r] = usual[static_cast<size_t>(thread)];
	}
}

void ChunkReader::read_offsets(const ChunkEntry &entry, Stored c, Stored count)
{
	auto &out = column[c];
	const auto &counts = column[count];
	out.resize(static_cast<size_t>(rows));
	Bytes in;
	if (!open(entry, c, in)) {
		for (size_t r = 0; r < out.size(); r++)
			out[r] = counts[r] > 0 ? entry.min[c] : -1;
		return;
	}
	auto some = static_cast<i64>(std::count_if(counts.begin(), counts.end(), [](i64 n) { return n > 0; }));
	decode(in, some, out.data());
	for (size_t r = out.size(); r-- > 0;) // from the end, so that nothing is overwritten that is still to be moved
		out[r] = counts[r] > 0 ? out[static_cast<size_t>(--some)] : -1;
}

void ChunkReader::read(const ChunkEntry &entry, Wanted wanted)
{
	rows = entry.rows;
	try {
		if (!entry.known)
			throw Bad("its entry in the index is not one");
		check(entry);
		if (wanted & (bit(READ_OFFSET) | bit(WRITE_OFFSET)))
			wanted |= bit(READS) | bit(WRITES);
		if (wanted & bit(CPU_SET))
			wanted |= bit(THREAD);
		if (wanted & bit(LEAVES))
			read_leaves(entry);
		if (wanted & bit(TIME))
			read_times(entry);
		for (Stored c : {THREAD, READS, WRITES, SHARING, NODE, FLAGS, IP, FIRST})
			if (wanted & bit(c))
				values(entry, c);
		if (wanted & bit(CPU_SET))
			read_cpus(entry);
		if (wanted & bit(READ_OFFSET))
			read_offsets(entry, READ_OFFSET, READS);
		if (wanted & bit(WRITE_OFFSET))
			read_offsets(entry, WRITE_OFFSET, WRITES);
	} catch (const Bad &e) {
		throw Bad(file + ": chunk " + std::to_string(entry.id) + " with " + std::to_string(entry.rows) + " accesses is damaged: " + e.what());
	}
}

} // namespace memtrace
