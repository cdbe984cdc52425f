// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli;

import java.io.UncheckedIOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.memtrace.cli.args.Command;
import org.memtrace.cli.args.CommandLine;
import org.memtrace.cli.args.CommandSpec;
import org.memtrace.cli.args.CommandTable;
import org.memtrace.cli.args.ExitCode;
import org.memtrace.cli.args.HelpText;
import org.memtrace.cli.args.Nearest;
import org.memtrace.cli.args.UsageException;
import org.memtrace.cli.asking.AskCommand;
import org.memtrace.cli.commands.AdviseCommand;
import org.memtrace.cli.commands.AggregateCommand;
import org.memtrace.cli.commands.BindCommand;
import org.memtrace.cli.commands.CopyCommand;
import org.memtrace.cli.commands.DebugCommand;
import org.memtrace.cli.commands.DeleteCommand;
import org.memtrace.cli.commands.DiffCommand;
import org.memtrace.cli.commands.ExperimentCommand;
import org.memtrace.cli.commands.ExportCommand;
import org.memtrace.cli.commands.ImportCommand;
import org.memtrace.cli.commands.ImportPartCommand;
import org.memtrace.cli.commands.InfoCommand;
import org.memtrace.cli.commands.IoCommand;
import org.memtrace.cli.commands.JoinCommand;
import org.memtrace.cli.commands.ListCommand;
import org.memtrace.cli.commands.LiveCommand;
import org.memtrace.cli.commands.MachineCommand;
import org.memtrace.cli.commands.MergeCommand;
import org.memtrace.cli.commands.ModelPartCommand;
import org.memtrace.cli.commands.PackCommand;
import org.memtrace.cli.commands.PlaceCommand;
import org.memtrace.cli.commands.ProfileCommand;
import org.memtrace.cli.commands.QueryCommand;
import org.memtrace.cli.commands.RenameCommand;
import org.memtrace.cli.commands.RenderCommand;
import org.memtrace.cli.commands.ReportCommand;
import org.memtrace.cli.commands.SqlCommand;
import org.memtrace.cli.commands.SummaryCommand;
import org.memtrace.cli.commands.UnpackCommand;
import org.memtrace.cli.commands.VerifyCommand;
import org.memtrace.cli.output.Console;
import org.memtrace.cli.serving.ServeCommand;
import org.memtrace.model.ExtensionFiles;
import org.memtrace.storage.Stores;

/**
 * Entry point of the commands that run on a JVM: {@code java org.memtrace.cli.Main COMMAND ...}. The native program
 * memtrace starts it; it also runs by itself. The only class that ends the process.
 */
public final class Main {
	/** How long a cancelled command may take to put everything back. */
	private static final int CLEAN_UP_SECONDS = 10;

	private Main() {
	}

	/** The list of commands; null for a name that is not here. A switch, so that only the class needed is loaded. */
	static Command create(String name) {
		return switch (name) {
		case "help" -> Main::help;
		case "aggregate" -> new AggregateCommand();
		case "model-part" -> new ModelPartCommand();
		case "render" -> new RenderCommand();
		case "machine" -> new MachineCommand();
		case "place" -> new PlaceCommand();
		case "bind" -> new BindCommand();
		case "live" -> new LiveCommand();
		case "summary" -> new SummaryCommand();
		case "profile" -> new ProfileCommand();
		case "advise" -> new AdviseCommand();
		case "diff" -> new DiffCommand();
		case "report" -> new ReportCommand();
		case "serve" -> new ServeCommand();
		case "debug" -> new DebugCommand();
		case "import" -> new ImportCommand();
		case "import-part" -> new ImportPartCommand();
		case "merge" -> new MergeCommand();
		case "join" -> new JoinCommand();
		case "io" -> new IoCommand();
		case "info" -> new InfoCommand();
		case "verify" -> new VerifyCommand();
		case "list" -> new ListCommand();
		case "delete" -> new DeleteCommand();
		case "copy" -> new CopyCommand();
		case "rename" -> new RenameCommand();
		case "query" -> new QueryCommand();
		case "ask" -> new AskCommand();
		case "sql" -> new SqlCommand();
		case "export" -> new ExportCommand();
		case "experiment" -> new ExperimentCommand();
		case "pack" -> new PackCommand();
		case "unpack" -> new UnpackCommand();
		default -> null;
		};
	}

