// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;

/** Speaks HTTP byte by byte, so that also what no client would send can be sent. */
final class HttpForTests {
	/** @param head status line and headers */
	record Reply(String head, String body) {
		int status() {
			return Integer.parseInt(head.substring(9, 12));
		}

		JsonObject json() {
			return JsonParser.parseString(body).getAsJsonObject();
		}
	}

	private final int port;
	private final String token;

	/** @param address as the server has printed it */
	HttpForTests(String address) {
		port = Integer.parseInt(address.replaceFirst(".*:(\\d+)/.*", "$1"));
		token = address.substring(address.indexOf("#t=") + 3);
	}

	int port() {
		return port;
	}

	String token() {
		return token;
	}

	/** Sends exactly this and reads to the end. */
	Reply send(String request) throws IOException {
		try (Socket s = new Socket(InetAddress.getLoopbackAddress(), port)) {
			s.setSoTimeout(30_000);
			s.getOutputStream().write(request.getBytes(StandardCharsets.ISO_8859_1));
			s.shutdownOutput();
			String all = new String(s.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			int end = all.indexOf("\r\n\r\n");
			return new Reply(end < 0 ? all : all.substring(0, end), end < 0 ? "" : all.substring(end + 4));
		}
	}

	/** A request as the page makes it, but for what is given. */
	Reply request(String method, String target, String host, String more) throws IOException {
		return send(method + " " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + more + "\r\n");
	}

	/** A question with the token. */
	Reply get(String target) throws IOException {
		return request("GET", target, "127.0.0.1:" + port, "X-Memtrace-Token: " + token + "\r\n");
	}

	/** The answer to a question, which must be there. */
	JsonObject ask(String target) throws IOException {
		Reply r = get("/api/" + target);
		assertEquals(200, r.status(), r::body);
		return r.json();
	}

	static String encoded(String text) {
		return URLEncoder.encode(text, StandardCharsets.UTF_8);
	}
}
