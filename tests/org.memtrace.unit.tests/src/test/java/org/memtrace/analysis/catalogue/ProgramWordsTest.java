// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.catalogue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** What a person calls a program that an interpreter or a launcher runs. */
class ProgramWordsTest {
	private static void check(String program, String arguments, String application, String command) {
		assertEquals(new ProgramWords(program, arguments), ProgramWords.of(application, command), command);
	}

	@Test
	void programs() {
		check("matmul", "512 4", "/home/u/matmul", "./matmul 512 4");
		check("lulesh2.0", "-s 30", "/opt/lulesh2.0", "/usr/local/bin/lulesh -s 30"); // a link
		check("matmul", "", "/home/u/matmul", "matmul");
		check("matmul", "", "/home/u/matmul", "");
		check("", "", "", "");
		check("a b", "'c d' e", "/x/a b", "'/x/a b' 'c d' e");
	}

	@Test
	void interpreters() {
		check("prog.py", "", "/usr/bin/python3.11", "python prog.py");
		check("prog.py", "-n 3", "/usr/bin/python3.11", "python3 -u -X dev /home/u/prog.py -n 3");
		check("http.server", "8000", "/usr/bin/python3.11", "python3 -m http.server 8000");
		check("python3.11", "-c 'import numpy'", "/usr/bin/python3.11", "python3 -c 'import numpy'");
		check("python3.11", "", "/usr/bin/python3.11", "python3");
		check("run.sh", "fast", "/usr/bin/bash", "bash -x run.sh fast");
		check("app.jar", "1", "/usr/lib/jvm/bin/java", "java -Xmx1g -jar target/app.jar 1");
		check("Main", "1", "/usr/lib/jvm/bin/java", "java -cp a:b Main 1");
	}

	@Test
	void launchers() {
		check("lulesh_mpi", "", "/usr/bin/orterun", "mpirun -np 8 lulesh_mpi");
		check("lulesh_mpi", "-s 30", "/usr/bin/orterun", "mpirun --oversubscribe --mca btl self,vader -n 8 ./lulesh_mpi -s 30");
		check("prog.py", "3", "/usr/bin/orterun", "mpiexec -n 2 python3 prog.py 3");
		check("app", "x", "/usr/bin/numactl", "numactl --membind=0 env OMP_NUM_THREADS=4 ./app x");
		check("orterun", "--version", "/usr/bin/orterun", "mpirun --version");
		check("app", "x", "/usr/bin/timeout", "timeout -k 5 60 ./app x");
		check("app", "", "/usr/bin/taskset", "taskset 0x3 nice -n 5 ./app");
		check("app", "", "/usr/bin/taskset", "taskset -c 0 ./app");
	}
}
