// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// What we use of DuckDB's C API for extensions, version 1.2.0. Its functions come in a table whose first part never changes as long as
// DuckDB takes extensions for that version; what lies between those we use is skipped. collector/tests/duckdb/api.py compares this table
// with the header of a DuckDB.
#pragma once

#include <cstdint>

extern "C" {

using idx_t = uint64_t;
enum duckdb_state { DUCKDB_OK = 0, DUCKDB_ERROR = 1 };
enum duckdb_type { DUCKDB_TYPE_BIGINT = 5, DUCKDB_TYPE_UBIGINT = 9, DUCKDB_TYPE_VARCHAR = 17 };

using duckdb_database = struct duckdb_database_ *;
using duckdb_connection = struct duckdb_connection_ *;
using duckdb_extension_info = struct duckdb_extension_info_ *;
using duckdb_value = struct duckdb_value_ *;
using duckdb_logical_type = struct duckdb_logical_type_ *;
using duckdb_data_chunk = struct duckdb_data_chunk_ *;
using duckdb_vector = struct duckdb_vector_ *;
using duckdb_table_function = struct duckdb_table_function_ *;
using duckdb_bind_info = struct duckdb_bind_info_ *;
using duckdb_init_info = struct duckdb_init_info_ *;
using duckdb_function_info = struct duckdb_function_info_ *;

using duckdb_delete_callback_t = void (*)(void *data);
using duckdb_table_function_bind_t = void (*)(duckdb_bind_info info);
using duckdb_table_function_init_t = void (*)(duckdb_init_info info);
using duckdb_table_function_t = void (*)(duckdb_function_info info, duckdb_data_chunk output);

// How an extension gets its table.
struct duckdb_extension_access {
	void (*set_error)(duckdb_extension_info info, const char *error);
	duckdb_database *(*get_database)(duckdb_extension_info info);
	const void *(*get_api)(duckdb_extension_info info, const char *version);
};

// The table: a name is that of DuckDB without "duckdb_".
struct DuckApi {
	void *skipped_0[3];
	duckdb_state (*connect)(duckdb_database database, duckdb_connection *out_connection);
	void *skipped_4[2];
	void (*disconnect)(duckdb_connection *connection);
	void *skipped_7[18];
	void (*free)(void *ptr);
	idx_t (*vector_size)();
	void *skipped_27[65];
	void (*destroy_value)(duckdb_value *value);
	void *skipped_93[32];
	int64_t (*get_int64)(duckdb_value val);
	void *skipped_126[16];
	char *(*get_varchar)(duckdb_value value);
	void *skipped_143[6];
	bool (*is_null_value)(duckdb_value value);
	void *skipped_150[1];
	idx_t (*get_list_size)(duckdb_value value);
	duckdb_value (*get_list_child)(duckdb_value value, idx_t index);
	void *skipped_153[3];
	duckdb_logical_type (*create_logical_type)(duckdb_type type);
	void *skipped_157[2];
	duckdb_logical_type (*create_list_type)(duckdb_logical_type type);
	void *skipped_160[4];
	duckdb_logical_type (*create_enum_type)(const char **member_names, idx_t member_count);
	void *skipped_165[19];
	void (*destroy_logical_type)(duckdb_logical_type *type);
	void *skipped_185[5];
	duckdb_vector (*data_chunk_get_vector)(duckdb_data_chunk chunk, idx_t column);
	void *skipped_191[1];
	void (*data_chunk_set_size)(duckdb_data_chunk chunk, idx_t size);
	void *skipped_193[1];
	void *(*vector_get_data)(duckdb_vector vector);
	uint64_t *(*vector_get_validity)(duckdb_vector vector);
	void (*vector_ensure_validity_writable)(duckdb_vector vector);
	void *skipped_197[1];
	void (*vector_assign_string_element_len)(duckdb_vector vector, idx_t index, const char *str, idx_t str_len);
	void *skipped_199[8];
	void (*validity_set_row_invalid)(uint64_t *validity, idx_t row);
	void *skipped_208[34];
	duckdb_table_function (*create_table_function)();
	void (*destroy_table_function)(duckdb_table_function *table_function);
	void (*table_function_set_name)(duckdb_table_function table_function, const char *name);
	void (*table_function_add_parameter)(duckdb_table_function table_function, duckdb_logical_type type);
	void (*table_function_add_named_parameter)(duckdb_table_function table_function, const char *name, duckdb_logical_type type);
	void (*table_function_set_extra_info)(duckdb_table_function table_function, void *extra_info, duckdb_delete_callback_t destroy);
	void (*table_function_set_bind)(duckdb_table_function table_function, duckdb_table_function_bind_t bind);
	void (*table_function_set_init)(duckdb_table_function table_function, duckdb_table_function_init_t init);
	void (*table_function_set_local_init)(duckdb_table_function table_function, duckdb_table_function_init_t init);
	void (*table_function_set_function)(duckdb_table_function table_function, duckdb_table_function_t function);
	void (*table_function_supports_projection_pushdown)(duckdb_table_function table_function, bool pushdown);
	duckdb_state (*register_table_function)(duckdb_connection con, duckdb_table_function function);
	void *(*bind_get_extra_info)(duckdb_bind_info info);
	void (*bind_add_result_column)(duckdb_bind_info info, const char *name, duckdb_logical_type type);
	void *skipped_256[1];
	duckdb_value (*bind_get_parameter)(duckdb_bind_info info, idx_t index);
	duckdb_value (*bind_get_named_parameter)(duckdb_bind_info info, const char *name);
	void (*bind_set_bind_data)(duckdb_bind_info info, void *bind_data, duckdb_delete_callback_t destroy);
	void (*bind_set_cardinality)(duckdb_bind_info info, idx_t cardinality, bool is_exact);
	void (*bind_set_error)(duckdb_bind_info info, const char *error);
	void *skipped_262[1];
	void *(*init_get_bind_data)(duckdb_init_info info);
	void (*init_set_init_data)(duckdb_init_info info, void *init_data, duckdb_delete_callback_t destroy);
	idx_t (*init_get_column_count)(duckdb_init_info info);
	idx_t (*init_get_column_index)(duckdb_init_info info, idx_t column_index);
	void (*init_set_max_threads)(duckdb_init_info info, idx_t max_threads);
	void (*init_set_error)(duckdb_init_info info, const char *error);
	void *skipped_269[1];
	void *(*function_get_bind_data)(duckdb_function_info info);
	void *(*function_get_init_data)(duckdb_function_info info);
	void *(*function_get_local_init_data)(duckdb_function_info info);
	void (*function_set_error)(duckdb_function_info info, const char *error);};
}

// Of the DuckDB that has loaded this library.
extern DuckApi duck;
