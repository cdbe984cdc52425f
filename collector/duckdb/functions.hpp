// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// What all table functions need of DuckDB.
#pragma once

#include <string>
#include <vector>

#include "duckdb/api.hpp"
#include "duckdb/database.hpp"

namespace memtrace {

// All of our sentences begin so: who sees one knows that it is not about the statement.
constexpr const char *OURS = "memtrace: ";

// Runs something, and tells what went wrong instead of throwing it into DuckDB.
template <class Do, class Tell> void guarded(Do action, Tell tell)
{
	try {
		action();
	} catch (const std::bad_alloc &) {
		tell((std::string(OURS) + "there is not enough memory").c_str());
	} catch (const std::exception &e) {
		tell((std::string(OURS) + e.what()).c_str());
	}
}

// A parameter by place, which the statement gives.
std::string text_parameter(duckdb_bind_info info, idx_t place);
// A parameter by name; false when the statement does not give it.
bool text_parameter(duckdb_bind_info info, const char *name, std::string &value);
bool number_parameter(duckdb_bind_info info, const char *name, i64 &value);

void add_column(duckdb_bind_info info, const char *name, duckdb_type type);
// A column of texts that are known, which must not be empty.
void add_enum(duckdb_bind_info info, const char *name, const std::vector<std::string> &texts);

// A vector that is filled from its begin.
class Target {
public:
	explicit Target(duckdb_vector vector) : vector(vector) {}

	template <class T> T *data() { return static_cast<T *>(duck.vector_get_data(vector)); }
	void null(size_t row);
	void text(size_t row, const std::string &value);

private:
	duckdb_vector vector;
	uint64_t *validity = nullptr;
};

// A table function while it is made.
class Function {
public:
	explicit Function(const char *name);
	~Function();
	Function(const Function &) = delete;
	Function &operator=(const Function &) = delete;

	void parameter(duckdb_type type);
	void named(const char *name, duckdb_type type);
	void extra(const void *constant);
	// `local` may be null.
	void enter(duckdb_connection connection, duckdb_table_function_bind_t bind, duckdb_table_function_init_t init,
			duckdb_table_function_init_t local, duckdb_table_function_t give);

private:
	duckdb_table_function function;
};

void register_access(duckdb_connection connection);
void register_tables(duckdb_connection connection);

} // namespace memtrace
