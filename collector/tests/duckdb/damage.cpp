// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// Reads copies of a trace database in which bits are flipped or whose end is cut, with the sources of DuckDB's extension, under sanitizers:
//
//	damage DATABASE COPIES SEED
//
// Each copy must give what the database gives, or a sentence.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "duckdb/bytes.hpp"
#include "duckdb/trace.hpp"

using namespace memtrace;

static u64 mix(u64 h, u64 v)
{
	return (h ^ v) * 0x9e3779b97f4a7c15ULL + (h >> 29);
}

static u64 mix(u64 h, const std::vector<std::string> &texts)
{
	for (const std::string &t : texts)
		h = mix(h, crc32c(0, t.data(), t.size()));
	return h;
}

// A number of everything that the extension can tell of a trace.
static u64 everything(const std::string &file)
{
	Trace t(file);
	u64 h = mix(0, static_cast<u64>(t.start_ns));
	for (const Dictionary *d : {&t.thread, &t.structure, &t.site, &t.type_name, &t.size_class, &t.cpu, &t.function, &t.source, &t.object,
			&t.region, &t.region_path}) {
		h = mix(h, d->texts);
		for (int code : d->code)
			h = mix(h, static_cast<u64>(code));
	}
	for (int p = 0; p < static_cast<int>(t.memory.tree.size()); p++)
		h = mix(mix(h, t.memory.tree[static_cast<size_t>(p)].start), {t.memory.name(p)});
	for (const Region &r : t.regions.all)
		h = mix(mix(mix(h, static_cast<u64>(r.from_ns)), static_cast<u64>(r.to_ns)), {r.path});
	ChunkReader reader(file);
	for (const ChunkEntry &e : t.index) {
		reader.read(e, ~0U);
		for (i64 v : reader.leaf)
			h = mix(h, static_cast<u64>(v));
		for (size_t i = 0; i < reader.start_ns.size(); i++)
			h = mix(mix(h, static_cast<u64>(reader.start_ns[i])), static_cast<u64>(reader.end_ns[i]));
		for (Stored c : {TIME, THREAD, CPU_SET, READS, WRITES, SHARING, NODE, FLAGS, IP, READ_OFFSET, WRITE_OFFSET, FIRST})
			for (i64 v : reader.column[c])
				h = mix(h, static_cast<u64>(v));
	}
	return h;
}

// Numbers that no checksum protects: whatever the bytes are, decoding ends.
static void numbers(std::mt19937_64 &random, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		std::vector<uint8_t> bytes(random() % 64);
		for (auto &b : bytes)
			b = static_cast<uint8_t>(random());
		if (!bytes.empty())
			bytes[0] = static_cast<uint8_t>((random() % 6) << 4 | random() % 10);
		std::vector<i64> out(random() % 300);
		const uint8_t *at = bytes.data();
		try {
			decode_numbers(at, bytes.data() + bytes.size(), static_cast<i64>(out.size()), out.data());
		} catch (const Bad &) {
			continue;
		}
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	std::ifstream in(argv[1], std::ios::binary);
	const std::string whole((std::istreambuf_iterator<char>(in)), {});
	u64 right = everything(argv[1]);
	std::mt19937_64 random(std::strtoull(argv[3], nullptr, 10));
	numbers(random, 100000);
	std::string name = std::string(argv[1]) + ".damaged-" + std::to_string(getpid());
	int same = 0, told = 0, other = 0;
	for (int i = 0; i < std::atoi(argv[2]); i++) {
		std::string copy = whole;
		if (i % 5 == 4)
			copy.resize(random() % copy.size());
		else
			for (u64 k = 1ULL << random() % 7; k > 0; k--)
				copy[random() % copy.size()] ^= static_cast<char>(1U << random() % 8);
		std::ofstream(name, std::ios::binary | std::ios::trunc) << copy;
		try {
			if (everything(name) == right) {
				same++;
			} else {
				other++;
				std::fprintf(stderr, "copy %d of seed %s gives another answer\n", i, argv[3]);
			}
		} catch (const Bad &e) {
			told++;
			if (std::string(e.what()).empty())
				other++;
		}
	}
	unlink(name.c_str());
	std::printf("%d the same, %d told, %d another answer\n", same, told, other);
	return other == 0 ? 0 : 1;
}
