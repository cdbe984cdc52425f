// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// The chunks of accesses: their index, and the columns that are wanted of one of them (docs/reference/database-chunks.md). What the bytes
// are, it ends in numbers or in a Bad; StoredChunks, Numbers and Verifier are the same in Java.
#pragma once

#include "duckdb/database.hpp"

namespace memtrace {

// Columns of a chunk; the numbers are stored.
enum Stored {
	LEAVES, CELL, TIMES, TIME, THREAD, CPU_SET, READS, WRITES, SHARING, NODE, FLAGS, IP, READ_OFFSET, WRITE_OFFSET, FIRST, STORED
};

// What the index says of a chunk.
struct ChunkEntry {
	i64 id = 0, rows = 0, cell_from = 0, cell_to = 0, start_ns = 0, last_start_ns = 0, end_ns = 0, reads = 0, writes = 0;
	// Nothing of this is known of a chunk whose entry is damaged.
	bool known = false;
	i64 leaves = 0, times = 0;
	i64 min[STORED] = {}, max[STORED] = {}, sum[STORED] = {}, length[STORED] = {};
	uint32_t crc[STORED] = {};
};

// The index, compared with its checksum.
std::vector<ChunkEntry> read_index(const Database &db);

// A set of Stored.
using Wanted = uint32_t;
inline Wanted bit(Stored column) { return 1U << column; }

// The columns of one chunk after the other. One thread; memory is kept from chunk to chunk.
class ChunkReader {
public:
	explicit ChunkReader(const std::string &file);
	~ChunkReader();
	ChunkReader(const ChunkReader &) = delete;
	ChunkReader &operator=(const ChunkReader &) = delete;

	// Reads what is wanted. The checksums of all columns are compared, so that whatever is asked the same chunks are damaged.
	void read(const ChunkEntry &entry, Wanted wanted);

	i64 rows = 0;
	// Of each leaf its first cell and its first row; one more row at the end.
	std::vector<i64> leaf, leaf_from;
	// Of each different time.
	std::vector<i64> start_ns, end_ns;
	// Of each row: TIME, THREAD and so on; offsets are -1 where there is none.
	std::vector<i64> column[STORED];

private:
	struct Bytes;
	void check(const ChunkEntry &entry);
	bool open(const ChunkEntry &entry, Stored c, Bytes &in);
	void values(const ChunkEntry &entry, Stored c);
	void read_leaves(const ChunkEntry &entry);
	void read_times(const ChunkEntry &entry);
	void read_cpus(const ChunkEntry &entry);
	void read_offsets(const ChunkEntry &entry, Stored c, Stored count);

	sqlite3 *db = nullptr;
	std::unique_ptr<Statement> select;
	std::string file;
	std::string stored[STORED];
	std::vector<uint8_t> plain;
};

// A sequence of numbers as it is stored: used by tests, too.
void decode_numbers(const uint8_t *&from, const uint8_t *end, i64 n, i64 *out);

} // namespace memtrace
