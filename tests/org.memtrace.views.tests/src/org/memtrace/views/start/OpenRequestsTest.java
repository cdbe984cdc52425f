// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.start;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** What a second {@code memtrace open} says to the workbench that runs, by its own program where that was built. */
class OpenRequestsTest extends UiTest {
	private final List<OpenRequests.Request> asked = new ArrayList<>();

	private static byte[] request(String... texts) {
		return (String.join("\0", texts) + "\0").getBytes(StandardCharsets.UTF_8);
	}

	private String say(Path socket, byte[] bytes) throws IOException {
		try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
			channel.write(ByteBuffer.wrap(bytes));
			channel.shutdownOutput();
			return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	private OpenRequests listen(String answer) {
		return bot.ui(() -> OpenRequests.listen(directory, bot.display, r -> {
			asked.add(r);
			return answer;
		}));
	}

	@Test
	void requestsAreAnswered() throws Exception {
		Path socket = Files.writeString(directory.resolve(OpenRequests.SOCKET), "left by one that was killed");
		try (OpenRequests requests = listen("ok")) {
			assertNotNull(requests);
			assertEquals(PosixFilePermissions.fromString("rw-------"), Files.getPosixFilePermissions(socket));
			assertEquals("ok\n", say(socket, request(OpenRequests.PROTOCOL, ":7", "", "/c", "/a b/t\u00e4.memtrace", "name")));
			assertEquals(List.of(new OpenRequests.Request(List.of(":7", ""), "/c", List.of("/a b/t\u00e4.memtrace", "name"))), asked);
			assertEquals("ok\n", say(socket, request(OpenRequests.PROTOCOL, "", "wayland-0", "")), "only to the front");
			assertEquals(List.of(), asked.get(1).arguments());
			for (byte[] wrong : List.of(new byte[0], request("memtrace-open/1", "", "", ""), request(OpenRequests.PROTOCOL, "", ""),
					OpenRequests.PROTOCOL.getBytes(StandardCharsets.UTF_8), new byte[] {0}, new byte[2 << 20])) {
				String said = "";
				try {
					said = say(socket, wrong);
				} catch (IOException e) {
					assertTrue(wrong.length > 1 << 20, "closed before all was read: " + e);
				}
				assertTrue(said.isEmpty() || said.equals("not understood\n"), said);
			}
			assertEquals(2, asked.size());
		}
		assertFalse(Files.exists(socket), "removed in the end");
	}

	/** One that connects and says nothing does not keep others waiting. */
	@Test
	void nobodyWaitsForASilentOne() throws Exception {
		Path socket = directory.resolve(OpenRequests.SOCKET);
		try (OpenRequests requests = listen("the workbench is on another display");
				SocketChannel silent = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
			assertNotNull(requests);
			assertTrue(silent.isConnected());
			assertEquals("the workbench is on another display\n", say(socket, request(OpenRequests.PROTOCOL, "", "", "")));
		}
	}

	/** What {@code memtrace-workbench} asks before it starts. */
	@Test
	void aProgramThatStartsAsksFirst() throws Exception {
		Path other = Files.createDirectories(directory.resolve("other"));
		OpenRequests.Request request = new OpenRequests.Request(List.of(":7", "wayland-0"), "/c",
				List.of("-from", "1 s", "/a b/t\u00e4.memtrace"));
		assertNull(OpenRequests.handOver(other, request, 0), "nobody is there");
		Files.writeString(other.resolve(OpenRequests.SOCKET), "left by one that was killed");
		assertNull(OpenRequests.handOver(other, request, 0));
		assertNull(OpenRequests.handOver(Files.createDirectories(directory.resolve("d".repeat(120))), request, 60_000),
				"there cannot be one: nobody waits");
		try (OpenRequests requests = listen(OpenRequests.OK)) {
			assertNotNull(requests);
			assertEquals(OpenRequests.OK, OpenRequests.handOver(directory, request, 0));
			assertEquals(List.of(request), asked);
		}
		try (OpenRequests requests = listen("the workbench is on another display")) {
			assertNotNull(requests);
			assertEquals("the workbench is on another display", OpenRequests.handOver(directory, request, 0));
		}
		// one that is only starting
		Thread starts = new Thread(() -> {
			try {
				Thread.sleep(700);
			} catch (InterruptedException e) {
				throw new AssertionError(e);
			}
			listen(OpenRequests.OK);
		});
		starts.start();
		assertEquals(OpenRequests.OK, OpenRequests.handOver(directory, request, 60_000));
		starts.join();
	}

	@Test
	void withoutASocketThereIsNone() throws Exception {
		Path deep = Files.createDirectories(directory.resolve("d".repeat(120)));
		assertNull(bot.ui(() -> OpenRequests.listen(deep, bot.display, r -> "ok")), "a path longer than a socket may have");
		assertNull(bot.ui(() -> OpenRequests.listen(directory.resolve("none"), bot.display, r -> "ok")));
	}

	/** The program hands over what it was told, and starts a workbench where it is refused or told to. */
	@Test
	void theProgramHandsOver() throws Exception {
		Path program = Path.of(System.getProperty("memtrace.root"), "build", "collector", "memtrace");
		org.junit.jupiter.api.Assumptions.assumeTrue(Files.isExecutable(program), "the collector is not built");
		Path script = Files.writeString(directory.resolve("memtrace-workbench"), "#!/bin/sh\necho started \"$@\"\n");
		assertTrue(script.toFile().setExecutable(true));
		Path trace = Files.writeString(directory.resolve("t.db"), "");
		String state = directory.toString();
		try (OpenRequests requests = listen("ok")) {
			assertNotNull(requests);
			assertEquals("", run(program, "open", "--quiet", "--state", state, "--catalogue", state, trace.toString(), "a name"));
			assertEquals(new OpenRequests.Request(List.of(":93", ""), directory.toRealPath().toString(),
					List.of(trace.toRealPath().toString(), "a name")), asked.get(0));
			assertEquals("started -new -data " + state + " " + trace.toRealPath(),
					run(program, "open", "--new", "--state", state, trace.toString()));
			assertEquals(1, asked.size());
			run(program, "open", "--quiet", "--state", state, "--to", "2s", "--from", "1.5 s", "--structure", "a b", trace.toString());
			assertEquals(List.of("-from", "1.5 s", "-to", "2s", "-structure", "a b", trace.toRealPath().toString()), asked.get(1).arguments());
		}
		try (OpenRequests requests = listen("the workbench has another catalogue")) {
			assertNotNull(requests);
			assertEquals("memtrace: a new workbench starts, because the workbench has another catalogue\nstarted -new -data " + state + " -view thread "
					+ trace.toRealPath(), run(program, "open", "--state", state, "--view", "thread", trace.toString()));
			assertEquals(3, asked.size());
		}
		assertEquals("started -data " + state, run(program, "open", "--state", state), "nobody listens");
	}

	private static String run(Path program, String... arguments) throws Exception {
		List<String> command = new ArrayList<>(List.of(program.toString()));
		command.addAll(List.of(arguments));
		ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
		builder.environment().put("MEMTRACE_WORKBENCH", directory.toString());
		builder.environment().put("DISPLAY", ":93");
		builder.environment().remove("WAYLAND_DISPLAY");
		builder.environment().remove("MEMTRACE_HOME");
		Process process = builder.start();
		String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
		assertTrue(process.waitFor(60, TimeUnit.SECONDS));
		assertEquals(0, process.exitValue(), said);
		return said;
	}
}
