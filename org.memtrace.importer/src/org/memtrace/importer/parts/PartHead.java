// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer.parts;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Which part of which trace a file has.
 *
 * @param identity of the trace in the state in which it was read
 * @param paths what the user gave as the trace, absolute
 * @param source the same for messages, as it was given
 * @param number of the part, from 0
 * @param count of the parts
 */
public record PartHead(String identity, List<String> paths, String source, int number, int count) {
	void write(DataOutputStream out) throws IOException {
		PartFile.text(out, identity);
		out.writeInt(paths.size());
		for (String path : paths) {
			PartFile.text(out, path);
		}
		PartFile.text(out, source);
		out.writeInt(number);
		out.writeInt(count);
	}

	static PartHead read(DataInputStream in) throws IOException {
		String identity = PartFile.text(in);
		List<String> paths = new ArrayList<>();
		for (int n = PartFile.count(in); n > 0; n--) {
			paths.add(PartFile.text(in));
		}
		return new PartHead(identity, paths, PartFile.text(in), in.readInt(), in.readInt());
	}
}
