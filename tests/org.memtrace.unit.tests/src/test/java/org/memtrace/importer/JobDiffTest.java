// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0

package org.memtrace.importer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.memtrace.cli.Ran;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Two runs of a job are compared rank by rank, whichever rank began first. */
class JobDiffTest {
	@TempDir
	Path temporary;

	/** A rank whose block {@code grid} has so many pages that are used; other ranks have the same block. */
	private void rank(String job, int rank, long clock, int pages) throws IOException {
		TraceDirectoryBuilder trace = new TraceDirectoryBuilder(temporary.resolve(job + "/r000" + rank + ".memtrace")).manifest("""
				{"format":"memtrace","format_version":1,"name":"app","command":["./app"],"executable":"/bin/app",
				"host":{"name":"alpha","boot_id":"b","page_size_bytes":4096,"cpus_online":2},
				"clock":{"start_ns":1000,"end_ns":9000,"start_realtime":"2024-06-07T08:09:10.5Z"},
				"backend":{"name":"zap","guarantee":{"pages":"complete"}},
				"job":{"launcher":"slurm","id":"%s","id_scope":"job","rank":%d,"size":2,"local_rank":%d,"node":"alpha"},
				"status":{"state":"complete","exit_code":0},"losses":{"total":0,"by_reason":{}}}
				""".formatted(job, rank, rank))
				.file("p0000/image.json", "{\"index\":0,\"pid\":%d,\"executable\":\"/bin/app\",\"start_ns\":1000}".formatted(100 + rank))
				.file("p0000/structures.csv", "Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members,Segment",
						"0,heap,grid,100000,110000,%d,-1,%d,-1,a.c:3,,,".formatted(clock, 100 + rank))
				.file("p0000/threads.csv", "TaskId,Name,Birth,Death", "%d,app,1000,-1".formatted(100 + rank))
				.file("p0000/intervals.csv", "Interval,Start,End,TargetNs", "0,%d,%d,1000".formatted(clock, clock + 1000));
		for (int page = 0; page < pages; page++) {
			trace.access(0x100000L + 4096L * page, 1, 1, clock, clock + 1000, 100 + rank);
		}
		trace.write();
	}

	@Test
	void ranksAreComparedWithThemselves() throws Exception {
		rank("before", 0, 2000, 3);
		rank("before", 1, 3000, 5);
		rank("after", 0, 3000, 3);
		rank("after", 1, 2000, 5);
		Map<String, List<String>> found = new TreeMap<>();
		String[] dbs = {"before", "after"};
		for (int i = 0; i < dbs.length; i++) {
			String db = temporary.resolve(dbs[i] + ".db").toString();
			Ran.ok("import", "-q", "-o", db, temporary.resolve(dbs[i]).toString());
			dbs[i] = db;
		}
		JsonObject diff = JsonParser.parseString(Ran.ok("diff", "--format", "json", dbs[0], dbs[1])).getAsJsonObject();
		for (JsonElement s : diff.getAsJsonArray("structures")) {
			JsonObject pages = metric(s.getAsJsonObject(), "pages");
			found.put(s.getAsJsonObject().get("name").getAsString(),
					List.of(pages.get("median_before").toString(), pages.get("median_after").toString()));
		}
		assertEquals("{r0 grid=[3.0, 3.0], r1 grid=[5.0, 5.0]}", found.toString());
	}

	private static JsonObject metric(JsonObject structure, String name) {
		for (JsonElement m : structure.getAsJsonArray("metrics")) {
			if (m.getAsJsonObject().get("metric").getAsString().equals(name)) {
				return m.getAsJsonObject();
			}
		}
		throw new AssertionError("no " + name + " in " + structure);
	}
}
