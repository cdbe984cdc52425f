// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.importer.paraver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.EventLines;
import org.memtrace.importer.ImportTest;
import org.memtrace.importer.reader.ImportReport;
import org.memtrace.model.MemtraceException;

/** Traces of Paraver with all kinds of records, in the form in which Extrae writes them. */
class ParaverReaderTest extends ImportTest {
	private static final String PRV = """
			#Paraver (26/01/24 at 16:35):100000_ns:2(2,2):1:2(2:1,1:2),1
			c:1:1:2:1:2
			1:1:1:1:1:0:100:1
			2:1:1:1:1:10:50000001:1:50000005:64
			2:1:1:1:1:11:70000:2
			3:1:1:1:1:10:12:3:1:2:1:20:30:64:7
			2:1:1:1:1:20:50000001:2
			2:1:1:1:1:30:50000001:0
			2:1:1:1:2:5:60000019:1
			2:1:1:1:2:6:60000019:2
			2:1:1:1:2:7:60000019:0
			2:1:1:1:2:9:60000019:0
			2:3:1:2:1:40:42000050:1000
			2:3:1:2:1:60:42000050:2500
			2:3:1:2:1:70:40000003:1
			4:3:1:2:1:80:91:32:0:10:0
			1:3:1:2:1:80:90:99
			""";
	private static final String PCF = """
			DEFAULT_OPTIONS

			LEVEL               THREAD

			STATES
			0    Idle
			1    Running

			STATES_COLOR
			1    {0,0,255}

			EVENT_TYPE
			6    40000001    Application
			6    40000003    Flushing Traces
			VALUES
			1      Begin
			0      End

			EVENT_TYPE
			9   50000001    MPI Point-to-point
			VALUES
			2   MPI_Recv
			1   MPI_Send
			0   Outside MPI

			EVENT_TYPE
			0    70000    Never ended
			VALUES
			1      one
			2      two

			EVENT_TYPE
			0    42000050    Instructions completed

			EVENT_TYPE
			0    60000019    User functions
			VALUES
			0      End
			1      outer
			2      inner
			""";
	private static final String ROW = """
			LEVEL CPU SIZE 4
			1.one
			2.one
			1.two
			2.two

			LEVEL THREAD SIZE 3
			THREAD 1.1.1
			THREAD 1.1.2
			THREAD 1.2.1
			""";

	private ImportReport read(String prv, String pcf, String row) throws Exception {
		Path file = Files.writeString(directory.resolve("app.prv"), prv);
		Files.writeString(directory.resolve("app.pcf"), pcf);
		Files.writeString(directory.resolve("app.row"), row);
		return read(file);
	}

	/** Counters of all kinds, and numbers without names in the .pcf: as long as they are always the same they are marks. */
	@Test
	void countersAndNumbersAreVariables() throws Exception {
		String prv = "#Paraver (01/01/20 at 00:00):1000_ns:1(4):1:1(1:1)\n" + "2:1:1:1:1:10:41000001:7:70001:5:70002:3:80000:9\n"
				+ "2:1:1:1:1:20:41000001:7:70001:5:70002:4:80000:8\n" + "2:1:1:1:1:30:49999999:1:70001:5:70002:4\n";
		String pcf = "EVENT_TYPE\n0    70001    Mark\n0    70002    Bytes\n\n";
		assertEquals(List.of("Bytes VARIABLE thread 1.1.1 10 10 3.0", "Bytes VARIABLE thread 1.1.1 10 20 4.0",
				"Bytes VARIABLE thread 1.1.1 20 30 4.0", "Mark PUNCTUAL thread 1.1.1 10 10 0.0", "Mark PUNCTUAL thread 1.1.1 20 20 0.0",
				"Mark PUNCTUAL thread 1.1.1 30 30 0.0", "event 41000001 VARIABLE thread 1.1.1 10 10 7.0",
				"event 41000001 VARIABLE thread 1.1.1 10 20 7.0", "event 49999999 VARIABLE thread 1.1.1 30 30 1.0",
				"event 80000 PUNCTUAL thread 1.1.1 10 10 0.0", "event 80000 PUNCTUAL thread 1.1.1 20 20 0.0"), lines(read(prv, pcf, "")));
	}

