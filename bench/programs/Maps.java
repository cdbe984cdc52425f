// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

public class Maps {
	public static void main(String[] args) {
		Map<String, int[]> map = new HashMap<>();
		long sum = 0;
		for (int i = 0; i < 400_000; i++)
			map.put("k" + i * 7919L % 100_003, new int[] { i, i + 1 });
		for (int[] v : map.values())
			sum += v[1];
		int[] numbers = new Random(1).ints(3_000_000).toArray();
		Arrays.parallelSort(numbers);
		System.out.println(sum + " " + numbers[1000]);
	}
}
