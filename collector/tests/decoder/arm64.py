# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares the decoder of loads and stores of arm64 with a disassembler.

usage: arm64.py [--objdump PROGRAM] LIBRARY [FILE...]

LIBRARY is preload/faults/arm64rw.c as a shared object, built for this machine. Words of all forms are made: each
value of the fields that tell operations apart, with registers and offsets drawn at random (the seed is fixed); and each
FILE adds the words of its code. The disassembler is capstone, of
which version 4 knows neither atomic nor scalable instructions, or a GNU objdump, which does.

What an instruction does is taken from the name that the disassembler gives it; which name a word has is the
disassembler's alone. Words that have no name are left out.
"""
import argparse
import collections
import ctypes
import random
import re
import struct
import subprocess
import sys
import tempfile

READ, WRITE, COPY = 1, 2, 4
RW = READ | WRITE
NAMES = {0: "none", READ: "read", WRITE: "write", RW: "read+write", RW | COPY: "copy"}

ATOMIC = r"(add|bfadd|bfmax|bfmin|bfmaxnm|bfminnm|fadd|fmax|fmin|fmaxnm|fminnm|clr|eor|set|smax|smin|umax|umin)"
RULES = [
    (r"prf\w*|rprfm", 0),
    (r"cpy\w+", RW | COPY),
    (r"set(g?o?[pme](t?n?))", WRITE),
    (r"(ld|st)t?" + ATOMIC + r"(p|pa|pal|pl|a|l|al)?[bh]?", RW),
    (r"(swp|cas|rcw)\w*", RW),
    (r"(st|gcsst)\w*", WRITE),
    (r"ld\w+", READ),
]
RULES = [(re.compile(p), v) for p, v in RULES]
SYSTEM = re.compile(r"(dc|ic) +(\w+)")
SYSTEM_WORDS = {"zva": WRITE, "gva": WRITE, "gzva": WRITE, "ivau": READ}


def expected(mnemonic, operands):
    """The direction of an instruction by its name; None: no claim."""
    system = SYSTEM.match(mnemonic + " " + operands)
    if system:
        if system.group(2) in SYSTEM_WORDS:
            return SYSTEM_WORDS[system.group(2)]
        # by address, for programs; the others are the kernel's
        return READ if re.fullmatch(r"cg?d?v(ac|au|ap|adp)|ci(g|gd)?vac|cg?d?vadp|cvadp", system.group(2)) else 0
    if mnemonic == "sys":               # a name that this disassembler does not know
        return None
    for pattern, value in RULES:
        if pattern.fullmatch(mnemonic):
            return value
    return 0


def words():
    """Words of all forms of the groups with loads and stores, and of all system instructions for caches."""
    draw = random.Random(20)
    for top in range(2048):             # bits 31 to 21
        group = top >> 4                # bits 31 to 25
        memory = group & 5 == 4         # bit 27 set, bit 25 clear
        scalable = group in (0x42, 0x52, 0x62, 0x72, 0x50, 0x70)
        if not memory and not scalable:
            continue
        for middle in range(64):        # bits 15 to 10
            for rs in (31, draw.randrange(32), 0, 31):
                low = draw.randrange(1024)
                yield top << 21 | rs << 16 | middle << 10 | low
                if scalable:            # bit 4 tells prefetches from others
                    yield top << 21 | rs << 16 | middle << 10 | low ^ 16
    for crm in range(16):
        for op2 in range(8):
            yield 0xd50b7000 | crm << 8 | op2 << 5 | draw.randrange(31)
    for _ in range(20000):
        yield draw.getrandbits(32)


def with_capstone(all_words):
    import capstone
    decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
    for w in all_words:
        for _, _, mnemonic, operands in decoder.disasm_lite(struct.pack("<I", w), 0):
            yield w, mnemonic, operands


def with_objdump(program, all_words):
    with tempfile.NamedTemporaryFile() as f:
        f.write(b"".join(struct.pack("<I", w) for w in all_words))
        f.flush()
        out = subprocess.run([program, "-D", "-z", "-b", "binary", "-m", "aarch64", f.name], check=True, capture_output=True, text=True)
    line = re.compile(r"\s*[0-9a-f]+:\s+([0-9a-f]{8})\s+(\S+)\s*(.*)")
    for text in out.stdout.splitlines():
        m = line.match(text)
        if m and not m.group(2).startswith("."):
            operands = m.group(3).split("//")[0].strip()
            if "undefined" not in m.group(3):
                yield int(m.group(1), 16), m.group(2), operands


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--objdump")
    options.add_argument("library")
    options.add_argument("files", nargs="*")
    options = options.parse_args()
    direction = ctypes.CDLL(options.library).arm64_direction
    all_words = list(words())
    for name in options.files:
        text = subprocess.run([options.objdump or "objdump", "-h", "-w", name], check=True, capture_output=True, text=True).stdout
        _, size, _, _, offset = re.search(r"\.text +(\S+) +(\S+) +(\S+) +(\S+)", text).group(0).split()
        with open(name, "rb") as f:
            f.seek(int(offset, 16))
            code = f.read(int(size, 16))
        all_words += [w for (w,) in struct.iter_unpack("<I", code[:len(code) & ~3])]
    named = with_objdump(options.objdump, all_words) if options.objdump else with_capstone(all_words)
    wrong = collections.Counter()
    example = {}
    seen = collections.Counter()
    for w, mnemonic, operands in named:
        want = expected(mnemonic, operands)
        got = direction(struct.pack("<I", w)) & 7
        if want is None:
            continue
        seen[want] += 1
        if got != want:
            key = (mnemonic, want, got)
            wrong[key] += 1
            example.setdefault(key, (w, operands))
    print(f"{len(all_words)} words; " + ", ".join(f"{NAMES[k]} {n}" for k, n in sorted(seen.items())))
    for (mnemonic, want, got), n in wrong.most_common(40):
        w, operands = example[mnemonic, want, got]
        print(f"{mnemonic} ({n}): decoder says {NAMES.get(got, got)}, want {NAMES[want]}: {w:08x} {mnemonic} {operands}")
    # a check that sees nothing would agree with everything
    if min(seen[READ], seen[WRITE]) < 10000 or seen[0] < 1000 or (options.objdump and min(seen[RW], seen[RW | COPY]) < 100):
        print("too few instructions were compared")
        return 1
    return 1 if wrong else 0


sys.exit(main())
