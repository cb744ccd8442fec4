// SPDX-License-Identifier: ISC
// run.mjs RECORDS FILE... - run the statements of SQL files over records; print each row of the
// queries with tabs between the values, and an empty line after each query. The database is the
// file DATABASE, or in memory.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(process.env.PACKAGES + "/");
const { DuckDBInstance } = require("@duckdb/node-api");
const [records, ...files] = process.argv.slice(2);
const connection = await (await DuckDBInstance.create(process.env.DATABASE ?? ":memory:")).connect();

await connection.run(`SET VARIABLE records = '${records}'`);
for (const file of files) {
	const extracted = await connection.extractStatements(readFileSync(file, "utf8"));

	for (let i = 0; i < extracted.count; i++) {
		const statement = await extracted.prepare(i);
		const started = process.hrtime.bigint();
		const result = await statement.run();
		const rows = await result.getRows();

		if (process.env.TIMES)
			console.error(`${files.length} ${i} ${(process.hrtime.bigint() - started) / 1000000n} ms`);
		if (!file.includes("quer"))
			continue;
		for (const row of rows)
			console.log(row.map((v) => v ?? "").join("\t"));
		console.log("");
	}
}
