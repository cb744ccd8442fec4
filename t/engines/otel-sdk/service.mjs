// SPDX-License-Identifier: ISC
// service.mjs PACKAGES ADDON REQUESTS - a service of three processes, whose spans OpenTelemetry's SDK makes
//
// Each request goes from the first process to the second and the third one, and its W3C context with
// it. Each process makes a span for it, publishes that by the addon (publish.c), and calls
// statx("/nowhere/SPAN"), so that the call itself tells its span. Four requests are under way at once.
// The first process prints "ready", and waits for a line. Each process writes its spans to spans.N, as
// lines of OTLP's JSON.
import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";

const [packages, addon, requests, number] = process.argv.slice(2);
const require = createRequire(packages + "/");
const { ROOT_CONTEXT, trace } = require("@opentelemetry/api");
const { W3CTraceContextPropagator } = require("@opentelemetry/core");
const { JsonTraceSerializer } = require("@opentelemetry/otlp-transformer");
const { resourceFromAttributes } = require("@opentelemetry/resources");
const { SimpleSpanProcessor, TracerProvider } = require("@opentelemetry/sdk-trace");
const publish = require(addon);
const mine = Number(number ?? 1);

let ended = [];
function write() {
	if (ended.length)
		appendFileSync("spans." + mine,
			new TextDecoder().decode(JsonTraceSerializer.serializeRequest(ended)) + "\n");
	ended = [];
}
process.on("exit", write);
const exporter = {
	export(spans, done) {
		ended.push(...spans);
		if (ended.length >= 500)
			write();
		done({ code: 0 });
	},
	async shutdown() {},
};
const provider = new TracerProvider({
	resource: resourceFromAttributes({ "service.name": "tier-" + mine }),
	spanProcessors: [new SimpleSpanProcessor({ exporter })],
});
const tracer = provider.getTracer("service");
const propagator = new W3CTraceContextPropagator();
const carried = { get: (of, key) => of[key], keys: Object.keys, set: (of, key, v) => { of[key] = v; } };
const next = mine < 3 ? fork(process.argv[1], [packages, addon, requests, mine + 1]) : null;
const open = new Map();
let id = 0;

// Make the span of a request; go on with it in the next process, or answer.
function serve(request, answer) {
	const context = propagator.extract(ROOT_CONTEXT, request, carried);
	const span = tracer.startSpan("request", { kind: 1 }, context);
	const { traceId, spanId } = span.spanContext();
	const end = () => { span.end(); answer(request); };

	publish(traceId, spanId);
	statSync("/nowhere/" + spanId, { throwIfNoEntry: false });
	publish();
	if (!next)
		return end();
	const on = { id: ++id };
	propagator.inject(trace.setSpan(ROOT_CONTEXT, span), on, carried);
	open.set(on.id, end);
	next.send(on);
}

next?.on("message", (answer) => {
	if (answer === "ready")
		return;
	open.get(answer.id)();
	open.delete(answer.id);
});
if (next)
	await once(next, "message");
if (mine > 1) {
	process.on("message", (request) => serve(request, (r) => process.send({ id: r.id })));
	process.on("disconnect", () => next?.disconnect());
	process.send("ready");
} else {
	console.log("ready");
	await once(process.stdin, "data");
	let left = Number(requests), done = 0;
	const begin = () => left-- > 0 && serve({}, () => {
		if (++done == requests) {
			next.disconnect();
			process.stdin.destroy();
		} else {
			setImmediate(begin);
		}
	});
	for (let i = 0; i < 4; i++)
		begin();
}
