// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.serve.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

import com.sun.net.httpserver.Headers;

/**
 * Decides who may ask: a browser on this machine, or at the other end of a tunnel to it, whose page came from here and who has the secret
 * of this run. Immutable, safe for all threads.
 */
public final class Guard {
	/** Header with the secret: a page of another site cannot send it without asking first, and is told no. */
	public static final String TOKEN = "X-Memtrace-Token";
	/** Headers of each answer, also of a refusal. */
	public static final Map<String, String> ALWAYS = Map.of(
			"Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
					+ "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY", "Referrer-Policy", "no-referrer",
			"Cross-Origin-Opener-Policy", "same-origin", "Cross-Origin-Resource-Policy", "same-origin", "Cache-Control", "no-store");
	private static final int TOKEN_BYTES = 16;
	/** Names under which a tunnel is reached; the port may be another one at its near end. */
	private static final Set<String> HOSTS = Set.of("localhost", "127.0.0.1", "[::1]");
	private static final int MOST_TARGET = 32_768;

	private final byte[] token;

	/** @param token secret of this run, see {@link #makeToken} */
	public Guard(String token) {
		this.token = token.getBytes(StandardCharsets.US_ASCII);
	}

	/** A new secret of 128 bits, in letters that a link can have. */
	public static String makeToken() {
		byte[] bytes = new byte[TOKEN_BYTES];
		new SecureRandom().nextBytes(bytes);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
	}

	/**
	 * What holds for each request, the page included: reading only, short, from a page of this server, and under a name of this machine, so
	 * that a foreign name which resolves to it leads nowhere.
	 *
	 * @param target path and query as they came
	 */
	public static void checkAll(String method, String target, Headers headers) throws Refused {
		if (!method.equals("GET") && !method.equals("HEAD")) {
			throw new Refused(405, "only GET and HEAD are answered");
		}
		if (target.length() > MOST_TARGET) {
			throw new Refused(414, "the address is longer than " + MOST_TARGET + " characters");
		}
		if (headers.containsKey("Transfer-Encoding") || !headers.getOrDefault("Content-Length", List.of("0")).equals(List.of("0"))) {
			throw Refused.bad("a request has no content");
		}
		String host = only(headers, "Host");
		if (host == null || !HOSTS.contains(host.toLowerCase(Locale.ROOT).replaceFirst(":\\d{1,5}$", ""))) {
			throw new Refused(421, "this server answers for localhost only");
		}
		String origin = only(headers, "Origin");
		if (origin != null && !origin.equalsIgnoreCase("http://" + host)) {
			throw new Refused(403, "the request comes from another page");
		}
		String site = only(headers, "Sec-Fetch-Site");
		if (site != null && !site.equals("same-origin") && !site.equals("none")) {
			throw new Refused(403, "the request comes from another site");
		}
	}

	/** What holds for each request of data besides: the secret, compared in a time that does not depend on where it differs. */
	public void checkToken(Headers headers) throws Refused {
		String given = only(headers, TOKEN);
		if (given == null || !MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), token)) {
			throw new Refused(401, "the token is missing or wrong: use the address that 'memtrace serve' has printed");
		}
	}

	/** A header that may be there once; null without. */
	private static String only(Headers headers, String name) throws Refused {
		List<String> all = headers.get(name);
		if (all != null && all.size() > 1) {
			throw Refused.bad("the header " + name + " is there twice");
		}
		return all == null ? null : all.get(0);
	}
}
