# SPDX-License-Identifier: ISC
"""Make a trace.dat that costs its reader much: hostiledat.py KIND FILE."""
import struct
import sys

from tracedat import Machine

PAGE = (b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
        b"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
        b"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")


def sized(data):
    return struct.pack("<Q", len(data)) + data


INFO = b"header_page\0" + sized(PAGE) + b"header_event\0" + sized(b"x\n")


def start(version):
    return b"\x17\x08\x44tracing" + version + b"\0" + bytes([0, 8]) + struct.pack("<I", 4096)


def v6(cpus):
    return start(b"6") + INFO + struct.pack("<IIIIQI", 0, 0, 0, 0, 0, cpus)


def tables(file, n=900, cpus=8000):
    """Many instances whose table is one and the same"""
    head = v6(cpus) + b"options  \0"
    at = len(head) + n * 16 + 2 + 10 + 16 * cpus
    option = struct.pack("<HIQ", 3, 10, at) + b"a\0"
    table = b"flyrecord\0" + bytes(16 * cpus)
    file.write(head + option * n + b"\0\0" + table + table)


def ring(file):
    """A chain of options that leads back to its beginning"""
    head = start(b"7") + b"none\0\0"
    at = len(head) + 8
    option = struct.pack("<HIQ", 3, 8 + 2 + 1 + 4 + 4 + 1000 * 20, 0) + b"a\0\0"
    option += struct.pack("<II", 4096, 1000) + bytes(1000 * 20)
    data = option * 50 + struct.pack("<HIQ", 0, 8, at)
    # its first option says where the section is that follows the options
    data = struct.pack("<HIQ", 16, 8, at + 16 + 14 + len(data)) + data
    file.write(head + struct.pack("<Q", at))
    for section in data, INFO:
        file.write(struct.pack("<HHIQ", 0, 0, 0, len(section)) + section)


def pages(file, cpus=8192):
    """Many CPUs that have the same 32 sub-buffers"""
    head = v6(cpus) + b"flyrecord\0"
    at = -(-(len(head) + 16 * cpus) // 4096) * 4096
    head += struct.pack("<QQ", at, 32 * 4096) * cpus
    file.write(head.ljust(at, b"\0") + bytes(32 * 4096))


def cpus(file):
    file.write(v6(8193) + b"flyrecord\0" + bytes(16 * 8193))


def hole(file, n=5 << 30):
    """Five gigabytes of names, which are a hole of the file"""
    head = start(b"6") + INFO + struct.pack("<IIIIQ", 0, 0, 0, 0, n)
    file.write(head)
    file.truncate(len(head) + n + 100)


def kallsyms(file, n=(32 << 20) + 1):
    file.write(start(b"6") + INFO + struct.pack("<III", 0, 0, n) + b"\n" * n)
    file.write(struct.pack("<IQI", 0, 0, 1) + b"flyrecord\0" + bytes(16))


def full(file):
    """Each section at its maximum, made to take as much memory as it can"""
    kallsyms_text = b"0 T a\n" * ((32 << 20) // 6)
    printk = b'0"a"\n' * ((8 << 20) // 5)
    names = b"".join(b"%d a\n" % i for i in range(1, 800000))
    fields = b"\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n" * 1000
    formats = b"".join(sized(b"name: e%d\nID: %d\nformat:\n" % (i, i + 1) + fields)
                       for i in range(600))
    head = start(b"6") + INFO + struct.pack("<I", 600) + formats + struct.pack("<I", 0)
    head += struct.pack("<I", len(kallsyms_text)) + kallsyms_text
    head += struct.pack("<I", len(printk)) + printk + sized(names)
    count = 8192
    head += struct.pack("<I", count) + b"flyrecord\0"
    at = -(-(len(head) + 16 * count) // 4096) * 4096
    head += b"".join(struct.pack("<QQ", at + i * 4096, 4096) for i in range(count))
    file.write(head.ljust(at, b"\0"))
    file.truncate(at + 4096 * count)


def lost(file):
    """Counts of lost events whose sum is more than 63 bits"""
    m = Machine("little", 8)
    event = m.entry(bytes(8), 1)
    data = m.make_page(1000, b"", (1 << 63) - 1) + m.make_page(2000, b"", (1 << 63) - 1)
    data += m.make_page(3000, event, 5)
    m.write(file.name, [], [("", "", [data])])


with open(sys.argv[2], "wb") as output:
    globals()[sys.argv[1]](output)
