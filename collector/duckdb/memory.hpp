// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// What is known of the memory of a trace: its tree, its structures, and which of them are one thing to a person. ProducerTree, Parts,
// Lives and SizeClasses are the same in Java.
#pragma once

#include "duckdb/database.hpp"

namespace memtrace {

enum class Kind : uint8_t { ROOT, IMAGE, STRUCTURE, STACK, RANGE, PART, PAGE, GROUP, OTHER, NODE, FRAMES };
const char *kind_name(Kind kind);

struct Producer {
	Kind kind = Kind::ROOT;
	bool named = false;
	int parent = -1;
	int end = 0;
	int structure = -1;
	u64 start = 0, stop = 0;
	std::string label;
};

// A row of MT_STRUCTURE; an address is unsigned.
struct Structure {
	i64 image = 0, kind = 0;
	std::string name;
	u64 start = 0, stop = 0;
	i64 birth_ns = 0, death_ns = 0, task = -1, stack = -1;
	std::string site, type_name;
	i64 huge_bytes = -1, no_huge_bytes = -1;
};

// Part of a structure's life: which blocks of one name lived at a place.
class Memory {
public:
	explicit Memory(const Database &db);

	i64 page_bytes = 4096;
	std::vector<Producer> tree;
	std::vector<Structure> structures;
	// Producer of each cell.
	std::vector<int> of_cell;
	// Index in parts of each producer, -1 above them; a part is a producer that a person names.
	std::vector<int> part_of;
	std::vector<int> parts;

	// What a person calls a producer.
	std::string name(int producer) const;
	// Whether several blocks of one name have lived in a page.
	bool several(int producer) const { return lives_there[static_cast<size_t>(producer)]; }
	// Of those that of an interval, -1 for none.
	int alive(const std::vector<int> &some, i64 start_ns, i64 end_ns) const;
	// Blocks that are one with that of a producer and have some of its addresses, by their birth.
	std::vector<int> blocks(int producer) const;
	// The class of the size of what a producer belongs to: a power of two, -1 not known.
	int size_class(int producer) const;

private:
	void read_tree(const Database &db);
	void read_structures(const Database &db);
	void read_cells(const Database &db);
	void find_parts();
	void find_lives();
	u64 most_bytes(const std::vector<int> &all) const;
	bool open(int producer) const;

	std::vector<bool> lives_there;
	// Of each structure the group of those that are one with it.
	std::vector<int> group;
	std::vector<std::vector<int>> groups;
	std::vector<u64> bytes_of_group;
};

// "1.0 KiB to 2.0 KiB"
std::string size_class_name(int size_class);
// The type of what an array consists of.
std::string element_type(const std::string &type_name);

} // namespace memtrace
