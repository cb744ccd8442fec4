# SPDX-License-Identifier: ISC
"""Make records of every event format with random values, and compare two texts of them.

formats.py TRACEFS DIFFERS [DIFFERS]: Make a trace.dat for each system, with records of each
events/SYSTEM/EVENT/format and always with the same values. Compare the text of tfs-report
with the text of trace-cmd. Print the name of each event whose text differs and which is in
neither list, with the first records that differ. With one list, also print the listed events
whose text does not differ.
"""
import fnmatch
import glob
import os
import random
import re
import struct
import subprocess
import sys

from tracedat import Machine

EACH = 8
FIELD = re.compile(r"\tfield:(.*?);\toffset:(\d+);\tsize:(\d+);(?:\tsigned:(\d+);)?")
SIZES = {"char": 1, "u8": 1, "__u8": 1, "uint8_t": 1, "bool": 1, "u16": 2, "__u16": 2,
         "short": 2, "u32": 4, "__u32": 4, "int": 4, "s32": 4, "u64": 8, "__u64": 8,
         "s64": 8, "long": 8, "cpumask_t": 8}


def text(rng, most):
    letters = "abcdefghijklmnopqrstuvwxyzABCXYZ0123456789_-./:+ "
    return "".join(rng.choice(letters) for _ in range(rng.randrange(1, max(2, most)))).encode()


def value(rng, size):
    """Return a value that a format may treat specially: small, all bits, one bit, negative."""
    bits = 8 * size
    return rng.choice([0, 1, 2, rng.randrange(64), 1 << rng.randrange(bits),
                       rng.getrandbits(bits), rng.getrandbits(min(bits, 12)),
                       (1 << bits) - 1 - rng.randrange(40)]) & ((1 << bits) - 1)


def payload(rng, kind):
    words = kind.replace("[]", "").split()
    if "char" in words and "unsigned" not in words:
        return text(rng, 24) + b"\0"
    size = next((SIZES[w] for w in words if w in SIZES), 1)
    return b"".join(value(rng, size).to_bytes(size, sys.byteorder)
                    for _ in range(rng.randrange(1, 5)))


def record(rng, number, fields):
    end = max([o + s for _, o, s in fields] + [8])
    data = bytearray(end)
    for declaration, offset, size in fields:
        kind, name = declaration.rsplit(" ", 1)
        if name == "common_type":
            new = struct.pack("=H", number)
        elif name == "common_pid":
            new = struct.pack("=i", 1)
        elif name.startswith("common_"):
            new = bytes(size)
        elif kind.startswith(("__data_loc", "__rel_loc")):
            more = payload(rng, kind.split(" ", 1)[1])
            while len(data) % 4:
                data.append(0)
            at = len(data) - (offset + 4 if kind.startswith("__rel") else 0)
            new = struct.pack("=I", len(more) << 16 | at)
            data += more
        elif name.endswith("]") and "char" in kind.split() and "unsigned" not in kind.split():
            new = text(rng, size or 20) + b"\0"
            if not size:
                data += new
                continue
            new = new.ljust(size, b"\0")[:size]
        elif name.endswith("]") and not size:
            data += bytes(rng.getrandbits(8) for _ in range(8))
            continue
        elif kind == "bool":
            new = bytes([rng.randrange(2)])
        elif size in (1, 2, 4, 8):
            new = value(rng, size).to_bytes(size, sys.byteorder)
        else:
            new = bytes(rng.getrandbits(8) for _ in range(size))
        data[offset:offset + size] = new
    return bytes(data) + bytes(-len(data) % 4)


def dynamic(tracefs):
    """Return the dynamic events, SYSTEM/EVENT, which are not the kernel's own events."""
    try:
        with open(tracefs + "/dynamic_events", encoding="latin-1") as f:
            return set(re.findall(r"^\w+:(\w+/\w+)", f.read(), re.M))
    except OSError:
        return set()


def formats(tracefs):
    probes = dynamic(tracefs)
    for path in sorted(glob.glob(tracefs + "/events/*/*/format")):
        try:
            with open(path, encoding="latin-1") as f:
                content = f.read()
        except OSError:
            continue
        system = path.split("/")[-3]
        if system + "/" + path.split("/")[-2] in probes:
            continue
        number = int(re.search(r"^ID: (\d+)", content, re.M).group(1))
        fields = [(d, int(o), int(s)) for d, o, s, _ in FIELD.findall(content)]
        yield system, path.split("/")[-2], number, fields, content.encode("latin-1")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def records_of(number, fields):
    rng = random.Random(1)
    return [d for d in (record(rng, number, fields) for _ in range(EACH)) if len(d) <= 2000]


def pages(machine, events):
    time, body, out = 1000000000, b"", []
    began = time
    for _, _, number, fields, _ in events:
        for data in records_of(number, fields):
            time += 1000
            one = machine.entry(data, 1000 if body else 0)
            if len(body) + len(one) > machine.room:
                out.append(machine.make_page(began, body))
                body, one = b"", machine.entry(data, 0)
            if not body:
                began = time
            body += one
    return b"".join(out) + machine.make_page(began, body)


