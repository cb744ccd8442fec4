# SPDX-License-Identifier: ISC
# otlp.py PROTOS logs|spans - read lines of OTLP by the published schema, and print the records
#
# PROTOS has the modules that protoc made. A field that the schema does not have is an error.
# A span is "HOST TRACE SPAN PARENT KIND NAME FROM TO ERROR KEY=VALUE...", with - for what is
# missing; a log record is "HOST TIME SEVERITY NAME KEY=VALUE...", NAME that of its event, or its body.
import importlib
import json
import sys

from google.protobuf import json_format

sys.path.insert(0, sys.argv[1])
signal = {"logs": "logs", "spans": "trace"}[sys.argv[2]]
service = importlib.import_module(f"opentelemetry.proto.collector.{signal}.v1.{signal}_service_pb2")
kind = service.ExportLogsServiceRequest if signal == "logs" else service.ExportTraceServiceRequest


def value(v):
    which = v.WhichOneof("value")
    if which == "array_value":
        return "[" + ",".join(value(e) for e in v.array_value.values) + "]"
    if which == "kvlist_value":
        return "{" + ",".join(e.key + "=" + value(e.value) for e in v.kvlist_value.values) + "}"
    return str(getattr(v, which)) if which else "null"


def attributes(of):
    return [f"{a.key}={value(a.value)}" for a in of.attributes]


def hexadecimal(text):
    return text if text and set(text) <= set("0123456789abcdef") else "-"


for line in sys.stdin:
    plain = json.loads(line)
    names = []
    for group in plain.get("resourceLogs", []):
        for r in group["scopeLogs"][0]["logRecords"]:
            # the schema is older than eventName; ids are hexadecimal, unlike in protobuf's own JSON
            names.append((r.pop("eventName", None), r.pop("traceId", ""), r.pop("spanId", "")))
    request = json_format.Parse(json.dumps(plain), kind())
    groups = plain["resourceLogs" if signal == "logs" else "resourceSpans"]
    parsed = request.resource_logs if signal == "logs" else request.resource_spans
    assert len(groups) == len(parsed) and len(parsed)
    for group, raw in zip(parsed, groups):
        resource = dict(a.split("=", 1) for a in attributes(group.resource))
        assert group.schema_url == (group.scope_logs if signal == "logs" else
                                    group.scope_spans)[0].schema_url != ""
        host = " ".join(f"{k}={v}" for k, v in resource.items())
        if signal == "logs":
            for r in group.scope_logs[0].log_records:
                name, *context = names.pop(0)
                print(host, "|", r.time_unix_nano, r.severity_text, name or value(r.body),
                      *attributes(r), *filter(None, context))
            continue
        for s, raw_span in zip(group.scope_spans[0].spans, raw["scopeSpans"][0]["spans"]):
            assert len(raw_span["traceId"]) == 32 and len(raw_span["spanId"]) == 16
            print(host, "|", hexadecimal(raw_span["traceId"]), hexadecimal(raw_span["spanId"]),
                  hexadecimal(raw_span.get("parentSpanId", "")), s.kind, s.name,
                  s.start_time_unix_nano, s.end_time_unix_nano,
                  s.status.message or "-", *attributes(s))
