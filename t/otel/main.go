// SPDX-License-Identifier: ISC

// main.go - read lines of OTLP's JSON as the OpenTelemetry collector reads them
//
//	main logs|spans <LINES
//
// It gives each line to the unmarshaler of the collector's package pdata, and prints all that
// pdata has of each resource and record: a word for each field, strings in hexadecimal. The last
// line has the numbers of lines, resources and records. t/otel/expect.py prints the same without
// pdata.
// Exit: 0 done, 1 a line was refused.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

var out bytes.Buffer // printed at the end, if no line is refused
var lines, resources, records int

func value(v pcommon.Value) string {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return fmt.Sprintf("s:%x", v.Str())
	case pcommon.ValueTypeInt:
		return fmt.Sprintf("i:%d", v.Int())
	case pcommon.ValueTypeDouble:
		return fmt.Sprintf("d:%016x", math.Float64bits(v.Double()))
	case pcommon.ValueTypeBool:
		return fmt.Sprintf("b:%t", v.Bool())
	case pcommon.ValueTypeMap:
		return "{" + attributes(v.Map()) + "}"
	case pcommon.ValueTypeSlice:
		var words []string
		for _, element := range v.Slice().All() {
			words = append(words, value(element))
		}
		return "[" + strings.Join(words, ",") + "]"
	}
	return "-"
}

func attributes(m pcommon.Map) string {
	var words []string
	for key, v := range m.All() {
		words = append(words, fmt.Sprintf("%x=%s", key, value(v)))
	}
	sort.Strings(words)
	return strings.Join(words, ",")
}

func resource(r pcommon.Resource, schema string) {
	resources++
	fmt.Fprintf(&out, "resource %s %x\n", attributes(r.Attributes()), schema)
}

func scope(s pcommon.InstrumentationScope, schema string) {
	fmt.Fprintf(&out, "scope %x %x %x\n", s.Name(), s.Version(), schema)
}

func logs(line []byte) error {
	all, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
	if err != nil {
		return err
	}
	for _, r := range all.ResourceLogs().All() {
		resource(r.Resource(), r.SchemaUrl())
		for _, s := range r.ScopeLogs().All() {
			scope(s.Scope(), s.SchemaUrl())
			for _, l := range s.LogRecords().All() {
				records++
				trace, id := l.TraceID(), l.SpanID()
				fmt.Fprintf(&out, "record %d %d %d %x %x %s %x %x %d %s\n",
					uint64(l.Timestamp()), uint64(l.ObservedTimestamp()),
					int32(l.SeverityNumber()), l.SeverityText(), l.EventName(),
					value(l.Body()), trace[:], id[:], uint32(l.Flags()),
					attributes(l.Attributes()))
			}
		}
	}
	return nil
}

func spans(line []byte) error {
	all, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
	if err != nil {
		return err
	}
	for _, r := range all.ResourceSpans().All() {
		resource(r.Resource(), r.SchemaUrl())
		for _, s := range r.ScopeSpans().All() {
			scope(s.Scope(), s.SchemaUrl())
			for _, p := range s.Spans().All() {
				records++
				trace, id, parent := p.TraceID(), p.SpanID(), p.ParentSpanID()
				fmt.Fprintf(&out, "record %x %x %x %x %d %d %d %d %x ", trace[:],
					id[:], parent[:], p.Name(), int32(p.Kind()),
					uint64(p.StartTimestamp()), uint64(p.EndTimestamp()),
					int32(p.Status().Code()), p.Status().Message())
				for _, link := range p.Links().All() {
					trace, id := link.TraceID(), link.SpanID()
					fmt.Fprintf(&out, "%x %x ", trace[:], id[:])
				}
				fmt.Fprintln(&out, attributes(p.Attributes()))
			}
		}
	}
	return nil
}

func main() {
	read := map[string]func([]byte) error{"logs": logs, "spans": spans}[os.Args[1]]
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		lines++
		if err := read(in.Bytes()); err != nil {
			fmt.Fprintf(os.Stderr, "line %d is refused: %v\n", lines, err)
			os.Exit(1)
		}
	}
	fmt.Fprintln(&out, lines, "lines", resources, "resources", records, "records")
	os.Stdout.Write(out.Bytes())
}
