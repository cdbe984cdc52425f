// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// The SQLite file of a trace, read only. What is read of it is compared with its checksum, as the Java reader does
// (docs/reference/database-chunks.md, "Damage"). Errors are exceptions: Bad, with a sentence.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace memtrace {

using i64 = int64_t;
using u64 = uint64_t;

// Why there is no answer.
struct Bad : std::runtime_error {
	using runtime_error::runtime_error;
};

// CRC32C of bytes, continuing one; begins with 0.
uint32_t crc32c(uint32_t crc, const void *bytes, size_t size);

// A text as Java reads it: bytes that are no UTF-8 are U+FFFD, and so is a NUL, which DuckDB's names cannot have.
std::string clean(const void *bytes, size_t size);

// A connection for reading, which never runs what the file says.
sqlite3 *open_file(const std::string &file);

// A prepared statement. One thread.
class Statement {
public:
	Statement(sqlite3 *db, const std::string &sql);
	~Statement();
	Statement(const Statement &) = delete;
	Statement &operator=(const Statement &) = delete;

	// Goes to the next row.
	bool step();
	void reset(i64 first, i64 second);
	int columns() const;
	int type(int column) const;
	i64 number(int column) const;
	std::string text(int column) const;
	// Valid until the next step; null and 0 for none.
	const uint8_t *blob(int column, size_t &size) const;

private:
	sqlite3 *db;
	sqlite3_stmt *statement = nullptr;
};

// A connection of one thread to the file, and what its properties say.
class Database {
public:
	// The file, checked as far as the version and the properties go.
	explicit Database(const std::string &file);
	~Database();
	Database(const Database &) = delete;
	Database &operator=(const Database &) = delete;

	sqlite3 *handle() const { return db; }
	const std::string &file() const { return path; }
	int version() const { return schema; }
	// A property as a number; 0 when there is none.
	i64 property(const std::string &name) const;
	// The checksum of a table; false when it has none.
	bool checksum(const std::string &table, i64 &crc) const;
	// All rows of a table in the order of its first two columns; after the last one its checksum is compared.
	void rows(const std::string &table, const std::vector<std::string> &wanted, const std::function<void(const Statement &,
			const std::vector<int> &)> &row) const;
	// The note of a name, compared with its checksum; false when there is none.
	bool note(const std::string &name, std::string &value) const;
	bool has_table(const std::string &name) const;
	// A sentence that names the file.
	Bad damaged(const std::string &what) const;

private:
	void read_properties();

	std::string path;
	sqlite3 *db = nullptr;
	int schema = 0;
	std::map<std::string, std::string> properties;
	std::map<std::string, i64> checksums;
};

// A whole number of a text; 0 when it is none.
i64 whole(const std::string &text);

} // namespace memtrace
