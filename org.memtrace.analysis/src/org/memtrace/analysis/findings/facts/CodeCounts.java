// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.findings.facts;

import java.util.Arrays;

/** Amounts by address of code. Address 0, which stands for unknown code, is not counted. Not safe for threads. */
final class CodeCounts {
	private long[] ip = new long[16];
	private double[] amount = new double[16];
	private int size;
	private double all;
	/** Where the last address was: most rows that follow each other are of the same code. */
	private int last;

	/** Adds to an address. */
	void add(long address, double more) {
		all += more;
		if (address == 0) {
			return;
		}
		if (ip[last] != address) {
			last = slot(address);
			if (ip[last] == 0) {
				if (2 * ++size > ip.length) {
					grow();
					last = slot(address);
				}
				ip[last] = address;
			}
		}
		amount[last] += more;
	}

	/** Adds what another one counted. */
	void add(CodeCounts o) {
		double sum = all + o.all;
		for (int i = 0; i < o.ip.length; i++) {
			add(o.ip[i], o.amount[i]);
		}
		all = sum;
	}

	/** Everything that was added, also to no address. */
	double all() {
		return all;
	}

	/** The addresses, ascending. */
	long[] addresses() {
		return Arrays.stream(ip).filter(a -> a != 0).sorted().toArray();
	}

	/** What was added to an address. */
	double of(long address) {
		int at = slot(address);
		return ip[at] == address ? amount[at] : 0;
	}

	private int slot(long address) {
		int mask = ip.length - 1;
		int at = (int) (address * 0x9e3779b97f4a7c15L >>> 40) & mask;
		while (ip[at] != 0 && ip[at] != address) {
			at = at + 1 & mask;
		}
		return at;
	}

	private void grow() {
		long[] oldIp = ip;
		double[] oldAmount = amount;
		ip = new long[2 * oldIp.length];
		amount = new double[ip.length];
		for (int i = 0; i < oldIp.length; i++) {
			if (oldIp[i] != 0) {
				int at = slot(oldIp[i]);
				ip[at] = oldIp[i];
				amount[at] = oldAmount[i];
			}
		}
	}
}
