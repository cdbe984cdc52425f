// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "duckdb/places.hpp"

#include <algorithm>

namespace memtrace {

namespace {

constexpr i64 CODE_VERSION = 1;

std::string base(const std::string &path)
{
	size_t at = path.rfind('/');
	return at == std::string::npos ? path : path.substr(at + 1);
}

// Numbers as Java's DataOutputStream writes them.
class BigEndian {
public:
	BigEndian(const std::string &bytes) : bytes(bytes) {}

	i64 number(size_t width)
	{
		need(width);
		u64 v = 0;
		for (size_t i = 0; i < width; i++)
			v = v << 8 | static_cast<uint8_t>(bytes[at++]);
		return width == 4 ? static_cast<int32_t>(v) : static_cast<i64>(v);
	}

	// How many things, of which each takes so many bytes at least.
	size_t count(size_t each)
	{
		i64 n = number(4);
		if (n < 0 || static_cast<u64>(n) * each > bytes.size() - at)
			throw Bad("cut");
		return static_cast<size_t>(n);
	}

	std::string text()
	{
		size_t n = count(1);
		std::string t = clean(bytes.data() + at, n);
		at += n;
		return t;
	}

private:
	void need(size_t n) const
	{
		if (n > bytes.size() - at)
			throw Bad("cut");
	}

