# SPDX-License-Identifier: ISC
"""
schema.py - print the schema of Perfetto's traces that a trace processor contains

	schema.py LIBRARY >SCHEMA; protoc --descriptor_set_in=SCHEMA --decode=perfetto.protos.Trace

The trace processor has sets of descriptors of all that it reads. A set is a FileDescriptorSet:
for each .proto file the byte 0x0a, a length, and a FileDescriptorProto, which begins with its
name. This program prints the set that has protos/perfetto/trace/trace.proto.
"""

import re
import sys

LAST = b"protos/perfetto/trace/trace.proto"


def number(data, at):
    """Return the varint at this place, and the place after it."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def main():
    data = open(sys.argv[1], "rb").read()
    # where each file that may be one of a set begins, and its end
    files = {}
    # a length may be 10, too, so look at each byte
    for found in re.finditer(rb"(?=\n([\x01-\x7f])[a-z_/0-9]+\.proto)", data):
        at_name = found.start() + 2
        name = data[at_name:at_name + found.group(1)[0]]
        if not name.endswith(b".proto"):
            continue
        for digits in range(1, 5):
            begin = found.start() - digits - 1
            if data[begin] == 10:
                length, at = number(data, begin + 1)
                if at == found.start():
                    files[begin] = at + length, name
    ends = {end for end, _ in files.values()}
    for begin in files:
        names, end = [], begin
        while begin not in ends and end in files:
            end, name = files[end]
            names.append(name)
        if LAST in names:
            sys.stdout.buffer.write(data[begin:end])
            return
    sys.exit("schema.py: no schema in " + sys.argv[1])


main()
