// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// Threads, sets of CPUs, where code is, and in which regions threads were. CodePlaces and Regions are the same in Java.
#pragma once

#include "duckdb/database.hpp"

namespace memtrace {

// A row of MT_THREAD.
struct Thread {
	i64 image = 0, task = 0;
	std::string name;
	i64 birth_ns = 0, death_ns = 0;
	std::string start_routine;
	bool main = false;
	// CPU time, -1 not known.
	i64 cpu_ns = -1;

	// "worker #3"
	std::string label(size_t index) const;
};
std::vector<Thread> read_threads(const Database &db);

// Of each set of CPUs its numbers between blanks.
std::vector<std::string> read_cpu_sets(const Database &db);

// Where code is.
struct Code {
	struct Frame {
		std::string object, function, file;
		i64 line = 0;
		std::string function_text() const;
		std::string source_text() const;
		std::string object_text() const;
	};
	std::vector<Frame> frames;
	// Of each image the addresses, ascending, and their frames.
	std::vector<std::vector<std::pair<u64, int>>> addresses;

	// Frame of an address, -1 not known; image -1: of the first image that has it.
	int of(i64 image, u64 address) const;
};
Code read_code(const Database &db);

// The time that a thread was in a region.
struct Region {
	i64 image = 0, task = 0, from_ns = 0, to_ns = 0;
	std::string name;
	// Of its thread, those that it is in and itself, and how many it is in.
	std::string path;
	i64 depth = 0;
	// Thread, -1 when it is not in the table.
	i64 thread = -1;
};

class Regions {
public:
	Regions(const Database &db, const std::vector<Thread> &threads);

	// Numbers of the innermost region and of the path at a time, -1 for none.
	void at(i64 thread, i64 ns, int &innermost, int &path) const;

	std::vector<std::string> names, paths;
	std::vector<Region> all;

private:
	struct Line {
		std::vector<i64> bound;
		std::vector<int> innermost, path;
	};
	void make_line(const std::vector<size_t> &some, Line &line);

	std::vector<Line> lines;
	// Of each thread, -1 for none.
	std::vector<int> of_thread;
	std::map<std::string, int> name_number, path_number;
};

} // namespace memtrace
