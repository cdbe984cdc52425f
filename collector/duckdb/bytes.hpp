// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
//
// Numbers in bytes that somebody else may have written: never reads behind the end.
#pragma once

#include "duckdb/database.hpp"

namespace memtrace {

// Bytes from `at` to before `end`.
struct In {
	const uint8_t *at = nullptr;
	const uint8_t *end = nullptr;

	uint8_t next()
	{
		if (at >= end)
			throw Bad("it is too short");
		return *at++;
	}

	// LEB128
	u64 number()
	{
		u64 v = 0;
		for (int shift = 0; shift < 64; shift += 7) {
			uint8_t b = next();
			v |= static_cast<u64>(b & 0x7f) << shift;
			if (b < 0x80)
				return v;
		}
		throw Bad("it has a number that is too long");
	}

	// zigzag
	i64 sign()
	{
		u64 v = number();
		return static_cast<i64>(v >> 1 ^ (~(v & 1) + 1));
	}

	// A number of things, of which there are at most so many.
	i64 count(i64 most)
	{
		u64 v = number();
		if (v > static_cast<u64>(most))
			throw Bad("it has a count of " + std::to_string(v));
		return static_cast<i64>(v);
	}

	const uint8_t *skip(u64 bytes)
	{
		if (bytes > static_cast<u64>(end - at))
			throw Bad("it is too short");
		const uint8_t *from = at;
		at += bytes;
		return from;
	}
};

// Sums and differences modulo 2^64.
inline i64 plus(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) + static_cast<u64>(b)); }
inline i64 minus(i64 a, i64 b) { return static_cast<i64>(static_cast<u64>(a) - static_cast<u64>(b)); }

} // namespace memtrace
