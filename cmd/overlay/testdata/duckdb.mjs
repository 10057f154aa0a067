// A stand-in for the program duckdb in tests, made of the package @duckdb/node-api: reads SQL from standard input and prints
// the rows of the last statement as CSV or as JSON.
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'

const require = createRequire(process.env.OVERLAY_DUCKDB + '/')
const { DuckDBInstance } = require('@duckdb/node-api')

try {
  const db = await (await DuckDBInstance.create(':memory:')).connect()
  const statements = await db.extractStatements(readFileSync(0, 'utf8'))
  let reader
  for (let i = 0; i < statements.count; i++) {
    const prepared = await statements.prepare(i)
    reader = await prepared.runAndReadAll()
  }
  const names = reader.deduplicatedColumnNames()
  const plain = v => v === null || typeof v === 'number' || typeof v === 'boolean' || typeof v === 'string' ? v : Number(v.toString())
  const rows = reader.getRows().map(row => row.map(plain))
  if (process.argv.includes('-json') || process.argv.includes('-jsonlines')) {
    const list = rows.map(row => JSON.stringify(Object.fromEntries(names.map((n, i) => [n, row[i]]))))
    process.stdout.write(process.argv.includes('-json') ? '[' + list.join(',\n') + ']\n' : list.map(l => l + '\n').join(''))
  } else {
    const field = v => v === null ? '' : /[",\n]/.test(String(v)) ? '"' + String(v).replaceAll('"', '""') + '"' : String(v)
    process.stdout.write([names, ...rows].map(row => row.map(field).join(',') + '\n').join(''))
  }
} catch (e) {
  process.stderr.write(e.message + '\n')
  process.exit(1)
}