def release(tracefs):
    """Return the release of this kernel, or of the kernel whose files were copied there."""
    copied = tracefs + "/release"
    return read(copied).decode().strip() if os.path.exists(copied) else os.uname().release


def trace_dat(tracefs, path, events):
    machine = Machine(sys.byteorder, struct.calcsize("@l"))
    machine.write(path, [(e[0], e[4]) for e in events],
                  [("", "", [pages(machine, events)])], b"1 init\n",
                  release(tracefs), read(tracefs + "/events/header_page"))


# The causes of differences, by their words in the list. ALIKE has a change that makes both
# texts alike. THEIRS has a text to find in the text of trace-cmd, FORMAT in the format.
ALIKE = {
    "%p": (r"(?<![\w.])(?:(?=[0-9a-f]{16}(?!\w))|0x)0*([0-9a-f]+)(?!\w)|\(nil\)",
           lambda m: "0x" + (m.group(1) or "0")),
    "sign": (r"(?<!\w)0xffffffff([89a-f][0-9a-f]{7})(?!\w)", r"0x\1"),
    "einval": (r"\(einval\)", ""),
    "%#x": (r"(?<!\w)0x0(?!\w)", "0"),
}
THEIRS = {"unparsed": r"\[FAILED TO PARSE\]", "%.*s": r"%\.\*s"}
FORMAT = {"constants": r"\{ *[^{}\",]*\b[A-Z][A-Z0-9_]{2,}\b[^{}\",]*, *\"",
          "bitmask": "__get_(rel_)?(bitmask|cpumask)"}
HEAD = re.compile(r"^.{1,16}-1 +\[000\] \S* *(\d+\.\d{6}): (\S+?:?)(?: +(.*))?$")


def records(lines):
    """Return the texts by time. Append further lines of a record to its first line."""
    found, last = {}, None
    for line in lines.decode("latin-1").split("\n"):
        m = HEAD.match(line)
        if m:
            last = m.group(1)
            found[last] = m.group(2) + " " + (m.group(3) or "").rstrip()
        elif last and line:
            found[last] += " | " + line.strip()
    return found


def both(tracefs, events):
    """Return the texts of tfs-report and trace-cmd; None for trace-cmd if a signal killed it."""
    trace_dat(tracefs, "formats.dat", events)
    ours = subprocess.run(["tfs-report", "-x", "formats.dat"], stdout=subprocess.PIPE, check=True)
    theirs = subprocess.run(["trace-cmd", "report", "-N", "formats.dat"], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return records(ours.stdout), None if theirs.returncode < 0 else records(theirs.stdout)


def differing(tracefs, events):
    """Yield each event whose texts differ, with the pairs of texts that differ."""
    ours, theirs = both(tracefs, events)
    if theirs is None and len(events) > 1:
        for e in events:
            yield from differing(tracefs, [e])
        return
    time = 1000000
    for system, event, number, fields, _ in events:
        pairs = []
        for _ in records_of(number, fields):
            time += 1
            key = f"{time // 1000000}.{time % 1000000:06}"
            pair = ours.get(key, "nothing"), "trace-cmd died" if theirs is None else \
                theirs.get(key, "nothing")
            if pair[0] != pair[1]:
                pairs.append(pair)
        if pairs:
            yield system + ":" + event, pairs


def explained(pairs, text_, listed):
    """Return the causes, and the pairs that they do not explain."""
    used, now = [], pairs
    for cause, change in ALIKE.items():
        if cause not in listed or all(a == b for a, b in now):
            continue
        new = [tuple(re.sub(*change, x) for x in pair) for pair in now]
        if new != now:
            used.append(cause)
        now = new
    rest = [pair for pair, (a, b) in zip(pairs, now) if a != b]
    for cause, found in FORMAT.items():
        if rest and cause in listed and re.search(found, text_):
            return [cause], []
    for cause, found in THEIRS.items():
        if rest and cause in listed and any(re.search(found, b) for _, b in pairs):
            return [cause], []
    return used, rest


def main(tracefs, differs, *more):
    lines = []
    for path in (differs, *more):
        with open(path, encoding="utf-8") as f:
            lines += [line.split(None, 1) for line in f if line.strip() and line[0] != "#"]
    listed = {words[0]: 0 for words in lines if len(words) > 1}
    events, bad = list(formats(tracefs)), len(lines) - len(listed)
    there = {e[0] + ":" + e[1]: e[4].decode("latin-1") for e in events}
    for system in sorted({e[0] for e in events}):
        for name, pairs in differing(tracefs, [e for e in events if e[0] == system]):
            glob_ = next((g for g in listed if ":" in g and fnmatch.fnmatch(name, g)), None)
            used, rest = ([glob_], []) if glob_ else explained(pairs, there[name], listed)
            if rest:
                bad += 1
                print(name + " differs and is not listed",
                      *(f"- {b}\n+ {a}" for a, b in rest[:2]), sep="\n")
                continue
            for cause in used:
                listed[cause] += 1
    for name, n in listed.items():
        if not n and not more and (":" not in name or any(fnmatch.fnmatch(e, name) for e in there)):
            bad += 1
            print(name + " is listed and does not differ any more")
    print(f"{len(there)} events, {bad} bad")
    sys.exit(bad > 0)


main(*sys.argv[1:])
