// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "duckdb/memory.hpp"

#include <zlib.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <map>
#include <tuple>

#include "duckdb/bytes.hpp"

namespace memtrace {

namespace {

constexpr i64 FORMAT = 1;
constexpr u64 MOST_PRODUCERS = 1 << 27;
constexpr u64 LONGEST_NAME = 1 << 20;
constexpr int SIZE_CLASSES = 64;

// A zlib stream.
class Inflate {
public:
	explicit Inflate(std::string all) : packed(std::move(all))
	{
		stream.next_in = reinterpret_cast<Bytef *>(packed.data());
		stream.avail_in = static_cast<uInt>(packed.size());
		if (packed.size() > UINT_MAX || inflateInit(&stream) != Z_OK)
			throw Bad("it cannot be decompressed");
	}
	~Inflate() { inflateEnd(&stream); }
	Inflate(const Inflate &) = delete;
	Inflate &operator=(const Inflate &) = delete;

	int next()
	{
		if (at == end && !fill())
			return -1;
		return buffer[at++];
	}

	u64 number()
	{
		u64 v = 0;
		for (int shift = 0; shift < 70; shift += 7) {
			int b = need();
			if (shift < 64)
				v |= static_cast<u64>(b & 0x7f) << shift;
			if (b < 0x80)
				return v;
		}
		throw Bad("a number has too many bytes");
	}

	i64 sign()
	{
		u64 v = number();
		return static_cast<i64>(v >> 1 ^ (~(v & 1) + 1));
	}

	std::string text()
	{
		u64 length = number();
		if (length > LONGEST_NAME)
			throw Bad("a name has " + std::to_string(length) + " bytes");
		std::string bytes;
		for (u64 i = 0; i < length; i++)
			bytes.push_back(static_cast<char>(need()));
		return clean(bytes.data(), bytes.size());
	}

private:
	int need()
	{
		int b = next();
		if (b < 0)
			throw Bad("it ends too early");
		return b;
	}

	bool fill()
	{
		stream.next_out = buffer;
		stream.avail_out = sizeof(buffer);
		int rc = inflate(&stream, Z_NO_FLUSH);
		if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
			throw Bad("it cannot be decompressed");
		at = 0;
		end = sizeof(buffer) - stream.avail_out;
		return end > 0;
	}

