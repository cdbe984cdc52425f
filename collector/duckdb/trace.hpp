// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// All of a trace but its accesses, as the table functions need it. Immutable once it is made; safe for all threads.
#pragma once

#include "duckdb/chunk.hpp"
#include "duckdb/memory.hpp"
#include "duckdb/places.hpp"

namespace memtrace {

// Different texts in the order of their bytes, as DuckDB sorts them, and the place of each of some values among them.
struct Dictionary {
	std::vector<std::string> texts;
	// Of each value, -1 for none.
	std::vector<int> code;
};

struct Trace {
	explicit Trace(const std::string &file);

	Database db;
	i64 start_ns;
	std::vector<ChunkEntry> index;
	Memory memory;
	std::vector<Thread> threads;
	std::vector<std::string> cpu_sets;
	Code code;
	Regions regions;

	// By thread, part, structure, structure, class, set, frame, frame, frame, name, path, level, and 4 kinds with 3 directions.
	Dictionary thread, structure, site, type_name, size_class, cpu, function, source, object, region, region_path, level, type;
	// Of each producer.
	std::vector<int> size_class_of;
	// Of each producer in which several blocks lived these blocks.
	std::map<int, std::vector<int>> blocks;
};

// The trace in a file, as it is now. The last one is kept, for statements that name it several times. Any thread.
std::shared_ptr<const Trace> open_trace(const std::string &file);

// Names that are near a wrong one, for a sentence.
std::string near(const std::string &wrong, const std::vector<std::string> &names);

} // namespace memtrace
