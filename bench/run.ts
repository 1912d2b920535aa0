// Measures us against the floor and prints one table: `npm run bench -- [--quick] [--only start,list]`. `--pg <url>`,
// or scripts/with-postgres.ts in front, stores the data in PostgreSQL; `--workers 2` gives our servers that many
// processes; `--profile <folder>` takes CPU profiles of them. `--gigabytes 5` sets the size of the instance that is backed up.
import { availableParallelism, cpus, totalmem } from 'node:os'
import { parseArgs } from 'node:util'
import { testDatabaseUrl } from '../src/config.ts'
import { FULL, QUICK, openBench, type Bench } from './bench.ts'
import { measurements } from './rows.ts'
import { RATE_LIMIT } from './servers.ts'
import { megabytes, table, type Row } from './table.ts'

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true },
    pg: { type: 'string' },
    profile: { type: 'string' },
    workers: { type: 'string', default: '1' },
    gigabytes: { type: 'string' },
  },
})

type Name = keyof typeof measurements

function chosen(): Name[] {
  const known = Object.keys(measurements) as Name[]
  const requested = options.only?.flatMap((names) => names.split(',')) ?? known
  const unknown = requested.find((name) => !(known as string[]).includes(name))
  if (unknown !== undefined) throw new Error(`no row is called ${unknown}; there are ${known.join(', ')}`)
  return requested as Name[]
}

function facts({ postgres, effort, workers }: Bench): string {
  return [
    `${availableParallelism()} cores (${cpus()[0]?.model ?? 'unknown'}), ${megabytes(totalmem())}, node ${process.version}`,
    `store: ${postgres ? 'PostgreSQL' : 'SQLite'}; workers: ${workers}; log: default level, to /dev/null; MORTISE_RATE_LIMIT=${RATE_LIMIT}`,
    `floor: bare node:http, same bytes and headers; of ${effort.many} users, ${effort.few}; of per_page=100, per_page=20`,
    `rotating: 200 projects, 100 users, 20 tokens, a commit of another process after every 50 requests`,
    `medians of ${effort.rounds} rounds in turns; processor time of all threads${postgres ? ', and of the database' : ''}, per request`,
  ].join('\n')
}

// An interrupted run also ends its servers and deletes its folders, when this process exits.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const names = chosen()
const effort = options.quick ? QUICK : FULL
await using bench = openBench({
  effort: options.gigabytes ? { ...effort, backup: Number(options.gigabytes) * 1024 } : effort,
  postgres: options.pg ?? testDatabaseUrl(),
  profileInto: options.profile,
  workers: Number(options.workers),
})
const rows: Row[] = []
for (const name of names) {
  process.stderr.write(`${name} …\n`)
  rows.push(...(await measurements[name](bench)))
}
console.log(`${facts(bench)}\n\n${table(rows)}`)
