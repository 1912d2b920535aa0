/**
 * kill -9 at random moments: `npm run trials -- --trials 500 --seed 1 --store postgres` runs many. After each kill the
 * server starts, nothing that was answered is lost, all work is resumed soon, and `mortise check` finds nothing.
 */
import { appendFile, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { deliveryReceiver } from '../delivery-receiver.ts'
import { runGit } from '../git-origin.ts'
import { type Outcomes, outcomesOf } from './kill-ledger.ts'
import { KINDS, source } from './kill-mix.ts'
import { RECORD_KINDS, recordsOrigin, recordsTrial } from './kill-records.ts'
import { workTrial } from './kill-work.ts'
import { temporaryFolder, type Child, run } from './command.ts'
import { type Settings, call, start, withInstance } from './merge-crash.ts'

const TRIALS = Number(process.env.MORTISE_KILL_TRIALS ?? 4)
const SEED = Number(process.env.MORTISE_KILL_SEED ?? 9)
/** A file for the results, trial by trial. */
const REPORT = process.env.MORTISE_KILL_REPORT
/**
 * A run with at least this many trials is long: each kind must have been answered often, and all must be resumed in the
 * promised time.
 */
const MANY = 40
/** Some trials use one instance: damage by a trial is found later too. */
const TRIALS_AN_INSTANCE = 12
const RESUMED_MS = 10_000
const CHECKS = 5

/** mulberry32. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const ALL_KINDS = [...KINDS, ...RECORD_KINDS]

function printed(table: Outcomes, kills: number, faults: readonly string[]): string {
  const line = (cells: readonly (string | number)[]) =>
    cells
      .map((cell) => String(cell).padEnd(16))
      .join('')
      .trimEnd()
  const rows = ALL_KINDS.map((kind) => {
    const { acknowledged, cutOff, happened, lost, resumed } = table[kind]!
    const outcome = happened > 0 ? `${cutOff}, ${happened} done` : cutOff
    return line([kind, acknowledged, outcome, lost.length, `${Math.round(resumed)} ms`])
  })
  const head = line(['kind', 'acknowledged', 'interrupted', 'lost', 'longest resume'])
  return [`${kills} kills (seed ${SEED}), ${faults.length} failed`, head, ...rows, ...faults, ''].join('\n')
}

function add(table: Outcomes, outcomes: Outcomes): void {
  for (const [kind, { acknowledged, cutOff, happened, lost, resumed }] of Object.entries(outcomes)) {
    const row = table[kind]!
    row.acknowledged += acknowledged
    row.cutOff += cutOff
    row.happened += happened
    row.lost.push(...lost)
    row.resumed = Math.max(row.resumed, resumed)
  }
}

/** The processes that a process has started, and those that these have started. */
async function descendantsOf(pid: number): Promise<number[]> {
  const parents = new Map<number, number>()
  for (const name of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
    parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0))
  }
  const found = [pid]
  for (const one of found) for (const [child, parent] of parents) if (parent === one) found.push(child)
  return found.slice(1)
}

/** As when the machine loses its power: what the server has started ends with it. */
async function killAll(server: Child): Promise<void> {
  for (const pid of [...(await descendantsOf(server.process.pid!)), server.process.pid!]) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** Work in the background may still be in the way for a moment. */
async function assertClean(settings: Settings): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { code, stdout, stderr } = await run(['check'], settings)
    if (code === 0) return
    if (attempt === CHECKS) throw new Error(`mortise check: ${stdout}${stderr}`)
    await sleep(1000)
  }
}

async function assertProven(archive: string, settings: Settings): Promise<void> {
  const { code, stdout, stderr } = await run(['backup', 'verify', archive], settings)
  if (code !== 0) throw new Error(`mortise backup verify: ${stdout}${stderr}`)
}

async function assertConnected({ MORTISE_DATA }: Settings): Promise<void> {
  const root = join(MORTISE_DATA!, 'repositories')
  for (const path of (await readdir(root, { recursive: true })).filter((path) => path.endsWith('.git')))
    await runGit([`--git-dir=${join(root, path)}`, 'fsck', '--connectivity-only', '--no-dangling', '--no-progress'])
}

test(
  `${TRIALS} times kill -9 while everything goes on (seed ${SEED})`,
  { timeout: 60_000 + TRIALS * 90_000 },
  async () => {
    await using receiver = await deliveryReceiver()
    await using pushed = await source()
    await using origin = await recordsOrigin()
    const table = outcomesOf(ALL_KINDS)
    const faults: string[] = []
    let kills = 0

    /** Returns how many of the trials were run: a failure ends the instance. */
    const runSome = async (numbers: readonly number[], isContinuous: boolean): Promise<number> => {
      let done = 0
      await using folder = await temporaryFolder()
      const archive = join(folder.path, 'backup')
      await withInstance(async (settings, database) => {
        const backup = { MORTISE_BACKUP_URL: archive, MORTISE_BACKUP_VERIFY: 'off' }
        const serving: Settings = isContinuous ? { ...settings, ...backup } : settings
        let child = start(serving)
        try {
          let url = await child.url()
          await call(url, 'PUT', '/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
          for (const n of numbers) {
            done++
            const next = random(SEED * 100_003 + n)
            const isWhole = next() < 0.5
            const name = `trial${n}`
            const aim = RECORD_KINDS[(n - Math.floor(n / 3) - 1 + SEED) % RECORD_KINDS.length]!
            const kill = async () => {
              kills++
              if (isWhole) await killAll(child)
              else child.process.kill('SIGKILL')
              await child.ended()
            }
            const restart = async () => {
              child = start(serving)
              return (url = await child.url())
            }
            const round = { name, next, settings, database, url, receiver, kill, restart }
            // Every third trial is one of concurrent work on a project.
            const outcomes =
              n % 3 === 0
                ? await workTrial({ ...round, source: pushed })
                : await recordsTrial({ ...round, aim, archive, isContinuous, origin })
            add(table, outcomes)
            const lost = Object.values(outcomes).flatMap((outcome) => outcome.lost)
            const longest = Math.max(...Object.values(outcomes).map((outcome) => outcome.resumed))
            await report(`${name} ${n % 3 === 0 ? 'work' : aim}: ${lost.length} lost, ${Math.round(longest)} ms`)
            if (lost.length > 0) throw new Error(`${name}, ${aim}: ${lost.join('; ')}`)
            await assertClean(settings)
          }
          await assertConnected(settings)
          if (isContinuous) await assertProven(archive, settings)
        } catch (error) {
          faults.push(`${inspect(error)}\n${child.stderr}`)
          await report(faults.at(-1)!)
        } finally {
          await child[Symbol.asyncDispose]()
        }
      })
      return done
    }

    try {
      const numbers = Array.from({ length: TRIALS }, (_, n) => n)
      let instances = 0
      for (let at = 0; at < TRIALS; instances++)
        at += Math.max(1, await runSome(numbers.slice(at, at + TRIALS_AN_INSTANCE), instances % 2 === 0))
    } finally {
      process.stdout.write(printed(table, kills, faults))
    }
    expect(faults).toEqual([])
    const longest = Math.max(...ALL_KINDS.map((kind) => table[kind]!.resumed))
    expect(longest).toBeLessThan(TRIALS > MANY ? RESUMED_MS : 2.5 * RESUMED_MS)
    expect(ALL_KINDS.filter((kind) => TRIALS >= MANY && table[kind]!.acknowledged < TRIALS / 10)).toEqual([])
  },
)

async function report(line: string): Promise<void> {
  if (REPORT) await appendFile(REPORT, `${new Date().toISOString()} ${line}\n`)
}
