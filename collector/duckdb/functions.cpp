// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// The entry of the extension, and what its table functions share.
#include "duckdb/functions.hpp"

DuckApi duck;

namespace memtrace {

namespace {

// A type while it is used.
class Type {
public:
	explicit Type(duckdb_logical_type type) : type(type) {}
	~Type() { duck.destroy_logical_type(&type); }
	Type(const Type &) = delete;
	Type &operator=(const Type &) = delete;
	duckdb_logical_type get() const { return type; }

private:
	duckdb_logical_type type;
};

std::string text_of(duckdb_value value)
{
	if (value == nullptr || duck.is_null_value(value)) {
		if (value != nullptr)
			duck.destroy_value(&value);
		throw Bad("a parameter is null");
	}
	char *text = duck.get_varchar(value);
	std::string copy = text == nullptr ? "" : text;
	duck.free(text);
	duck.destroy_value(&value);
	return copy;
}

} // namespace

std::string text_parameter(duckdb_bind_info info, idx_t place)
{
	return text_of(duck.bind_get_parameter(info, place));
}

bool text_parameter(duckdb_bind_info info, const char *name, std::string &value)
{
	duckdb_value given = duck.bind_get_named_parameter(info, name);
	if (given != nullptr)
		value = text_of(given);
	return given != nullptr;
}

bool number_parameter(duckdb_bind_info info, const char *name, i64 &value)
{
	duckdb_value given = duck.bind_get_named_parameter(info, name);
	if (given == nullptr)
		return false;
	bool null = duck.is_null_value(given);
	if (!null)
		value = duck.get_int64(given);
	duck.destroy_value(&given);
	if (null)
		throw Bad(std::string("the parameter ") + name + " is null");
	return true;
}

void add_column(duckdb_bind_info info, const char *name, duckdb_type type)
{
	Type t(duck.create_logical_type(type));
	duck.bind_add_result_column(info, name, t.get());
}

void add_enum(duckdb_bind_info info, const char *name, const std::vector<std::string> &texts)
{
	std::vector<const char *> members;
	members.reserve(texts.size());
	for (const std::string &t : texts)
		members.push_back(t.c_str());
	Type t(duck.create_enum_type(members.data(), members.size()));
	duck.bind_add_result_column(info, name, t.get());
}

void Target::null(size_t row)
{
	if (validity == nullptr) {
		duck.vector_ensure_validity_writable(vector);
		validity = duck.vector_get_validity(vector);
	}
	duck.validity_set_row_invalid(validity, row);
}

void Target::text(size_t row, const std::string &value)
{
	duck.vector_assign_string_element_len(vector, row, value.data(), value.size());
}

Function::Function(const char *name) : function(duck.create_table_function())
{
	duck.table_function_set_name(function, name);
	duck.table_function_supports_projection_pushdown(function, true);
}

Function::~Function()
{
	duck.destroy_table_function(&function);
}

void Function::parameter(duckdb_type type)
{
	Type t(duck.create_logical_type(type));
	duck.table_function_add_parameter(function, t.get());
}

void Function::named(const char *name, duckdb_type type)
{
	Type t(duck.create_logical_type(type));
	duck.table_function_add_named_parameter(function, name, t.get());
}

void Function::extra(const void *constant)
{
	duck.table_function_set_extra_info(function, const_cast<void *>(constant), nullptr);
}

void Function::enter(duckdb_connection connection, duckdb_table_function_bind_t bind, duckdb_table_function_init_t init,
		duckdb_table_function_init_t local, duckdb_table_function_t give)
{
	duck.table_function_set_bind(function, bind);
	duck.table_function_set_init(function, init);
	if (local != nullptr)
		duck.table_function_set_local_init(function, local);
	duck.table_function_set_function(function, give);
	if (duck.register_table_function(connection, function) != DUCKDB_OK)
		throw Bad("a table function cannot be added");
}

} // namespace memtrace

// DuckDB calls this when it loads the file memtrace.duckdb_extension.
extern "C" __attribute__((visibility("default"))) bool memtrace_init_c_api(duckdb_extension_info info, duckdb_extension_access *access)
{
	const void *api = access->get_api(info, "v1.2.0");
	if (api == nullptr)
		return false; // DuckDB has told why
	duck = *static_cast<const DuckApi *>(api);
	duckdb_connection connection = nullptr;
	if (duck.connect(*access->get_database(info), &connection) != DUCKDB_OK) {
		access->set_error(info, "memtrace: there is no connection to the database");
		return false;
	}
	bool ok = false;
	memtrace::guarded([&] {
		memtrace::register_access(connection);
		memtrace::register_tables(connection);
		ok = true;
	}, [&](const char *why) { access->set_error(info, why); });
	duck.disconnect(&connection);
	return ok;
}
