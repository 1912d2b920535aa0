/** CPU time of `startForge()` in a test process: the first start, later ones, and a reset. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Bench } from './bench.ts'
import { median } from './load.ts'
import { ms, type Row } from './table.ts'

const run = promisify(execFile)
const NEXT = 10
const DEADLINE_MS = 120_000

/** As users of the package have it: the build, or the sources. */
const DOOR = ['../dist/forge.js', '../src/forge.ts']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url))!

const PROGRAM = `
  const { startForge } = await import(${JSON.stringify(DOOR.href)})
  const took = async (work) => {
    const before = process.cpuUsage()
    const result = await work()
    const { user, system } = process.cpuUsage(before)
    return { result, ms: (user + system) / 1000 }
  }
  const options = { databaseUrl: process.argv[1] || undefined }
  const times = { first: 0, next: [], reset: [] }
  for (let n = 0; n <= ${NEXT}; n++) {
    const { result: forge, ms } = await took(() => startForge(options))
    if (n === 0) times.first = ms
    else times.next.push(ms)
    times.reset.push((await took(() => forge.reset())).ms)
    await forge.close()
  }
  console.log(JSON.stringify(times))`

interface Times {
  readonly first: number
  readonly next: number[]
  readonly reset: number[]
}

export async function forgeRows({ effort, postgres }: Bench): Promise<Row[]> {
  const rounds: Times[] = []
  for (let round = 0; round < effort.starts; round++) {
    const args = ['--input-type=module', '--eval', PROGRAM, postgres ?? '']
    const { stdout } = await run(process.execPath, args, { timeout: DEADLINE_MS })
    rounds.push(JSON.parse(stdout) as Times)
  }
  const row = (what: string, limit: number, times: readonly number[]): Row => {
    const ours = median(times)
    return { what, ours: ms(ours), floor: '', ratio: null, target: `< ${limit} ms`, met: ours < limit }
  }
  return [
    row(
      'processor time of the first startForge()',
      300,
      rounds.map(({ first }) => first),
    ),
    row(
      'processor time of the next startForge()',
      30,
      rounds.flatMap(({ next }) => next),
    ),
    row(
      'processor time of reset()',
      20,
      rounds.flatMap(({ reset }) => reset),
    ),
  ]
}
