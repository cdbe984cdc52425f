// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;

import org.eclipse.core.runtime.ILog;
import org.eclipse.swt.widgets.Display;
import org.memtrace.views.jobs.OnDisplay;

/**
 * Takes what a second {@code memtrace open} asks for, so that the running workbench shows it and no second one starts
 * (collector/cli/cmd_open.c, and {@link #handOver} for {@code memtrace-workbench} itself). A socket in the directory of the state, which
 * only the user can write to.
 *
 * <p>A request is texts in UTF-8, each with a NUL behind it: {@link #PROTOCOL}, DISPLAY, WAYLAND_DISPLAY, the absolute directory of the
 * catalogue (empty: the usual one), and the arguments of {@code memtrace-workbench}: traces, and what is to be shown of them. The answer is
 * {@code ok}, or why not, and a line feed. Who is refused, or is not answered in time, starts a workbench of its own.
 */
public final class OpenRequests implements AutoCloseable {
	/** Name of the socket in the directory of the state. */
	public static final String SOCKET = "open.socket";
	/** What a request of another version is told. */
	private static final String NOT_UNDERSTOOD = "not understood";
	static final String PROTOCOL = "memtrace-open/2";
	private static final int MAX_BYTES = 1 << 20;
	/** A client gives up after five. */
	private static final int ANSWER_WITHIN_SECONDS = 4;
	/** The answer of a workbench that has done it. */
	public static final String OK = "ok";
	private static final int CLIENT_WAITS_SECONDS = ANSWER_WITHIN_SECONDS + 1;
	private static final int POLL_MS = 200;
	private static final String BUSY = "the workbench that runs is busy";
	/** One that has just started makes its window: it is asked again so long. */
	private static final int BUSY_WITHIN_SECONDS = 20;

	/**
	 * What another process asks for.
	 *
	 * @param display where its window would be: DISPLAY and WAYLAND_DISPLAY
	 * @param catalogue directory of the catalogue, empty for the usual one
	 * @param arguments of {@code memtrace-workbench}, paths absolute; none: the window is brought to the front
	 */
	public record Request(List<String> display, String catalogue, List<String> arguments) {
		private byte[] bytes() {
			List<String> texts = new ArrayList<>(List.of(PROTOCOL));
			texts.addAll(display);
			texts.add(catalogue);
			texts.addAll(arguments);
			return (String.join("\0", texts) + "\0").getBytes(StandardCharsets.UTF_8);
		}
	}

	private final ServerSocketChannel server;
	private final Path socket;
	private final Display display;
	private final Function<Request, String> answer;

	private OpenRequests(ServerSocketChannel server, Path socket, Display display, Function<Request, String> answer) {
		this.server = server;
		this.socket = socket;
		this.display = display;
		this.answer = answer;
	}

	/**
	 * Begins to take requests. The caller has locked the directory: a socket that is there is of a workbench that was killed.
	 *
	 * @param answer called on the display thread; {@code ok} or why not
	 * @return null where that is not possible: then each {@code memtrace open} has its own workbench
	 */
	public static OpenRequests listen(Path directory, Display display, Function<Request, String> answer) {
		Path socket = directory.resolve(SOCKET);
		ServerSocketChannel server = null;
		try {
			Files.deleteIfExists(socket);
			server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
			server.bind(UnixDomainSocketAddress.of(socket));
			Files.setPosixFilePermissions(socket, PosixFilePermissions.fromString("rw-------"));
			OpenRequests requests = new OpenRequests(server, socket, display, answer);
			Thread thread = new Thread(requests::serve, "memtrace open");
			thread.setDaemon(true);
			thread.start();
			return requests;
		} catch (IOException | UnsupportedOperationException e) {
			// a path longer than a socket may have, a file system without sockets, a system without them
			ILog.of(OpenRequests.class).info("Further 'memtrace open' start workbenches of their own: " + e);
			close(server);
			return null;
		}
	}

