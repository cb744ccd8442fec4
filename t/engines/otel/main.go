// SPDX-License-Identifier: ISC

// main.go - read lines of OTLP's JSON as the OpenTelemetry collector reads them
//
//	main logs|spans|log-rows|span-rows|stacks <LINES
//
// It gives each line to the unmarshaler of the collector's package pdata, and prints all that
// pdata has of each resource and record: a word for each field, strings in hexadecimal. The last
// line has the numbers of lines, resources and records. t/engines/otel/expect.py prints the same without
// pdata. With log-rows or span-rows it prints the rows that the collector's exporter for ClickHouse
// makes of them, as lines of JSON.
// With stacks it prints, of each sample of each profile, its type and unit, the attributes, the folded
// stack, the link and the value.
// Exit: 0 done, 1 a line was refused.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pprofile"
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

// row prints a row of otel_logs or otel_traces: its record's own columns, and those of the resource.
func row(time pcommon.Timestamp, trace pcommon.TraceID, span pcommon.SpanID,
	resource, attributes pcommon.Map, name string, columns map[string]any) {
	text := func(m pcommon.Map) map[string]string {
		to := map[string]string{}
		for key, v := range m.All() {
			to[key] = v.AsString()
		}
		return to
	}
	columns["Timestamp"] = fmt.Sprintf("%d.%09d", time/1e9, time%1e9)
	columns["TraceId"] = trace.String()
	columns["SpanId"] = span.String()
	columns["ResourceAttributes"] = text(resource)
	columns["ServiceName"] = text(resource)["service.name"]
	columns[name] = text(attributes)
	line, _ := json.Marshal(columns)
	fmt.Fprintf(&out, "%s\n", line)
}

func logRows(line []byte) error {
	all, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(line)
	if err != nil {
		return err
	}
	for _, r := range all.ResourceLogs().All() {
		for _, s := range r.ScopeLogs().All() {
			for _, l := range s.LogRecords().All() {
				row(l.Timestamp(), l.TraceID(), l.SpanID(), r.Resource().Attributes(),
					l.Attributes(), "LogAttributes", map[string]any{
						"EventName": l.EventName(), "Body": l.Body().AsString(), "ScopeName": s.Scope().Name()})
			}
		}
	}
	return nil
}

func spanRows(line []byte) error {
	all, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
	if err != nil {
		return err
	}
	for _, r := range all.ResourceSpans().All() {
		for _, s := range r.ScopeSpans().All() {
			for _, p := range s.Spans().All() {
				row(p.StartTimestamp(), p.TraceID(), p.SpanID(), r.Resource().Attributes(),
					p.Attributes(), "SpanAttributes", map[string]any{
						"ParentSpanId": p.ParentSpanID().String(),
						"SpanName": p.Name(), "SpanKind": p.Kind().String(),
						"Duration":  uint64(p.EndTimestamp() - p.StartTimestamp()),
						"ScopeName": s.Scope().Name()})
			}
		}
	}
	return nil
}

func stacks(line []byte) error {
	all, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(line)
	if err != nil {
		return err
	}
	d := all.Dictionary()
	words := d.StringTable().At
	for _, r := range all.ResourceProfiles().All() {
		resource(r.Resource(), r.SchemaUrl())
		for _, s := range r.ScopeProfiles().All() {
			scope(s.Scope(), s.SchemaUrl())
			for _, p := range s.Profiles().All() {
				fmt.Fprintf(&out, "profile %s %s %d %d", words(int(p.SampleType().TypeStrindex())),
					words(int(p.SampleType().UnitStrindex())), p.Time(), p.DurationNano())
				for _, i := range p.AttributeIndices().All() {
					a := d.AttributeTable().At(int(i))
					fmt.Fprintf(&out, " %s=%s", words(int(a.KeyStrindex())), a.Value().AsString())
				}
				fmt.Fprintln(&out)
				for _, sample := range p.Samples().All() {
					records++
					var frames []string
					for _, i := range sample.AttributeIndices().All() {
						a := d.AttributeTable().At(int(i))
						frames = append(frames, words(int(a.KeyStrindex()))+"="+a.Value().AsString())
					}
					at := d.StackTable().At(int(sample.StackIndex())).LocationIndices().AsRaw()
					for i := len(at) - 1; i >= 0; i-- {
						l := d.LocationTable().At(int(at[i]))
						f := d.FunctionTable().At(int(l.Lines().At(0).FunctionIndex()))
						kind := d.AttributeTable().At(int(l.AttributeIndices().At(0)))
						frames = append(frames, words(int(f.NameStrindex()))+"@"+kind.Value().AsString())
					}
					link := d.LinkTable().At(int(sample.LinkIndex()))
					trace, span := link.TraceID(), link.SpanID()
					if trace != pcommon.TraceID([16]byte{}) {
						frames = append(frames, fmt.Sprintf("%x/%x", trace[:], span[:]))
					}
					fmt.Fprintln(&out, strings.Join(frames, ";"), sample.Values().At(0))
				}
			}
		}
	}
	return nil
}

func main() {
	read := map[string]func([]byte) error{"logs": logs, "spans": spans,
		"log-rows": logRows, "span-rows": spanRows, "stacks": stacks}[os.Args[1]]
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<26)
	for in.Scan() {
		lines++
		if err := read(in.Bytes()); err != nil {
			fmt.Fprintf(os.Stderr, "line %d is refused: %v\n", lines, err)
			os.Exit(1)
		}
	}
	if !strings.HasSuffix(os.Args[1], "-rows") {
		fmt.Fprintln(&out, lines, "lines", resources, "resources", records, "records")
	}
	os.Stdout.Write(out.Bytes())
}