	public static void main(String[] args) {
		System.exit(run(args));
	}

	/** Runs with the streams of the process and with SIGINT as a wish to stop. */
	private static int run(String[] args) {
		CountDownLatch done = new CountDownLatch(1);
		int[] code = { ExitCode.INTERNAL };
		boolean quiet = java.util.Arrays.stream(args).anyMatch(a -> a.equals("--quiet") || a.equals("-q"));
		Console console = Console.system(quiet);
		Thread onSignal = new Thread(() -> {
			console.cancel();
			try {
				if (!done.await(CLEAN_UP_SECONDS, TimeUnit.SECONDS)) {
					code[0] = ExitCode.CANCELLED;
				}
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
			Runtime.getRuntime().halt(code[0]);
		}, "cancel");
		Runtime.getRuntime().addShutdownHook(onSignal);
		Extensions.load(Stores.defaultCatalogueDirectory(), System.getenv(ExtensionFiles.VARIABLE), console.err());
		try {
			code[0] = run(args, console);
		} finally {
			done.countDown();
			try {
				Runtime.getRuntime().removeShutdownHook(onSignal);
			} catch (IllegalStateException e) {
				// a signal came: the hook ends the process with this code
			}
		}
		return code[0];
	}

	/**
	 * Runs one command.
	 *
	 * @param args name of the command and what follows
	 * @return exit code; everything that went wrong has been said in one sentence on {@link Console#err()}
	 */
	public static int run(String[] args, Console console) {
		String name = args.length == 0 ? "" : args[0];
		boolean stackTrace = java.util.Arrays.asList(args).contains("--stack-trace");
		try {
			if (name.isEmpty() || name.equals("--help") || name.equals("-h")) {
				(name.isEmpty() ? console.err() : console.out()).print(HelpText.overview());
				console.finish();
				return name.isEmpty() ? ExitCode.USAGE : ExitCode.OK;
			}
			int code = dispatch(name, java.util.Arrays.copyOfRange(args, 1, args.length), console);
			boolean lost = console.reportLost();
			console.finish();
			return code == ExitCode.OK && lost ? ExitCode.INPUT : code;
		} catch (UncheckedIOException e) {
			if (String.valueOf(e.getCause().getMessage()).contains("Broken pipe")) {
				return ExitCode.BROKEN_PIPE;
			}
			return failed(name, e, stackTrace, console);
		} catch (Exception | OutOfMemoryError | StackOverflowError | LinkageError e) {
			return failed(name, e, stackTrace, console);
		}
	}

	private static int dispatch(String name, String[] args, Console console) throws Exception {
		CommandSpec spec = CommandTable.find(name);
		if (spec == null) {
			String near = Nearest.of(name, CommandTable.index().keySet());
			console.err().println("memtrace: there is no command '" + name + "'; "
					+ (near == null ? "see 'memtrace --help'" : "did you mean '" + near + "'?"));
			return ExitCode.USAGE;
		}
		CommandLine line = CommandLine.parse(name, args);
		if (line.isHelp()) {
			console.out().print(HelpText.of(spec));
			return ExitCode.OK;
		}
		Command command = create(name);
		if (command == null) {
			console.err().println("memtrace: '" + name + "' is " + (spec.java() ? "missing in this build"
					: "a command of the native program memtrace"));
			return ExitCode.INTERNAL;
		}
		return command.run(line, console);
	}

	private static int failed(String name, Throwable t, boolean stackTrace, Console console) {
		try {
			console.out().flush();
		} catch (UncheckedIOException e) {
			// the sentence about the first error says it
		}
		console.err().println("memtrace " + name + ": " + ExitCode.sentence(t));
		if (stackTrace) {
			t.printStackTrace(console.err());
		}
		console.err().flush();
		return ExitCode.of(t);
	}

	private static int help(CommandLine args, Console console) throws UsageException {
		String name = args.argument(0);
		CommandSpec spec = name == null ? null : CommandTable.find(name);
		if (name != null && spec == null) {
			throw new UsageException("there is no command '" + name + "'; see 'memtrace help'");
		}
		console.out().print(spec == null ? HelpText.overview() : HelpText.of(spec));
		return ExitCode.OK;
	}
}
