// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "duckdb/database.hpp"

#include <cstring>

namespace memtrace {

namespace {

constexpr int FIRST_VERSION = 3;
constexpr int LAST_VERSION = 4;
constexpr int BUSY_MS = 10000;

const uint32_t *crc_table()
{
	static const auto table = [] {
		std::vector<uint32_t> made(256);
		for (uint32_t i = 0; i < 256; i++) {
			uint32_t c = i;
			for (int k = 0; k < 8; k++)
				c = c & 1 ? c >> 1 ^ 0x82f63b78U : c >> 1;
			made[i] = c;
		}
		return made;
	}();
	return table.data();
}

uint32_t crc_slow(uint32_t c, const uint8_t *p, size_t n)
{
	const uint32_t *table = crc_table();
	while (n-- > 0)
		c = table[(c ^ *p++) & 0xff] ^ c >> 8;
	return c;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t crc_fast(uint32_t crc, const uint8_t *p, size_t n)
{
	u64 c = crc;
	for (; n >= 8; n -= 8, p += 8) {
		u64 word;
		memcpy(&word, p, 8);
		c = __builtin_ia32_crc32di(c, word);
	}
	auto low = static_cast<uint32_t>(c);
	for (; n > 0; n--)
		low = __builtin_ia32_crc32qi(low, *p++);
	return low;
}
#endif

// The checksum of the values of rows (RowsChecksum in Java).
class RowsChecksum {
public:
	void number(i64 value)
	{
		uint8_t bytes[9] = {'n'};
		memcpy(bytes + 1, &value, 8);
		crc = crc32c(crc, bytes, sizeof(bytes));
	}

	void text(const void *bytes, size_t size)
	{
		crc = crc32c(crc, "t", 1);
		blob(bytes, size);
	}

	void blob(const void *bytes, size_t size)
	{
		number(static_cast<i64>(size));
		crc = crc32c(crc, bytes, size);
	}

	void value(const Statement &row, int column)
	{
		size_t size = 0;
		switch (row.type(column)) {
		case SQLITE_NULL:
			crc = crc32c(crc, "-", 1);
			break;
		case SQLITE_FLOAT: // no table that is read here has one
			throw Bad("a whole number is not one");
		case SQLITE_INTEGER:
			number(row.number(column));
			break;
		case SQLITE_BLOB: {
			const uint8_t *bytes = row.blob(column, size);
			blob(bytes, size);
			break;
		}
		default: {
			const uint8_t *bytes = row.blob(column, size);
			text(bytes, size);
		}
		}
	}

	uint32_t crc = 0;
};

} // namespace

uint32_t crc32c(uint32_t crc, const void *bytes, size_t size)
{
	const auto *p = static_cast<const uint8_t *>(bytes);
	uint32_t c = ~crc;
#ifdef __x86_64__
	static const bool fast = __builtin_cpu_supports("sse4.2");
	if (fast)
		return ~crc_fast(c, p, size);
#endif
	return ~crc_slow(c, p, size);
}

std::string clean(const void *bytes, size_t size)
{
	const auto *p = static_cast<const uint8_t *>(bytes);
	std::string out;
	out.reserve(size);
	for (size_t i = 0; i < size;) {
		uint8_t b = p[i];
		size_t n = b < 0x80 ? 1 : b >= 0xc2 && b < 0xe0 ? 2 : (b & 0xf0) == 0xe0 ? 3 : b >= 0xf0 && b < 0xf5 ? 4 : 0;
		bool ok = n > 0 && b != 0 && n <= size - i;
		for (size_t k = 1; ok && k < n; k++)
			ok = (p[i + k] & 0xc0) == 0x80;
		if (ok && n > 2) { // overlong forms, surrogates, beyond the last character
			uint8_t second = p[i + 1];
			ok = !(b == 0xe0 && second < 0xa0) && !(b == 0xed && second >= 0xa0) && !(b == 0xf0 && second < 0x90)
				&& !(b == 0xf4 && second >= 0x90);
		}
		if (ok)
			out.append(reinterpret_cast<const char *>(p) + i, n);
		else
			out.append("\xef\xbf\xbd");
		i += ok ? n : 1;
	}
	return out;
}

i64 whole(const std::string &text)
{
	try {
		size_t end = 0;
		i64 value = std::stoll(text, &end);
		return end == text.size() ? value : 0;
	} catch (const std::exception &) {
		return 0;
	}
}

Statement::Statement(sqlite3 *db, const std::string &sql) : db(db)
{
	if (sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
		throw Bad(sqlite3_errmsg(db));
}

Statement::~Statement()
{
	sqlite3_finalize(statement);
}

bool Statement::step()
{
	int rc = sqlite3_step(statement);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		throw Bad(sqlite3_errmsg(db));
	return rc == SQLITE_ROW;
}

void Statement::reset(i64 first, i64 second)
{
	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, first);
	sqlite3_bind_int64(statement, 2, second);
}

int Statement::columns() const
{
	return sqlite3_column_count(statement);
}

int Statement::type(int column) const
{
	return sqlite3_column_type(statement, column);
}

i64 Statement::number(int column) const
{
	return sqlite3_column_int64(statement, column);
}

const uint8_t *Statement::blob(int column, size_t &size) const
{
	const auto *bytes = static_cast<const uint8_t *>(sqlite3_column_blob(statement, column));
	size = bytes == nullptr ? 0 : static_cast<size_t>(sqlite3_column_bytes(statement, column));
	return bytes;
}

std::string Statement::text(int column) const
{
	size_t size = 0;
	const uint8_t *bytes = blob(column, size);
	return clean(bytes, size);
}

sqlite3 *open_file(const std::string &file)
{
	sqlite3 *db = nullptr;
	if (sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nullptr) != SQLITE_OK) {
		std::string why = db == nullptr ? "no memory" : sqlite3_errmsg(db);
		sqlite3_close(db);
		throw Bad(file + " cannot be opened: " + why);
	}
	// whoever made the file does not say what is run here
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_exec(db, "PRAGMA cell_size_check = ON", nullptr, nullptr, nullptr);
	return db;
}

Database::Database(const std::string &file) : path(file), db(open_file(file))
{
	try {
		read_properties();
	} catch (const Bad &e) {
		sqlite3_close(db);
		db = nullptr;
		throw Bad(strncmp(e.what(), file.c_str(), file.size()) == 0 ? e.what() : file + " cannot be read: " + e.what());
	}
}

Database::~Database()
{
	sqlite3_close(db);
}

Bad Database::damaged(const std::string &what) const
{
	return Bad(path + " is damaged: " + what);
}

bool Database::has_table(const std::string &name) const
{
	Statement s(db, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '" + name + "'");
	return s.step();
}

void Database::read_properties()
{
	if (!has_table("MT_SCHEMA"))
		throw Bad(path + " is no trace database of memtrace");
	// the table of notes may be missing, so a damaged row of it must not look like none
	Statement odd(db, "SELECT name FROM sqlite_master WHERE type NOT IN ('table', 'index', 'view', 'trigger')"
			" OR type IN ('table', 'view') AND (name <> tbl_name OR instr(sql, name) = 0)");
	if (odd.step())
		throw damaged("its list of tables is not what was written, at " + odd.text(0));
	Statement newest(db, "SELECT MAX(VERSION) FROM MT_SCHEMA");
	schema = newest.step() ? static_cast<int>(newest.number(0)) : 0;
	if (schema > LAST_VERSION)
		throw Bad(path + " has version " + std::to_string(schema) + " of the schema, this extension reads up to "
				+ std::to_string(LAST_VERSION) + ": a newer memtrace wrote it");
	if (schema < FIRST_VERSION)
		throw Bad(path + " was written by an earlier memtrace (schema " + std::to_string(schema) + "): import it again");
	Statement all(db, "SELECT NAME, VALUE FROM MT_PROPERTY");
	while (all.step())
		properties[all.text(0)] = all.text(1);
	auto tables = properties.find("table_crc32c");
	auto own = properties.find("property_crc32c");
	if (tables == properties.end() && own == properties.end() && schema < LAST_VERSION)
		return;
	RowsChecksum crc;
	crc.number(schema);
	for (const auto &[name, value] : properties) {
		if (name != "property_crc32c" && name != "content_stamp") {
			crc.text(name.data(), name.size());
			crc.text(value.data(), value.size());
		}
	}
	if (tables == properties.end() || own == properties.end() || own->second != std::to_string(crc.crc))
		throw damaged("its table MT_PROPERTY is not what was written");
	const std::string &list = tables->second;
	for (size_t at = 0; at < list.size();) {
		size_t end = std::min(list.find(',', at), list.size());
		size_t is = list.find('=', at);
		if (is == std::string::npos || is > end)
			break;
		checksums[list.substr(at, is - at)] = whole(list.substr(is + 1, end - is - 1));
		at = end + 1;
	}
}

i64 Database::property(const std::string &name) const
{
	auto found = properties.find(name);
	return found == properties.end() ? 0 : whole(found->second);
}

bool Database::checksum(const std::string &table, i64 &crc) const
{
	auto found = checksums.find(table);
	if (found == checksums.end())
		return false;
	crc = found->second;
	return true;
}

void Database::rows(const std::string &table, const std::vector<std::string> &wanted,
		const std::function<void(const Statement &, const std::vector<int> &)> &row) const
{
	i64 known = 0;
	bool check = checksum(table, known);
	Statement s(db, "SELECT * FROM " + table + " ORDER BY 1, 2");
	std::vector<int> at(wanted.size(), -1);
	std::vector<std::string> names;
	Statement info(db, "SELECT name FROM pragma_table_info('" + table + "') ORDER BY cid");
	while (info.step())
		names.push_back(info.text(0));
	for (size_t w = 0; w < wanted.size(); w++)
		for (size_t c = 0; c < names.size(); c++)
			if (names[c] == wanted[w])
				at[w] = static_cast<int>(c);
	int columns = s.columns();
	RowsChecksum crc;
	while (s.step()) {
		for (int c = 0; check && c < columns; c++)
			crc.value(s, c);
		row(s, at);
	}
	if (check && known != crc.crc)
		throw damaged("its table " + table + " is not what was written");
}

bool Database::note(const std::string &name, std::string &value) const
{
	if (!has_table("MT_NOTE"))
		return false;
	Statement s(db, "SELECT NAME, VALUE FROM MT_NOTE WHERE NAME IN ('" + name + "', 'crc32c." + name + "')");
	bool found = false;
	bool checked = false;
	std::string sum;
	while (s.step()) {
		size_t size = 0;
		const uint8_t *bytes = s.blob(1, size);
		std::string content(reinterpret_cast<const char *>(bytes), size);
		if (s.text(0) == name) {
			value = content;
			found = true;
		} else {
			sum = content;
			checked = true;
		}
	}
	if (checked && (!found || sum != std::to_string(crc32c(0, value.data(), value.size()))))
		throw damaged("its note " + name + " is not what was written");
	return found;
}

} // namespace memtrace