	const std::string &bytes;
	size_t at = 0;
};

std::vector<std::string> split(const std::string &text, char by, size_t most)
{
	std::vector<std::string> fields;
	size_t at = 0;
	for (;;) {
		size_t end = fields.size() + 1 == most ? std::string::npos : text.find(by, at);
		fields.push_back(text.substr(at, end == std::string::npos ? end : end - at));
		if (end == std::string::npos)
			return fields;
		at = end + 1;
	}
}

// A whole number as Java's Long.parseLong reads it.
bool parse(const std::string &text, i64 &value)
{
	try {
		size_t end = 0;
		value = std::stoll(text, &end);
		return end == text.size() && text.find_first_not_of("+-0123456789") == std::string::npos;
	} catch (const std::exception &) {
		return false;
	}
}

std::string in_path(const std::string &name)
{
	std::string out;
	for (char c : name)
		out += c == '/' ? "\xe2\x88\x95" : std::string(1, c);
	return out;
}

int number(std::map<std::string, int> &numbers, std::vector<std::string> &list, const std::string &name)
{
	auto [found, added] = numbers.try_emplace(name, static_cast<int>(list.size()));
	if (added)
		list.push_back(name);
	return found->second;
}

} // namespace

std::string Thread::label(size_t index) const
{
	return (name.empty() ? "thread" : name) + " #" + std::to_string(index);
}

std::vector<Thread> read_threads(const Database &db)
{
	std::vector<Thread> threads;
	db.rows("MT_THREAD", {"IMAGE", "TASK_ID", "NAME", "BIRTH_NS", "DEATH_NS", "START_ROUTINE", "IS_MAIN"},
			[&](const Statement &row, const std::vector<int> &at) {
		threads.push_back({row.number(at[0]), row.number(at[1]), row.text(at[2]), row.number(at[3]), row.number(at[4]), row.text(at[5]),
				row.number(at[6]) != 0, -1});
	});
	if (db.has_table("MT_THREAD_TIME"))
		db.rows("MT_THREAD_TIME", {"THREAD", "TIME_NS", "CPU_NS"}, [&](const Statement &row, const std::vector<int> &at) {
			auto t = static_cast<u64>(row.number(at[0]));
			if (t < threads.size()) // in the order of time: the last one is the total
				threads[t].cpu_ns = row.number(at[2]);
		});
	return threads;
}

std::vector<std::string> read_cpu_sets(const Database &db)
{
	std::vector<std::string> sets;
	db.rows("MT_CPU_SET", {"CPUS"}, [&](const Statement &row, const std::vector<int> &at) {
		std::string hex = row.text(at[0]);
		std::string text;
		size_t cpu = 0;
		for (size_t i = hex.size(); i-- > 0;) {
			char c = hex[i];
			int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
			if (digit < 0)
				throw db.damaged("its table MT_CPU_SET has no set of CPUs");
			for (int b = 0; b < 4; b++, cpu++)
				if (digit >> b & 1)
					text += (text.empty() ? "" : " ") + std::to_string(cpu);
		}
		sets.push_back(text);
	});
	return sets;
}

std::string Code::Frame::function_text() const
{
	return !function.empty() ? function : object.empty() ? "" : "[" + base(object) + "]";
}

std::string Code::Frame::source_text() const
{
	return file.empty() || line <= 0 ? file : file + ":" + std::to_string(line);
}

std::string Code::Frame::object_text() const
{
	return base(object);
}

int Code::of(i64 image, u64 address) const
{
	auto find = [&](const std::vector<std::pair<u64, int>> &some) {
		auto at = std::lower_bound(some.begin(), some.end(), std::make_pair(address, -1));
		return at != some.end() && at->first == address ? at->second : -1;
	};
	if (image >= 0)
		return static_cast<u64>(image) < addresses.size() ? find(addresses[static_cast<size_t>(image)]) : -1;
	for (const auto &some : addresses) {
		int f = find(some);
		if (f >= 0)
			return f;
	}
	return -1;
}

Code read_code(const Database &db)
{
	Code code;
	std::string note;
	if (!db.note("code", note))
		return code;
	try {
		BigEndian in(note);
		if (in.number(4) != CODE_VERSION)
			throw Bad(db.file() + ": the functions of code addresses are of another version of memtrace");
		std::vector<std::string> texts(in.count(4));
		for (auto &t : texts)
			t = in.text();
		code.frames.resize(in.count(16));
		for (auto &f : code.frames)
			for (std::string *part : {&f.object, &f.function, &f.file}) {
				*part = texts.at(static_cast<size_t>(in.number(4)));
				if (part == &f.file)
					f.line = in.number(4);
			}
		code.addresses.resize(in.count(4));
		for (auto &image : code.addresses) {
			image.resize(in.count(12));
			for (auto &[address, frame] : image) {
				address = static_cast<u64>(in.number(8)) ^ 1ULL << 63;
				frame = static_cast<int>(in.number(4));
				if (frame < 0 || static_cast<size_t>(frame) >= code.frames.size())
					throw Bad("cut");
			}
			std::sort(image.begin(), image.end());
		}
	} catch (const std::out_of_range &) {
		throw db.damaged("the functions of code addresses are damaged");
	} catch (const Bad &e) {
		throw std::string(e.what()) == "cut" ? db.damaged("the functions of code addresses are damaged") : e;
	}
	return code;
}

Regions::Regions(const Database &db, const std::vector<Thread> &threads)
{
	std::string note;
	of_thread.assign(threads.size(), -1);
	if (!db.note("regions", note))
		return;
	for (const std::string &line : split(clean(note.data(), note.size()), '\n', SIZE_MAX)) {
		std::vector<std::string> f = split(line, '\t', 5);
		Region r;
		if (f.size() == 5 && parse(f[0], r.image) && parse(f[1], r.task) && parse(f[2], r.from_ns) && parse(f[3], r.to_ns)) {
			r.name = f[4];
			all.push_back(r);
		}
	}
	std::stable_sort(all.begin(), all.end(), [](const Region &a, const Region &b) {
		return a.from_ns != b.from_ns ? a.from_ns < b.from_ns : a.to_ns > b.to_ns;
	});
	for (const Region &r : all)
		number(name_number, names, r.name);
	std::map<std::pair<i64, i64>, int> line_of;
	std::map<i64, int> first_of;
	std::vector<std::vector<size_t>> members;
	for (size_t i = 0; i < all.size(); i++) {
		auto [found, added] = line_of.try_emplace({all[i].image, all[i].task}, static_cast<int>(members.size()));
		if (added)
			members.emplace_back();
		members[static_cast<size_t>(found->second)].push_back(i);
		first_of.try_emplace(all[i].image, found->second);
	}
	lines.resize(members.size());
	for (size_t l = 0; l < members.size(); l++)
		make_line(members[l], lines[l]);
	for (size_t t = 0; t < threads.size(); t++) {
		auto own = line_of.find({threads[t].image, threads[t].task});
		auto first = first_of.find(threads[t].image);
		of_thread[t] = own != line_of.end() ? own->second : first != first_of.end() ? first->second : -1;
		if (own != line_of.end())
			for (size_t i : members[static_cast<size_t>(own->second)])
				if (all[i].thread < 0)
					all[i].thread = static_cast<i64>(t);
	}
}

// Outer regions come first, and inner ones over them.
void Regions::make_line(const std::vector<size_t> &some, Line &line)
{
	for (size_t i : some) {
		line.bound.push_back(all[i].from_ns);
		line.bound.push_back(all[i].to_ns);
	}
	std::sort(line.bound.begin(), line.bound.end());
	line.bound.erase(std::unique(line.bound.begin(), line.bound.end()), line.bound.end());
	line.innermost.assign(line.bound.size(), -1);
	line.path.assign(line.bound.size(), -1);
	std::vector<i64> depth(line.bound.size(), 0);
	for (size_t i : some) {
		Region &r = all[i];
		auto from = std::lower_bound(line.bound.begin(), line.bound.end(), r.from_ns) - line.bound.begin();
		auto to = std::lower_bound(line.bound.begin(), line.bound.end(), r.to_ns) - line.bound.begin();
		int own = name_number[r.name];
		r.path = in_path(r.name);
		for (auto k = from; k < to; k++) {
			auto at = static_cast<size_t>(k);
			std::string path = line.path[at] < 0 ? in_path(r.name) : paths[static_cast<size_t>(line.path[at])] + "/" + in_path(r.name);
			if (k == from) {
				r.path = path;
				r.depth = depth[at];
			}
			line.path[at] = number(path_number, paths, path);
			line.innermost[at] = own;
			depth[at]++;
		}
	}
}

void Regions::at(i64 thread, i64 ns, int &innermost, int &path) const
{
	innermost = path = -1;
	if (thread < 0 || thread >= static_cast<i64>(of_thread.size()) || of_thread[static_cast<size_t>(thread)] < 0)
		return;
	const Line &line = lines[static_cast<size_t>(of_thread[static_cast<size_t>(thread)])];
	auto at = std::upper_bound(line.bound.begin(), line.bound.end(), ns) - line.bound.begin();
	if (at > 0) {
		innermost = line.innermost[static_cast<size_t>(at - 1)];
		path = line.path[static_cast<size_t>(at - 1)];
	}
}

} // namespace memtrace
