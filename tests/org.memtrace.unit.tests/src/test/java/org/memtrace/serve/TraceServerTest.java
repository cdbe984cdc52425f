// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Base64;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.memtrace.analysis.SyntheticTrace;
import org.memtrace.model.UnavailableException;

/** Who is answered, by real requests: everything that is not a reading request of the own page with the token is refused. */
class TraceServerTest {
	private static TraceServer server;
	private static HttpForTests http;

	@BeforeAll
	static void start() throws Exception {
		server = TraceServer.start(List.of(new Source("matmul", () -> SyntheticTrace.matrixMultiplication(20, 12))),
				new TraceServer.Settings(0, true, 60_000));
		http = new HttpForTests(server.address());
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	private String host() {
		return "127.0.0.1:" + http.port();
	}

	@Test
	void tokenHas128BitsAndIsNewEachTime() throws Exception {
		assertEquals(16, Base64.getUrlDecoder().decode(http.token()).length);
		try (TraceServer other = TraceServer.start(List.of(), new TraceServer.Settings(0, true, 1000))) {
			assertNotEquals(http.token(), new HttpForTests(other.address()).token());
		}
	}

	@Test
	void pageHasNoDataAndEachFileHasItsHeaders() throws IOException {
		for (String path : List.of("/", "/app.js", "/ask.js", "/tabs.js", "/scene.js", "/app.css", "/icon.svg")) {
			HttpForTests.Reply r = http.request("GET", path, host(), "");
			assertEquals(200, r.status(), path);
			assertFalse(r.body().contains("matmul") || r.body().contains(http.token()), path);
			String head = r.head().toLowerCase(java.util.Locale.ROOT);
			assertTrue(head.contains("content-security-policy: default-src 'none'; script-src 'self'; style-src 'self';"), head);
			assertTrue(head.contains("x-content-type-options: nosniff") && head.contains("referrer-policy: no-referrer")
					&& head.contains("x-frame-options: deny") && head.contains("cache-control: no-store"), head);
			assertFalse(head.contains("access-control-allow"), head);
		}
		String html = http.request("GET", "/", host(), "").body();
		assertFalse(html.contains("<script>") || html.contains(" style=") || html.contains(" onclick="), "the policy forbids it");
	}

	@ParameterizedTest
	@ValueSource(strings = {"", "X-Memtrace-Token: \r\n", "X-Memtrace-Token: AAAAAAAAAAAAAAAAAAAAAA\r\n", "Cookie: t=@\r\n",
			"Authorization: Bearer @\r\n", "X-Memtrace-Token: @A\r\n", "X-Memtrace-Token: @\r\nX-Memtrace-Token: @\r\n"})
	void withoutTheTokenThereIsNothing(String headers) throws IOException {
		for (String path : List.of("/api/trace", "/api/traces", "/api/picture", "/api/nothing", "/api/")) {
			HttpForTests.Reply r = http.request("GET", path, host(), headers.replace("@", http.token()));
			assertTrue(r.status() == 401 || r.status() == 400, r.head());
			assertFalse(r.body().contains("matmul"), r.body());
		}
	}

	@Test
	void tokenInTheAddressIsNoToken() throws IOException {
		assertEquals(401, http.request("GET", "/api/trace?t=" + http.token(), host(), "").status());
	}

	@ParameterizedTest
	@ValueSource(strings = {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "0.0.0.0", "10.0.0.1", "127.0.0.2", "",
			"127.0.0.1@evil.example", "[::2]", "localhost:80:80"})
	void foreignNamesAreRefused(String host) throws IOException {
		int status = http.request("GET", "/api/trace", host, "X-Memtrace-Token: " + http.token() + "\r\n").status();
		assertTrue(status == 421 || status == 400, host + ": " + status);
		assertNotEquals(200, http.request("GET", "/", host, "").status());
	}

	@ParameterizedTest
	@ValueSource(strings = {"127.0.0.1", "localhost", "LOCALHOST:9999", "127.0.0.1:1", "[::1]:8765"})
	void endsOfTunnelsAreAnswered(String host) throws IOException {
		assertEquals(200, http.request("GET", "/api/trace", host, "X-Memtrace-Token: " + http.token() + "\r\n").status());
	}

	@Test
	void otherPagesAreRefused() throws IOException {
		String token = "X-Memtrace-Token: " + http.token() + "\r\n";
		for (String origin : List.of("http://evil.example", "null", "https://" + host(), "http://localhost:1", "file://")) {
			assertEquals(403, http.request("GET", "/api/trace", host(), token + "Origin: " + origin + "\r\n").status(), origin);
		}
		assertEquals(200, http.request("GET", "/api/trace", host(), token + "Origin: http://" + host() + "\r\n").status());
		for (String site : List.of("cross-site", "same-site")) {
			assertEquals(403, http.request("GET", "/api/trace", host(), token + "Sec-Fetch-Site: " + site + "\r\n").status(), site);
		}
		assertEquals(200, http.request("GET", "/api/trace", host(), token + "Sec-Fetch-Site: same-origin\r\n").status());
	}

	@ParameterizedTest
	@ValueSource(strings = {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "FOO"})
	void onlyReading(String method) throws IOException {
		HttpForTests.Reply r = http.request(method, "/api/trace", host(), "X-Memtrace-Token: " + http.token() + "\r\n");
		assertEquals(405, r.status());
		assertTrue(r.head().contains("GET, HEAD"), r.head());
	}

	@Test
	void contentIsRefused() throws IOException {
		String token = "X-Memtrace-Token: " + http.token() + "\r\n";
		assertEquals(400, http.request("GET", "/api/trace", host(), token + "Content-Length: 5\r\n\r\nhello").status());
		assertEquals(400, http.request("GET", "/api/trace", host(), token + "Transfer-Encoding: chunked\r\n\r\n0\r\n").status());
	}

	@Test
	void headHasNoContent() throws IOException {
		HttpForTests.Reply r = http.request("HEAD", "/api/trace", host(), "X-Memtrace-Token: " + http.token() + "\r\n");
		assertEquals(200, r.status());
		assertEquals("", r.body());
	}

	@ParameterizedTest
	@ValueSource(strings = {"/..", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/app.js/..", "//etc/passwd", "/page/index.html",
			"/app.js%00", "/api/../app.js", "/api/trace/", "/api/%74race", "/META-INF/MANIFEST.MF", "/api/picture.svg/../../x", "/Responder.class",
			"/app.js;x"})
	void pathsAreNames(String path) throws IOException {
		HttpForTests.Reply r = http.get(path);
		assertTrue(r.status() == 404 || r.status() == 400, path + ": " + r.head());
		assertFalse(r.body().contains("root:"), r.body());
	}

	@Test
	void wordsThatAreNoRequestsAreSurvived() throws IOException {
		Random random = new Random(20261128);
		for (int i = 0; i < 90; i++) {
			byte[] bytes = new byte[random.nextInt(200)];
			random.nextBytes(bytes);
			String noise = new String(bytes, java.nio.charset.StandardCharsets.ISO_8859_1);
			String text = switch (i % 3) {
			case 0 -> noise + "\r\n\r\n";
			case 1 -> "GET /api/" + noise.replaceAll("[\r\n]", "") + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
			default -> "GET /api/trace HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + noise + ": x\r\n\r\n";
			};
			try {
				String head = http.send(text).head();
				assertFalse(head.startsWith("HTTP/1.1 200") || head.startsWith("HTTP/1.1 500"), () -> text + " -> " + head);
			} catch (java.net.SocketException | java.net.SocketTimeoutException e) {
				// the server has closed the connection, which is an answer, too
			}
		}
		assertEquals(200, http.get("/api/trace").status());
	}

	@Test
	void longAddressesAreRefused() throws IOException {
		assertEquals(414, http.get("/api/trace?f=" + "x".repeat(40_000)).status());
		assertEquals(400, http.get("/api/picture?f=" + "x".repeat(20_000)).status());
	}

	@Test
	void onlyTheLoopbackAddressesAreBound() throws IOException {
		for (var nic : java.util.Collections.list(java.net.NetworkInterface.getNetworkInterfaces())) {
			for (InetAddress a : java.util.Collections.list(nic.getInetAddresses())) {
				if (!a.isLoopbackAddress()) {
					assertThrows(IOException.class, () -> new java.net.Socket(a, http.port()).close(), a::toString);
				}
			}
		}
	}

	@Test
	void portInUse() throws Exception {
		try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
			int port = taken.getLocalPort();
			assertTrue(assertThrows(UnavailableException.class, () -> TraceServer.start(List.of(), new TraceServer.Settings(port, false, 1000)))
					.getMessage().contains("port " + port + " is in use"));
			try (TraceServer other = TraceServer.start(List.of(), new TraceServer.Settings(port, true, 1000))) {
				assertNotEquals(port, other.port());
			}
		}
	}

	@Test
	void endsWhenNobodyAsks() throws Exception {
		try (TraceServer other = TraceServer.start(List.of(), new TraceServer.Settings(0, true, 1000))) {
			other.await(1, () -> false);
			other.await(0, () -> true);
		}
	}
}