	@Test
	void recordsWithTheirNames() throws Exception {
		assertEquals(List.of("Flushing Traces STATE THREAD 1.2.1 70 100 1.0", //
				"Instructions completed VARIABLE THREAD 1.2.1 40 40 1000.0", //
				"Instructions completed VARIABLE THREAD 1.2.1 40 60 2500.0", //
				"MPI_Recv STATE THREAD 1.1.1 20 30 1.0", //
				"MPI_Send STATE THREAD 1.1.1 10 20 1.0", //
				"Never ended PUNCTUAL THREAD 1.1.1 11 11 0.0", //
				"Running STATE THREAD 1.1.1 0 100 0.0", //
				"collective operation PUNCTUAL THREAD 1.2.1 80 80 0.0", //
				"event 50000005 PUNCTUAL THREAD 1.1.1 10 10 0.0", //
				"inner STATE THREAD 1.1.2 6 7 2.0", //
				"message LINK THREAD 1.1.1 10 30 to THREAD 1.2.1", //
				"outer STATE THREAD 1.1.2 5 9 1.0", //
				"state 99 STATE THREAD 1.2.1 80 90 0.0"), lines(read(PRV, PCF, ROW)));
	}

	/** Without parameters. */
	private List<String> lines(ImportReport report) throws MemtraceException {
		return EventLines.of(catalogue, report).stream().map(line -> line.replaceFirst(" (value|size|communicator)=.*", "")).toList();
	}

	@Test
	void withoutNamesNumbersStand() throws Exception {
		List<String> lines = lines(read(PRV.replace("_ns", ""), "", ""));
		assertTrue(lines.contains("state 1 STATE thread 1.1.1 0 100000 0.0"), "microseconds: " + lines);
		assertTrue(lines.contains("event 50000001 PUNCTUAL thread 1.1.1 10000 10000 0.0"), lines.toString());
	}

	@Test
	void badRecordsAreCounted() throws Exception {
		ImportReport report = read(
				PRV + "1:1:1:1:1:5:4:1\n2:1:1:1:1:5:1\nx\n1:1:1:1:1:0:x:1\n3:1:1:1:1:10:12:3:1:2:1:9:9:64:7\n1:1:1:1:1:0:10", PCF,
				ROW);
		for (String reason : List.of("\"ends before it starts\": 1", "\"not a state, event or communication\": 1",
				"\"a field is not a number\": 2",
				"\"is received before it is sent\": 1")) {
			assertTrue(report.toJson().contains(reason), reason + report.toJson());
		}
		assertTrue(report.toText().contains("incomplete"), report.toText());
		assertThrows(MemtraceException.class, () -> read(PRV.lines().findFirst().orElseThrow() + "\n", PCF, ROW));
	}

	@Test
	void damagedTracesEndWell() throws Exception {
		int good = 0;
		for (int n = 0; n < 200; n++) {
			Random random = new Random(n);
			String[] parts = { PRV, PCF, ROW };
			for (int m = random.nextInt(6); m >= 0; m--) {
				int which = random.nextInt(4) % 3;
				String text = parts[which];
				int from = random.nextInt(text.length() + 1);
				int to = Math.min(text.length(), from + random.nextInt(10));
				String[] tokens = { "", "\n", ":", "-1", "999999999999999999", "(", "2", "VALUES\n" };
				parts[which] = text.substring(0, from) + tokens[random.nextInt(tokens.length)] + text.substring(to);
			}
			try {
				assertTrue(read(parts[0], parts[1], parts[2]).trace().endNs() >= 0, "seed " + n);
				good++;
			} catch (MemtraceException e) {
				assertFalse(e.getMessage().contains("please report"), "seed " + n + ": " + e.getMessage());
			}
		}
		assertTrue(good > 150, good + " of 200");
	}
}
