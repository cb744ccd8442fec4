-- SPDX-License-Identifier: ISC
-- otel.sql - columns of the tables that the OpenTelemetry collector's exporter for ClickHouse makes

CREATE TABLE otel_logs (
    Timestamp DateTime64(9), TraceId String, SpanId String, ServiceName LowCardinality(String),
    Body String, ResourceAttributes Map(LowCardinality(String), String), ScopeName String,
    LogAttributes Map(LowCardinality(String), String), EventName LowCardinality(String))
ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (toStartOfFiveMinutes(Timestamp), ServiceName, Timestamp);

CREATE TABLE otel_traces (
    Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String,
    SpanName LowCardinality(String), SpanKind LowCardinality(String),
    ServiceName LowCardinality(String), ResourceAttributes Map(LowCardinality(String), String),
    ScopeName String, SpanAttributes Map(LowCardinality(String), String), Duration UInt64)
ENGINE = MergeTree
PARTITION BY toDate(Timestamp)
ORDER BY (ServiceName, SpanName, toDateTime(Timestamp), Timestamp);