	std::string packed;
	z_stream stream = {};
	uint8_t buffer[1 << 16] = {};
	size_t at = 0, end = 0;
};

std::string strip(const std::string &s)
{
	size_t from = s.find_first_not_of(" \t\r\n\f\v");
	return from == std::string::npos ? "" : s.substr(from, s.find_last_not_of(" \t\r\n\f\v") - from + 1);
}

bool blank(const std::string &s)
{
	return strip(s).empty();
}

// The name of a structure without the number of a block.
std::string plain_name(const std::string &name)
{
	std::string plain = strip(name);
	size_t at = plain.rfind(" #");
	if (at == std::string::npos || at + 2 >= plain.size()
			|| !std::all_of(plain.begin() + static_cast<std::ptrdiff_t>(at) + 2, plain.end(), [](char c) { return c >= '0' && c <= '9'; }))
		return plain;
	return plain.substr(0, at);
}

std::string hex(u64 value)
{
	char text[17];
	snprintf(text, sizeof(text), "%llx", static_cast<unsigned long long>(value));
	return text;
}

std::string bytes_text(u64 bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	auto v = static_cast<double>(bytes);
	size_t unit = 0;
	for (; v >= 1024 && unit < 6; unit++)
		v /= 1024;
	char text[32];
	snprintf(text, sizeof(text), unit == 0 || v >= 100 ? "%.0f" : "%.1f", v);
	return std::string(text) + " " + units[unit];
}

} // namespace

const char *kind_name(Kind kind)
{
	static const char *const names[] = {"root", "image", "structure", "stack", "range", "part", "page", "group", "other", "node", "frames"};
	return names[static_cast<size_t>(kind)];
}

std::string size_class_name(int size_class)
{
	return bytes_text(1ULL << size_class) + (size_class < SIZE_CLASSES - 2 ? " to " + bytes_text(1ULL << (size_class + 1)) : " and more");
}

std::string element_type(const std::string &type_name)
{
	std::string t = type_name;
	bool cut = true;
	while (cut && !t.empty() && t.back() == ']') { // double[64][64]
		size_t at = t.find_last_not_of("0123456789", t.size() - 2);
		cut = t.size() > 1 && at != std::string::npos && t[at] == '[';
		if (cut)
			t.resize(at);
	}
	if (!t.empty() && t.back() == ')') { // real(kind=8)(:,:)
		size_t at = t.size() == 1 ? std::string::npos : t.find_last_not_of("0123456789:,-", t.size() - 2);
		if (at != std::string::npos && t[at] == '(')
			t.resize(at);
	}
	return strip(t);
}

Memory::Memory(const Database &db)
{
	i64 page = db.property("page_size_bytes");
	page_bytes = page > 0 ? page : 1;
	read_tree(db);
	read_structures(db);
	read_cells(db);
	find_parts();
	find_lives();
}

void Memory::read_tree(const Database &db)
{
	std::string packed;
	db.rows("MT_TREE", {"SPACE", "DATA"}, [&](const Statement &row, const std::vector<int> &at) {
		if (row.number(at[0]) != 0)
			return;
		size_t size = 0;
		const uint8_t *bytes = row.blob(at[1], size);
		packed.append(reinterpret_cast<const char *>(bytes), size);
	});
	if (packed.empty())
		throw db.damaged("it has no tree of memory");
	try {
		Inflate in(std::move(packed));
		if (in.number() != FORMAT)
			throw Bad("unknown format");
		u64 size = in.number();
		if (size > MOST_PRODUCERS)
			throw Bad("it has " + std::to_string(size) + " producers");
		std::vector<int> above;
		u64 start = 0;
		i64 structure = -1;
		for (u64 id = 0; id < size; id++) {
			while (!above.empty() && tree[static_cast<size_t>(above.back())].end == static_cast<int>(id))
				above.pop_back();
			Producer p;
			u64 kind = in.number();
			u64 end = id + in.number();
			if (kind > static_cast<u64>(Kind::FRAMES) || end <= id
					|| end > (above.empty() ? size : static_cast<u64>(tree[static_cast<size_t>(above.back())].end)))
				throw Bad("producer " + std::to_string(id) + " is none");
			p.kind = static_cast<Kind>(kind);
			p.end = static_cast<int>(end);
			p.parent = above.empty() ? -1 : above.back();
			start += static_cast<u64>(in.sign());
			p.start = start;
			p.stop = start + in.number();
			structure += static_cast<int>(in.sign());
			p.structure = static_cast<int>(structure);
			p.named = p.kind != Kind::PART && p.kind != Kind::PAGE;
			if (p.named)
				p.label = in.text();
			tree.push_back(std::move(p));
			above.push_back(static_cast<int>(id));
		}
		if (in.next() >= 0)
			throw Bad("bytes after the end");
	} catch (const Bad &e) {
		throw db.damaged(std::string("its tree of memory: ") + e.what());
	}
}

void Memory::read_structures(const Database &db)
{
	db.rows("MT_STRUCTURE", {"IMAGE", "KIND", "NAME", "START_ADDRESS", "END_ADDRESS", "BIRTH_NS", "DEATH_NS", "TASK_ID", "STACK", "SITE",
			"TYPE_NAME", "HUGE_BYTES", "NO_HUGE_BYTES"}, [&](const Statement &row, const std::vector<int> &at) {
		Structure s;
		s.image = row.number(at[0]);
		s.kind = row.number(at[1]);
		s.name = row.text(at[2]);
		s.start = static_cast<u64>(row.number(at[3]));
		s.stop = static_cast<u64>(row.number(at[4]));
		s.birth_ns = row.number(at[5]);
		s.death_ns = row.number(at[6]);
		s.task = row.number(at[7]);
		s.stack = row.number(at[8]);
		s.site = row.text(at[9]);
		s.type_name = row.text(at[10]);
		s.huge_bytes = at[11] < 0 ? -1 : row.number(at[11]);
		s.no_huge_bytes = at[12] < 0 ? -1 : row.number(at[12]);
		if (s.kind < 0 || s.kind > 5)
			throw db.damaged("its table MT_STRUCTURE has a kind that is none");
		structures.push_back(std::move(s));
	});
	for (const Producer &p : tree)
		if (p.structure < -1 || p.structure >= static_cast<int>(structures.size()))
			throw db.damaged("its tree of memory has a structure that is not known");
}

void Memory::read_cells(const Database &db)
{
	db.rows("MT_CELL", {"PRODUCER"}, [&](const Statement &row, const std::vector<int> &at) {
		i64 p = row.number(at[0]);
		if (p < 0 || p >= static_cast<i64>(tree.size()))
			throw db.damaged("its table MT_CELL has a page that is not known");
		of_cell.push_back(static_cast<int>(p));
	});
	// whether chunks are in the order of the tree
	std::string bytes;
	bytes.reserve(of_cell.size() * 4);
	for (int p : of_cell)
		for (int shift = 0; shift < 32; shift += 8)
			bytes.push_back(static_cast<char>(static_cast<unsigned>(p) >> shift));
	i64 crc = crc32c(0, bytes.data(), bytes.size());
	i64 known = 0;
	if (db.checksum("cells.virtual", known) && known != crc)
		throw db.damaged("its table MT_CELL is not what was written");
	if (crc != db.property("chunk_order_crc32c"))
		throw Bad(db.file() + " has a tree that merging rules have changed: memtrace sql reads it");
}

// Whether a producer stands around parts and is none.
bool Memory::open(int producer) const
{
	const Producer &p = tree[static_cast<size_t>(producer)];
	if (p.end == producer + 1)
		return false;
	if (p.kind == Kind::ROOT || p.kind == Kind::IMAGE || p.kind == Kind::NODE)
		return true;
	if (p.kind != Kind::GROUP || p.structure >= 0)
		return false;
	switch (tree[static_cast<size_t>(producer) + 1].kind) {
	case Kind::STRUCTURE:
	case Kind::STACK:
	case Kind::RANGE:
	case Kind::FRAMES:
	case Kind::GROUP:
		return true;
	default:
		return false;
	}
}

void Memory::find_parts()
{
	part_of.assign(tree.size(), -1);
	for (int id = 0; id < static_cast<int>(tree.size());) {
		if (open(id)) {
			id++;
			continue;
		}
		int end = tree[static_cast<size_t>(id)].end;
		std::fill(part_of.begin() + id, part_of.begin() + end, static_cast<int>(parts.size()));
		parts.push_back(id);
		id = end;
	}
}

std::string Memory::name(int producer) const
{
	const Producer &p = tree[static_cast<size_t>(producer)];
	if (p.named)
		return p.label;
	int owner = p.parent;
	while (owner >= 0 && !tree[static_cast<size_t>(owner)].named)
		owner = tree[static_cast<size_t>(owner)].parent;
	bool page = p.kind == Kind::PAGE;
	const Producer *o = owner < 0 ? nullptr : &tree[static_cast<size_t>(owner)];
	std::string label = o == nullptr ? "" : o->label + " ";
	auto size = static_cast<u64>(page_bytes);
	if (o != nullptr && o->kind == Kind::FRAMES)
		return page ? "frame " + hex(p.start / size) : "frames " + hex(p.start / size) + "-" + hex((p.stop - 1) / size);
	if (o == nullptr || (o->kind == Kind::GROUP && o->structure < 0))
		return label + (page ? "[page at " + hex(p.start) + "]" : "[" + hex(p.start) + "-" + hex(p.stop) + "]");
	auto first = static_cast<i64>(p.start / size - o->start / size);
	auto last = static_cast<i64>((p.stop - 1) / size - o->start / size);
	return label + (page ? "[page " + std::to_string(first) + "]" : "[pages " + std::to_string(first) + "-" + std::to_string(last) + "]");
}

void Memory::find_lives()
{
	std::map<std::tuple<i64, i64, std::string, std::string>, int> known;
	group.assign(structures.size(), -1);
	for (size_t s = 0; s < structures.size(); s++) {
		const Structure &one = structures[s];
		bool heap = one.kind == 1 || one.kind == 2;
		bool place = one.kind == 4 || (heap && !blank(one.name)) || ((heap || one.kind == 0 || one.kind == 5) && !blank(one.site));
		if (!place) {
			group[s] = static_cast<int>(groups.size());
			groups.push_back({static_cast<int>(s)});
			continue;
		}
		auto [found, added] = known.try_emplace({one.image, one.kind, plain_name(one.name), one.site}, static_cast<int>(groups.size()));
		if (added)
			groups.emplace_back();
		group[s] = found->second;
		groups[static_cast<size_t>(found->second)].push_back(static_cast<int>(s));
	}
	for (auto &all : groups)
		std::stable_sort(all.begin(), all.end(), [&](int a, int b) {
			return structures[static_cast<size_t>(a)].birth_ns < structures[static_cast<size_t>(b)].birth_ns;
		});
	for (const auto &all : groups)
		bytes_of_group.push_back(most_bytes(all));
	lives_there.assign(tree.size(), false);
	for (size_t id = 0; id < tree.size(); id++) {
		const Producer &p = tree[id];
		if (p.structure < 0 || groups[static_cast<size_t>(group[static_cast<size_t>(p.structure)])].size() < 2)
			continue;
		if (p.kind == Kind::GROUP)
			lives_there[id] = true;
		else if ((p.kind == Kind::PART || p.kind == Kind::PAGE) && p.parent >= 0)
			lives_there[id] = lives_there[static_cast<size_t>(p.parent)];
	}
}

// The most bytes of blocks, which are in the order of their births, that lived at one time.
u64 Memory::most_bytes(const std::vector<int> &all) const
{
	auto size = [&](int b) { return structures[static_cast<size_t>(b)].stop - structures[static_cast<size_t>(b)].start; };
	std::vector<int> by_death = all;
	std::stable_sort(by_death.begin(), by_death.end(), [&](int a, int b) {
		return structures[static_cast<size_t>(a)].death_ns < structures[static_cast<size_t>(b)].death_ns;
	});
	u64 now = 0;
	u64 most = 0;
	size_t dead = 0;
	for (int block : all) {
		while (dead < all.size() && structures[static_cast<size_t>(by_death[dead])].death_ns
				<= structures[static_cast<size_t>(block)].birth_ns)
			now -= size(by_death[dead++]);
		now += size(block);
		if (static_cast<i64>(now) > static_cast<i64>(most))
			most = now;
	}
	return most;
}

std::vector<int> Memory::blocks(int producer) const
{
	const Producer &p = tree[static_cast<size_t>(producer)];
	std::vector<int> some;
	if (p.structure < 0)
		return some;
	for (int b : groups[static_cast<size_t>(group[static_cast<size_t>(p.structure)])]) {
		const Structure &s = structures[static_cast<size_t>(b)];
		if (s.start < p.stop && p.start < s.stop)
			some.push_back(b);
	}
	return some;
}

int Memory::alive(const std::vector<int> &some, i64 start_ns, i64 end_ns) const
{
	auto before = std::partition_point(some.begin(), some.end(), [&](int b) {
		return structures[static_cast<size_t>(b)].birth_ns < end_ns;
	});
	i64 low = before - some.begin();
	int best = -1;
	i64 longest = 0;
	for (i64 i = low - 1; i >= 0 && longest < minus(end_ns, start_ns); i--) {
		int block = some[static_cast<size_t>(i)];
		const Structure &s = structures[static_cast<size_t>(block)];
		i64 lived = minus(std::min(end_ns, s.death_ns), std::max(start_ns, s.birth_ns));
		if (lived > longest) {
			best = block;
			longest = lived;
		} else if (s.death_ns <= start_ns && best >= 0) {
			break;
		}
	}
	return best >= 0 ? best : low > 0 ? some[static_cast<size_t>(low - 1)] : some.empty() ? -1 : some[0];
}

int Memory::size_class(int producer) const
{
	const Producer &p = tree[static_cast<size_t>(producer)];
	u64 bytes = 0;
	if (p.structure >= 0) {
		bytes = bytes_of_group[static_cast<size_t>(group[static_cast<size_t>(p.structure)])];
	} else {
		int part = part_of[static_cast<size_t>(producer)];
		if (part < 0)
			return -1;
		const Producer &of = tree[static_cast<size_t>(parts[static_cast<size_t>(part)])];
		bytes = of.stop - of.start;
	}
	return static_cast<i64>(bytes) <= 0 ? -1 : SIZE_CLASSES - 1 - __builtin_clzll(bytes);
}

} // namespace memtrace