	/**
	 * Asks a workbench that runs to show something. Any thread but that of its display.
	 *
	 * @param directory of the state of that workbench
	 * @param startsWithinMs how long to wait for one that is only starting, and does not listen yet
	 * @return {@link #OK}, or a clause that says why not ("the workbench is on another display"); null when nobody listens
	 */
	public static String handOver(Path directory, Request request, long startsWithinMs) {
		Path socket = directory.resolve(SOCKET);
		long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(startsWithinMs);
		long busyEnd = System.nanoTime() + TimeUnit.SECONDS.toNanos(BUSY_WITHIN_SECONDS);
		try {
			UnixDomainSocketAddress address = UnixDomainSocketAddress.of(socket);
			while (true) {
				try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
					channel.connect(address);
					String said = ask(channel, request);
					if (!said.equals(BUSY) || System.nanoTime() > busyEnd) {
						return said;
					}
				} catch (SocketException e) { // no socket yet, or one that was left by a workbench that was killed
					if (System.nanoTime() > end || e.getMessage() == null || e.getMessage().contains("too long")) {
						return null;
					}
					Thread.sleep(POLL_MS);
				}
			}
		} catch (IOException | UnsupportedOperationException e) {
			return "the workbench that runs cannot be asked: " + e.getMessage();
		} catch (InterruptedException e) {
			Thread.currentThread().interrupt();
			return null;
		}
	}

	private static String ask(SocketChannel channel, Request request) throws IOException {
		// channels of this kind have no time limit for reading
		Thread limit = new Thread(() -> {
			try {
				Thread.sleep(TimeUnit.SECONDS.toMillis(CLIENT_WAITS_SECONDS));
				channel.close();
			} catch (InterruptedException | IOException e) {
				// answered
			}
		}, "memtrace open, time limit");
		limit.setDaemon(true);
		limit.start();
		try {
			ByteBuffer bytes = ByteBuffer.wrap(request.bytes());
			while (bytes.hasRemaining()) {
				channel.write(bytes);
			}
			channel.shutdownOutput();
			String said = new String(Channels.newInputStream(channel).readNBytes(MAX_BYTES), StandardCharsets.UTF_8).strip();
			return said.isEmpty() ? "the workbench that runs did not answer" : said;
		} catch (ClosedChannelException e) {
			return "the workbench that runs does not answer";
		} finally {
			limit.interrupt();
		}
	}

	private static void close(ServerSocketChannel server) {
		try {
			if (server != null) {
				server.close();
			}
		} catch (IOException e) {
			ILog.of(OpenRequests.class).info("The socket for 'memtrace open' was not closed: " + e);
		}
	}

	private void serve() {
		while (server.isOpen()) {
			try {
				SocketChannel client = server.accept();
				Thread thread = new Thread(() -> serve(client), "memtrace open, a request"); // one that says nothing keeps nobody waiting
				thread.setDaemon(true);
				thread.start();
			} catch (ClosedChannelException e) {
				return;
			} catch (IOException e) {
				ILog.of(OpenRequests.class).warn("No further 'memtrace open' is taken: " + e, e);
				return;
			}
		}
	}

	private void serve(SocketChannel client) {
		try (client) {
			Request request = parse(read(client));
			String said = request == null ? NOT_UNDERSTOOD : ask(request);
			client.write(ByteBuffer.wrap((said + "\n").getBytes(StandardCharsets.UTF_8)));
		} catch (IOException e) {
			ILog.of(OpenRequests.class).info("A 'memtrace open' has gone: " + e);
		}
	}

	private static byte[] read(SocketChannel client) throws IOException {
		ByteArrayOutputStream all = new ByteArrayOutputStream();
		all.write(Channels.newInputStream(client).readNBytes(MAX_BYTES));
		return all.toByteArray();
	}

	/** Null when it is no request of this version, or not whole. */
	static Request parse(byte[] bytes) {
		if (bytes.length == 0 || bytes.length == MAX_BYTES || bytes[bytes.length - 1] != 0) {
			return null;
		}
		List<String> texts = List.of(new String(bytes, 0, bytes.length - 1, StandardCharsets.UTF_8).split("\0", -1));
		return texts.size() < 4 || !texts.get(0).equals(PROTOCOL) ? null
				: new Request(texts.subList(1, 3), texts.get(3), texts.subList(4, texts.size()));
	}

	private String ask(Request request) {
		CompletableFuture<String> said = new CompletableFuture<>();
		AtomicBoolean taken = new AtomicBoolean(); // either it is opened here, or the other one is told that it is not
		boolean there = OnDisplay.later(display, () -> {
			if (taken.compareAndSet(false, true)) {
				try {
					said.complete(answer.apply(request));
				} catch (RuntimeException e) {
					ILog.of(OpenRequests.class).error("A 'memtrace open' failed: " + e, e);
					said.complete("failed: " + e);
				}
			}
		});
		if (!there) {
			return "the workbench is being closed";
		}
		try {
			return said.get(ANSWER_WITHIN_SECONDS, TimeUnit.SECONDS);
		} catch (TimeoutException e) {
			return taken.compareAndSet(false, true) ? BUSY : said.join();
		} catch (InterruptedException | ExecutionException e) {
			return "failed: " + e;
		}
	}

	/** No further requests; the socket is removed. */
	@Override
	public void close() {
		close(server);
		try {
			Files.deleteIfExists(socket);
		} catch (IOException e) {
			ILog.of(OpenRequests.class).info(socket + " was not removed: " + e);
		}
	}
}
