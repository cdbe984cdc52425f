# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares the lengths of instructions, as common/x86code.c knows them, with capstone.

usage: lengths.py LIBRARY FILE...

LIBRARY is common/x86code.c as a shared object. Each FILE is an ELF file whose .text is disassembled from its
beginning to its end. A length of 0, "not known", is no error where few instructions have it: what cannot be read is
not changed. Another length than capstone's is one.
"""
import collections
import ctypes
import sys

import capstone
from elftools.elf.elffile import ELFFile

library = ctypes.CDLL(sys.argv[1])
library.mt_x86_length.restype = ctypes.c_size_t
disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
disassembler.skipdata = True
wrong = collections.Counter()
unknown = collections.Counter()
seen = 0
for path in sys.argv[2:]:
    with open(path, "rb") as f:
        text = ELFFile(f).get_section_by_name(".text").data()
    whole = ctypes.create_string_buffer(text, len(text))
    base = ctypes.addressof(whole)
    at = 0
    for _, size, mnemonic, operands in disassembler.disasm_lite(text, 0):
        if mnemonic != ".byte":
            length = library.mt_x86_length(ctypes.c_void_p(base + at), ctypes.c_size_t(len(text) - at))
            seen += 1
            if length == 0:
                unknown[mnemonic] += 1
            elif length != size:
                wrong["%s %s: %d, not %d" % (text[at:at + size].hex(), mnemonic, length, size)] += 1
        at += size
for what, n in wrong.most_common(20):
    print("WRONG", what, "(%d times)" % n)
print("%d instructions, %d lengths are wrong, %d not known: %s" % (
    seen, sum(wrong.values()), sum(unknown.values()), ", ".join(m for m, _ in unknown.most_common(10))))
sys.exit(bool(wrong) or seen < 100000 or sum(unknown.values()) > seen // 1000)
