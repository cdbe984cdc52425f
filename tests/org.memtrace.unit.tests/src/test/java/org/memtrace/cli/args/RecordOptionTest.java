// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.cli.args;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;
import org.memtrace.importer.record.RecordOption;

/** The forms of the workbench read the command table as the commands do. */
class RecordOptionTest {
	@Test
	void optionsAreThoseOfTheCommand() {
		Map<String, OptionSpec> table = CommandTable.find("record").options().stream().collect(Collectors.toMap(OptionSpec::name, o -> o));
		for (RecordOption option : RecordOption.values()) {
			OptionSpec there = table.get(option.optionName());
			assertNotNull(there, option + " is no option of the command");
			assertEquals(text(there.defaultValue()), option.defaultText(), option.toString());
			assertEquals(text(there.min()), option.min(), option.toString());
			assertEquals(text(there.max()), option.max(), option.toString());
			if (option != RecordOption.BACKEND) {	// which there are tells the recorder
				assertEquals(there.type().name(), option.kind().name(), option.toString());
				assertEquals(there.choices(), option.choices(), option.toString());
			}
		}
		assertEquals(List.of(), RecordOption.BACKEND.choices());
	}

	private static String text(String attribute) {
		return attribute == null ? "" : attribute;
	}
}
