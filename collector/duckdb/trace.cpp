// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "duckdb/trace.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <mutex>

namespace memtrace {

namespace {

// MemoryLevel in Java
const char *const LEVELS[] = {"L1", "fill buffer", "L2", "L3", "another cache", "local memory", "remote memory", "cache of another node",
		"written by another core (HITM)", "written on another node (HITM)", "uncached", "device", "persistent memory", "CXL memory",
		"beyond L1"};

// Of texts by value; an empty one is none unless it is wanted.
Dictionary dictionary(const std::vector<std::string> &of, bool empty_too = false)
{
	Dictionary d;
	for (const std::string &t : of)
		if (empty_too || !t.empty())
			d.texts.push_back(t);
	std::sort(d.texts.begin(), d.texts.end());
	d.texts.erase(std::unique(d.texts.begin(), d.texts.end()), d.texts.end());
	for (const std::string &t : of)
		d.code.push_back(!empty_too && t.empty() ? -1
				: static_cast<int>(std::lower_bound(d.texts.begin(), d.texts.end(), t) - d.texts.begin()));
	return d;
}

template <class T, class F> Dictionary dictionary_of(const std::vector<T> &all, F text, bool empty_too = false)
{
	std::vector<std::string> texts;
	for (const T &one : all)
		texts.push_back(text(one));
	return dictionary(texts, empty_too);
}

size_t distance(const std::string &a, const std::string &b)
{
	std::vector<size_t> row(b.size() + 1);
	for (size_t j = 0; j < row.size(); j++)
		row[j] = j;
	for (size_t i = 1; i <= a.size(); i++) {
		size_t corner = row[0]++;
		for (size_t j = 1; j < row.size(); j++) {
			size_t above = row[j];
			row[j] = std::min({above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1] ? 1U : 0U)});
			corner = above;
		}
	}
	return row.back();
}

} // namespace

Trace::Trace(const std::string &file)
	: db(file), start_ns(db.property("start_ns")), index(read_index(db)), memory(db), threads(read_threads(db)), cpu_sets(read_cpu_sets(db)),
	  code(read_code(db)), regions(db, threads)
{
	if (db.property("accesses_in_folder") == 1)
		throw Bad(file + " is a part of a Parquet folder: its accesses are in the files beside it");
	i64 rows = 0;
	for (const ChunkEntry &e : index)
		rows += e.rows;
	if (rows != db.property("accesses"))
		throw db.damaged("its chunks have " + std::to_string(rows) + " accesses of " + std::to_string(db.property("accesses")));
	std::vector<std::string> labels;
	for (size_t t = 0; t < threads.size(); t++)
		labels.push_back(threads[t].label(t));
	thread = dictionary(labels);
	structure = dictionary_of(memory.parts, [&](int p) { return memory.name(p); }, true);
	site = dictionary_of(memory.structures, [](const Structure &s) { return s.site; });
	type_name = dictionary_of(memory.structures, [](const Structure &s) { return element_type(s.type_name); });
	cpu = dictionary(cpu_sets, true);
	function = dictionary_of(code.frames, [](const Code::Frame &f) { return f.function_text(); });
	source = dictionary_of(code.frames, [](const Code::Frame &f) { return f.source_text(); });
	object = dictionary_of(code.frames, [](const Code::Frame &f) { return f.object_text(); });
	region = dictionary(regions.names, true);
	region_path = dictionary(regions.paths, true);
	level = dictionary(std::vector<std::string>(std::begin(LEVELS), std::end(LEVELS)));
	type = dictionary({"Private_Read", "Private_Write", "Private_Read+Private_Write", "Shared_Read", "Shared_Write",
			"Shared_Read+Shared_Write", "NotKnown_Read", "NotKnown_Write", "NotKnown_Read+NotKnown_Write"});
	std::vector<std::string> classes;
	for (int c = 0; c < 64; c++)
		classes.push_back(size_class_name(c));
	size_class = dictionary(classes);
	for (int p = 0; p < static_cast<int>(memory.tree.size()); p++) {
		bool leaf = memory.tree[static_cast<size_t>(p)].end == p + 1;
		size_class_of.push_back(leaf ? memory.size_class(p) : -1);
		if (leaf && memory.several(p))
			blocks.emplace(p, memory.blocks(p));
	}
}

std::shared_ptr<const Trace> open_trace(const std::string &file)
{
	static std::mutex lock;
	static std::string last_state;
	static std::shared_ptr<const Trace> last;
	struct stat st = {};
	if (stat(file.c_str(), &st) != 0 || !S_ISREG(st.st_mode))
		throw Bad(file + " is no file");
	std::string state = file + "\n" + std::to_string(st.st_dev) + " " + std::to_string(st.st_ino) + " " + std::to_string(st.st_size) + " "
			+ std::to_string(st.st_mtim.tv_sec) + "." + std::to_string(st.st_mtim.tv_nsec);
	std::lock_guard<std::mutex> held(lock);
	if (last == nullptr || state != last_state) {
		last.reset();
		last = std::make_shared<const Trace>(file);
		last_state = state;
	}
	return last;
}

std::string near(const std::string &wrong, const std::vector<std::string> &names)
{
	std::vector<std::pair<size_t, std::string>> all;
	for (const std::string &n : names) {
		size_t d = distance(wrong, n);
		if (d * 2 <= std::max(wrong.size(), n.size()) || n.find(wrong) != std::string::npos)
			all.emplace_back(d, n);
	}
	std::sort(all.begin(), all.end());
	std::string text;
	for (size_t i = 0; i < all.size() && i < 3; i++)
		text += (i == 0 ? "; near: " : ", ") + all[i].second;
	return text;
}

} // namespace memtrace
