// SPDX-License-Identifier: ISC
// run.mjs RECORDS FILE... - load lines of JSON into ClickHouse after the first SQL file, into TABLE
// or records, and run the statements of the others; print each row of the queries with tabs between
// the values, and an empty line after each query
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.PACKAGES + "/");
const { Session } = require("chdb");
const [records, ...files] = process.argv.slice(2);
const session = new Session();

// in a database of its own, because the default one has the files of this directory as tables
session.query("CREATE DATABASE tfs");
session.query("USE tfs");

function statements(file) {
	return readFileSync(file, "utf8").replace(/^--.*$/gm, "").split(/;\s*$/m)
		.map((s) => s.trim()).filter((s) => s);
}

for (const [i, file] of files.entries()) {
	for (const statement of statements(file)) {
		const started = process.hrtime.bigint();
		const out = session.query(statement, "TSV");

		if (process.env.TIMES)
			console.error(`${(process.hrtime.bigint() - started) / 1000000n} ms`);
		if (i)
			process.stdout.write(out + "\n");
	}
	if (!i)
		for (const part of records.split(","))
			session.query(`INSERT INTO ${process.env.TABLE ?? "records"}
				SELECT * FROM file('${part}', JSONEachRow)
				SETTINGS input_format_skip_unknown_fields = 1`);
}
session.cleanup?.();
