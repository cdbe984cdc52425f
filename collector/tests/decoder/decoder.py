# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares the instruction decoder of the zap backend with capstone.

usage: decoder.py LIBRARY FILE...

LIBRARY is preload/faults/x86rw.c as a shared object. Each FILE is an ELF file
whose .text is disassembled from its beginning to its end; the direction of every
instruction with a memory access must be the one that capstone tells, or the
one that KNOWN tells where capstone is wrong.

Capstone's answer depends on the mnemonic and on the kinds of the operands
only, so it is asked once for each of these; the decoder is asked for every
single instruction.
"""
import ctypes
import collections
import re
import sys

import capstone
from capstone import x86
from elftools.elf.elffile import ELFFile

READ, WRITE, STRING, STACK_WRITE, STACK_READ = 1, 2, 4, 8, 16
RW = READ | WRITE
NAMES = {0: "none", 1: "read", 2: "write", 3: "read+write"}

# Where capstone (4.0 and 5.0) is wrong or says nothing, by the Intel SDM: the
# pattern matches "mnemonic shape" with M for the memory operand; the value is
# the right answer. A difference that is not listed here is an error, and so is
# a listed instruction for which the decoder does not give this answer.
KNOWN = [
    # Before the rule that a second operand is a source.
    (r"xchg (M, .*|\w+, M)", RW),
    # Plain stores that capstone has as loads or as read-modify-write: the memory
    # operand is the destination.
    (r"v?mov(aps|apd|ups|upd|dqa|dqu|dqa32|dqa64|dqu8|dqu16|dqu32|dqu64|ss|sd|hps|hpd|lps|lpd|"
     r"ntps|ntpd|ntdq|nti|ntq|q|d|sh|w)(\.s)? M, .*", WRITE),
    (r"(mov|movabs|movbe|movnti) M, .*", WRITE),
    (r"set\w+ M", WRITE),
    (r"v?pextr[bwdq] M, .*", WRITE),
    (r"v?extractps M, .*", WRITE),
    (r"vextract[fi]\w+ M, .*", WRITE),
    (r"vcvtps2ph M, .*", WRITE),
    (r"vp?maskmov\w* M, .*", WRITE),
    (r"vpmov\w+ M, .*", WRITE),
    (r"v?p?compress\w* M, .*", WRITE),
    (r"kmov[bwdq] M, .*", WRITE),
    (r"v?stmxcsr M", WRITE),
    (r"(fxsave|fxsave64|xsave|xsave64|xsavec|xsavec64|xsaveopt|xsaveopt64|xsaves|xsaves64) M", WRITE),
    (r"(sgdt|sidt|sldt|str|smsw) M", WRITE),
    (r"(fst|fstp|fist|fistp|fisttp|fbstp|fnstcw|fnstsw|fnstenv|fnsave) M", WRITE),
    (r"v?p?scatter\w* M, .*", WRITE),
    # Loads that capstone has as stores or as both.
    (r"cmp M, .*", READ),
    (r"cmp \w+, M", READ),
    (r"test M, .*", READ),
    (r"bt M, .*", READ),
    (r"(fxrstor|fxrstor64|xrstor|xrstor64|xrstors|v?ldmxcsr) M", READ),
    (r"(fld|fild|fbld|fldcw|fldenv|frstor|fadd|fsub|fsubr|fmul|fdiv|fdivr|fcom|fcomp|"
     r"fiadd|fisub|fisubr|fimul|fidiv|fidivr|ficom|ficomp) M", READ),
    (r"(mul|imul|div|idiv) M", READ),
    (r"(lgdt|lidt|lldt|ltr|lmsw|verr|verw|invlpg) M", READ),
    (r"jmp M", READ),
    (r"vgather\w+ .*|vpgather\w+ .*", READ),
    # The memory operand comes second or later, so it is a source.
    (r"v?(?!p?scatter|p?compress)\w+ [^M]+, M(, .*)?", READ),
    # Read-modify-write that capstone has as loads or as stores only.
    (r"(lock )?(add|sub|and|or|xor|adc|sbb) M, .*", RW),
    (r"(lock )?(inc|dec|neg|not) M", RW),
    (r"(shl|shr|sar|sal|rol|ror|rcl|rcr)( M|  M, .*| M, .*)", RW),
    (r"(shld|shrd) M, .*", RW),
    (r"(lock )?(bts|btr|btc) M, .*", RW),
    # cmpxchg writes always, also when it fails (the old value), by the SDM
    (r"(lock )?(cmpxchg|xadd) M, .*", RW),
    (r"(lock )?(cmpxchg8b|cmpxchg16b) M", RW),
]
KNOWN = [(re.compile(p), v) for p, v in KNOWN]

# Instructions whose memory access is not an operand, or not only: by rule.
STRINGS = {"movs": RW | STRING, "cmps": READ, "scas": READ, "lods": READ, "stos": WRITE,
           "ins": WRITE, "outs": READ}
# No access that can fault, or not by a program (vmread and vmwrite need the privilege of a hypervisor).
NO_ACCESS = re.compile(r"lea|nop|prefetch|endbr|clflush|clwb|cldemote|rdssp|incssp|invlpg|bnd|ud[012]|vmread|vmwrite")
PREFIX = re.compile(r"^((rep|repe|repz|repne|repnz|lock|notrack|bnd|data16|addr32|xacquire|xrelease|wait) )+")
MEMORY = re.compile(r"(\w+ ptr )?(\w+:)?\[[^\]]*\]|(\w+ ptr )(\w+:)?0x[0-9a-f]+")


def by_rule(mnemonic, operands):
    """What the decoder should say, for stack and string instructions; None: ask capstone."""
    memory = MEMORY.search(operands) is not None
    if mnemonic in ("push", "pushf", "pushfq", "pushfd", "enter"):
        return RW | STACK_WRITE if memory else WRITE
    if mnemonic in ("pop", "popf", "popfq", "popfd"):
        return RW | STACK_READ if memory else READ
    if mnemonic == "call" or mnemonic == "lcall":
        return RW | STACK_WRITE if memory else WRITE
    if mnemonic in ("ret", "leave", "retf", "retfq", "iretq"):
        return READ
    base = re.fullmatch(r"(movs|cmps|scas|lods|stos|ins|outs)[bwdq]", mnemonic)
    # "movsd xmm, m" and "cmpsd" exist twice: the string form has only index registers
    if base and "xmm" not in operands:
        return STRINGS[base.group(1)]
    if mnemonic == "xlatb" or mnemonic == "xlat":
        return READ
    return None


LEGACY = bytes.fromhex("f0f2f32e36263e64656667")


def misplaced_rex(code):
    """A REX prefix that is not the last prefix has no effect. No assembler writes one; they are
    data in .text, read as code. The decoder does not know them and says so (0)."""
    i = 0
    while i < len(code) and code[i] in LEGACY:
        i += 1
    return i + 1 < len(code) and code[i] & 0xf0 == 0x40 and (
        code[i + 1] in LEGACY or code[i + 1] & 0xf0 == 0x40)


class Comparison:
    def __init__(self, library):
        self.decode = ctypes.CDLL(library).x86_direction
        self.decode.argtypes = [ctypes.c_char_p]
        self.decode.restype = ctypes.c_int
        self.disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.details = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.details.detail = True
        self.disassembler.skipdata = True
        self.expected = {}
        self.total = self.skipped = self.no_answer = 0
        self.corrected = collections.Counter()
        self.wrong = collections.Counter()
        self.example = {}

    def ask_capstone(self, code, address):
        """Access of the single memory operand; None if there is not exactly one."""
        for instruction in self.details.disasm(code, address, 1):
            memory = [o for o in instruction.operands if o.type == x86.X86_OP_MEM]
            if len(memory) == 1:
                return memory[0].access & 3
        return None

    def expect(self, mnemonic, operands, code, address):
        """(wanted bits, is a correction of capstone) or None when nothing is to compare."""
        plain = PREFIX.sub("", mnemonic)
        if NO_ACCESS.match(plain):
            return None
        rule = by_rule(plain, operands)
        if rule is not None:
            return rule, False
        if "M" not in MEMORY.sub("M", operands):
            return None
        shape = plain + " " + MEMORY.sub("M", operands)
        shape = re.sub(r"\{[^}]*\}", "", shape).replace(" ,", ",").strip()
        told = self.ask_capstone(code, address)
        for pattern, value in KNOWN:
            if pattern.fullmatch(shape):
                return value, told != value
        return (told, False) if told else None

    def instruction(self, code, address, mnemonic, operands):
        key = mnemonic + " " + re.sub(r"0x[0-9a-f]+|\b\d+\b", "N", MEMORY.sub(
            lambda m: "[N]" if "[" in m.group(0) else m.group(0), operands))
        if key not in self.expected:
            self.expected[key] = self.expect(mnemonic, operands, code, address)
        expected = self.expected[key]
        if expected is None:
            plain = PREFIX.sub("", mnemonic)
            self.no_answer += not NO_ACCESS.match(plain) and "[" in operands
            return
        want, corrected = expected
        if misplaced_rex(code):
            self.skipped += len(code)
            return
        self.total += 1
        got = self.decode(code + b"\0" * 15)
        if corrected:
            self.corrected[PREFIX.sub("", mnemonic)] += 1
        if got != want:
            kind = (mnemonic, want, got)
            self.wrong[kind] += 1
            self.example.setdefault(kind, "%s %s %s" % (code.hex(), mnemonic, operands))

    def file(self, name, limit):
        with open(name, "rb") as f:
            section = ELFFile(f).get_section_by_name(".text")
            code, base = section.data(), section["sh_addr"]
        if len(code) > limit:
            # big programs: slices from all over the text, each from a 16-byte boundary
            step = len(code) // 16
            parts = [(i * step & ~15, limit // 16) for i in range(16)]
        else:
            parts = [(0, len(code))]
        for start, length in parts:
            part = code[start:start + length]
            for address, size, mnemonic, operands in self.disassembler.disasm_lite(part, base + start):
                if mnemonic == ".byte":
                    self.skipped += 1
                    continue
                offset = address - base
                self.instruction(code[offset:offset + size], address, mnemonic, operands)


def self_test(comparison):
    """The comparison must be able to fail: an instruction with a wrong answer."""
    code = bytes.fromhex("488903")            # mov [rbx], rax
    before = sum(comparison.wrong.values())
    real = comparison.decode
    comparison.decode = lambda c: READ
    comparison.instruction(code, 0, "mov", "qword ptr [rbx], rax")
    comparison.decode = real
    noticed = sum(comparison.wrong.values()) == before + 1
    comparison.wrong.clear()
    comparison.example.clear()
    comparison.total = 0
    return noticed


def main():
    limit = 6 << 20
    comparison = Comparison(sys.argv[1])
    if not self_test(comparison):
        print("FAILED: a wrong direction is not noticed")
        return 1
    for name in sys.argv[2:]:
        before = comparison.total
        comparison.file(name, limit)
        print("%9d memory instructions of %s" % (comparison.total - before, name))
    wrong = sum(comparison.wrong.values())
    print("capstone %s: %d memory instructions, %d kinds, %d where capstone is known to be wrong (%s), "
          "%d without an answer, %d bytes of data skipped, %d different" % (
              capstone.__version__, comparison.total, len(comparison.expected),
              sum(comparison.corrected.values()),
              ", ".join("%s %d" % x for x in comparison.corrected.most_common(6)),
              comparison.no_answer, comparison.skipped, wrong))
    for kind, count in comparison.wrong.most_common(40):
        mnemonic, want, got = kind
        print("FAILED: %d times %s: decoder %s%s, expected %s%s: %s" % (
            count, mnemonic, NAMES[got & 3], "+%d" % (got & ~3) if got & ~3 else "",
            NAMES[want & 3], "+%d" % (want & ~3) if want & ~3 else "", comparison.example[kind]))
    return 1 if wrong or not comparison.total else 0


if __name__ == "__main__":
    sys.exit(main())
