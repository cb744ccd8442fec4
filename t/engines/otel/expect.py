# SPDX-License-Identifier: ISC
"""
expect.py - print what a reader of OTLP's JSON has to find: expect.py logs|spans <LINES

It takes the lines for plain JSON, and prints the form of t/engines/otel/main.go. A member that is not
expected ends it.
"""

import json
import struct
import sys

KIND = sys.argv[1]


def text(s):
    return s.encode().hex()


def value(v):
    if not v:
        return "-"
    (kind, v), = v.items()
    if kind == "stringValue":
        return "s:" + text(v)
    if kind == "intValue":
        return "i:%d" % int(v)
    if kind == "doubleValue":
        return "d:%016x" % struct.unpack("<Q", struct.pack("<d", v))
    if kind == "boolValue":
        return "b:" + json.dumps(v)
    if kind == "arrayValue":
        return "[" + ",".join(map(value, v["values"])) + "]"
    assert kind == "kvlistValue", kind
    return "{" + attributes(v["values"]) + "}"


def attributes(all_of_them):
    return ",".join(sorted(text(a["key"]) + "=" + value(a["value"]) for a in all_of_them))


def log(r):
    return [int(r.pop("timeUnixNano")), int(r.pop("observedTimeUnixNano")),
            r.pop("severityNumber"), text(r.pop("severityText")), text(r.pop("eventName", "")),
            value(r.pop("body", None)), r.pop("traceId", "0" * 32), r.pop("spanId", "0" * 16),
            r.pop("flags", 0)]


def span(r):
    status = r.pop("status", {})
    return [r.pop("traceId"), r.pop("spanId"), r.pop("parentSpanId", "0" * 16),
            text(r.pop("name")), r.pop("kind"), int(r.pop("startTimeUnixNano")),
            int(r.pop("endTimeUnixNano")), status.get("code", 0), text(status.get("message", "")),
            *(i[k] for i in r.pop("links", []) for k in ("traceId", "spanId"))]


lines = resources = records = 0
for line in sys.stdin.buffer:
    lines += 1
    for r in json.loads(line)["resourceLogs" if KIND == "logs" else "resourceSpans"]:
        resources += 1
        print("resource", attributes(r["resource"]["attributes"]), text(r["schemaUrl"]))
        for s in r["scopeLogs" if KIND == "logs" else "scopeSpans"]:
            print("scope", text(s["scope"]["name"]), text(s["scope"]["version"]),
                  text(s["schemaUrl"]))
            for record in s["logRecords" if KIND == "logs" else "spans"]:
                records += 1
                words = log(record) if KIND == "logs" else span(record)
                print("record", *words, attributes(record.pop("attributes")))
                assert not record, record
print(lines, "lines", resources, "resources", records, "records")
