// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.build;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What a class file refers to, read from its constant pool (JVMS 4.4). */
final class ClassReferences {
	private static final Pattern IN_DESCRIPTOR = Pattern.compile("L([A-Za-z_$][\\w$]*(?:/[\\w$]+)+)[;<]");

	private ClassReferences() {
	}

	/**
	 * Names with dots of all classes that are used, and {@code Class#method} for the methods that are called. Classes
	 * that appear only in descriptors, signatures and annotations count too.
	 */
	static Set<String> of(byte[] classFile) throws IOException {
		DataInputStream in = new DataInputStream(new ByteArrayInputStream(classFile));
		if (in.readInt() != 0xCAFEBABE) {
			throw new IOException("no class file");
		}
		in.readInt();
		int n = in.readUnsignedShort();
		String[] text = new String[n];
		int[] first = new int[n];
		int[] second = new int[n];
		int[] tag = new int[n];
		for (int i = 1; i < n; i++) {
			tag[i] = in.readUnsignedByte();
			switch (tag[i]) {
			case 1 -> text[i] = in.readUTF();
			case 7, 8, 16, 19, 20 -> first[i] = in.readUnsignedShort();
			case 9, 10, 11, 12, 17, 18 -> {
				first[i] = in.readUnsignedShort();
				second[i] = in.readUnsignedShort();
			}
			case 3, 4 -> in.readInt();
			case 5, 6 -> {
				in.readLong();
				i++;
			}
			case 15 -> in.skipNBytes(3);
			default -> throw new IOException("constant " + i + " has the unknown tag " + tag[i]);
			}
		}
		Set<String> found = new TreeSet<>();
		for (int i = 1; i < n; i++) {
			if (tag[i] == 7 && !text[first[i]].startsWith("[")) {
				found.add(text[first[i]].replace('/', '.'));
			} else if (tag[i] == 10 || tag[i] == 11) {
				found.add(text[first[first[i]]].replace('/', '.') + "#" + text[first[second[i]]]);
			} else if (tag[i] == 1) {
				Matcher m = IN_DESCRIPTOR.matcher(text[i]);
				while (m.find()) {
					found.add(m.group(1).replace('/', '.'));
				}
			}
		}
		return found;
	}
}
