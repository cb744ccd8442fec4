# SPDX-License-Identifier: ISC
"""
slices.py - print the slices of a trace of Perfetto: protoc --decode=perfetto.protos.Trace | slices.py

A line is KIND CATEGORY HOST THREAD NAME TIME MORE, in the order of time. KIND is X for a slice,
whose MORE is its duration; i for an instant; C for a counter, whose MORE is its value. THREAD is -
for a track of no thread. An arrow is a line s KEY TIME END. Arguments are at the end.
Exit: 1 if a slice does not end, or an end has no slice.
"""

import sys


def message(lines):
    """Return a list of fields and their values; a message is such a list."""
    fields = []
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith(" {"):
            fields.append((line[:-2], message(lines)))
        else:
            name, value = line.split(": ", 1)
            fields.append((name, value.strip('"')))
    return fields


def main():
    # bytes after a backslash are octal
    packets = [dict(p) for _, p in message(iter(sys.stdin.read().splitlines()))]
    tracks, out = {}, []
    for p in packets:
        if "track_descriptor" in p:
            d = dict(p["track_descriptor"])
            tracks.setdefault(d["uuid"], {"open": [], "of": d.get("parent_uuid")}).update(d)
    for uuid, t in tracks.items():
        t["host"] = t["thread_id"] = "-"
        while uuid in tracks:
            at = tracks[uuid]
            if "thread" in at:
                t["thread_id"] = dict(at["thread"])["tid"]
                at = next(h for h in tracks.values()
                          if dict(h.get("process", [])).get("pid") == dict(at["thread"])["pid"])
            if "process" in at:
                t["host"] = dict(at["process"])["process_name"]
            uuid = at["of"]
    events = [(int(p["timestamp"]), dict(p["track_event"]), p["track_event"])
              for p in packets if "track_event" in p]
    arrows = {}
    for time, e, all_of_it in sorted(events, key=lambda e: e[0]):
        t = tracks[e["track_uuid"]]
        key = e.get("terminating_flow_ids")
        if key:
            out.append((arrows.pop(key), "s", key, time))
        if "flow_ids" in e:
            arrows[e["flow_ids"]] = time
        args = [f"{dict(v)['name']}={dict(v).get('string_value', dict(v).get('legacy_json_value'))}"
                for k, v in all_of_it if k == "debug_annotations"]
        row = [e.get("categories", "-"), t["host"], t["thread_id"], e.get("name", "-"), time]
        if e["type"] == "TYPE_SLICE_BEGIN":
            t["open"].append((row, args))
        elif e["type"] == "TYPE_SLICE_END":
            row, args = t["open"].pop()
            out.append((row[4], "X", *row, time - row[4], *args))
        elif e["type"] == "TYPE_COUNTER":
            out.append((time, "C", "-", t["host"], "-", t["name"], time, e["counter_value"]))
        else:
            out.append((time, "i", *row, *args))
    for row in sorted(out, key=lambda row: row[0]):
        print(*row[1:])
    sys.exit(any(t["open"] for t in tracks.values()))


main()
