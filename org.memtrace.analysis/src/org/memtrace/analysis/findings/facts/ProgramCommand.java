// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Map;
import java.util.Set;

/** The recorded program as a shell line: how to start it again with something before it. */
public final class ProgramCommand {
	/** Programs that start others elsewhere, or without the environment: what stands before them does not reach the program. */
	private static final Set<String> STARTERS = Set.of("mpirun", "mpiexec", "mpiexec.hydra", "orterun", "prterun", "prun", "srun",
			"sbatch", "jsrun",
			"aprun", "ibrun", "flux", "qsub", "ssh", "sudo", "su", "runuser", "doas", "docker", "podman", "kubectl", "systemd-run");

	private ProgramCommand() {
	}

	/**
	 * The line that starts the program with something before it: variables of the environment ({@code A=B C=D}), or a command.
	 *
	 * @param properties those of the trace
	 * @return empty when it cannot be said: the program is started by a launcher whose arguments are part of the command
	 */
	public static String with(String before, Map<String, String> properties) {
		String command = properties.getOrDefault("command", "");
		if (command.isEmpty()) {
			return before + " PROGRAM";
		}
		if (!starter(properties).isEmpty()) {
			return "";
		}
		if (!properties.getOrDefault("job_launcher", "").isEmpty()) {	// a rank: the launcher stands before what was recorded
			String size = properties.getOrDefault("job_size", "");
			boolean slurm = properties.get("job_launcher").toLowerCase(java.util.Locale.ROOT).contains("slurm");
			return (slurm ? "srun" : "mpirun") + (size.isEmpty() ? "" : " -n " + size) + (before.matches("\\w+=.*") ? " env " : " ")
					+ before + " " + command;
		}
		return before + " " + command;
	}

	/** The launcher that the recorded command begins with, {@code mpirun}, {@code sudo}; empty when it begins with the program itself. */
	public static String starter(Map<String, String> properties) {
		String first = properties.getOrDefault("command", "").replaceFirst("\\s.*$", "");
		String name = first.substring(first.lastIndexOf('/') + 1);
		return STARTERS.contains(name) ? name : "";
	}
}
