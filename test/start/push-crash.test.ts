import { watch } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import type { Events } from '../../src/store/database.ts'
import { workspace } from '../workspace.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const TRUNK = 'refs/heads/trunk'

type Kill = (child: Child, data: string) => Promise<void>

const after =
  (ms: number): Kill =>
  async (child) => {
    await sleep(ms)
    child.process.kill('SIGKILL')
  }

/** The moment when the branch has moved for the n-th time: its event is not written yet. */
const onceMoved =
  (times: number): Kill =>
  async (child, data) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let left = times
    using _ = watching(newestBranches(data), (name) => {
      if (name !== 'trunk' || --left > 0) return
      child.process.kill('SIGKILL')
      resolve()
    })
    await promise
  }

function watching(folder: string, onName: (name: string | null) => void): Disposable {
  const watcher = watch(folder, (kind, name) => kind === 'rename' && onName(name))
  return { [Symbol.dispose]: () => watcher.close() }
}

/** The branches folder of the newest project. */
function newestBranches(data: string): string {
  const [made] = read<{ disk_path: string }>(data, 'select disk_path from projects order by id desc limit 1')
  return join(data, 'repositories', made!.disk_path, 'refs/heads')
}

function read<R>(data: string, query: string): R[] {
  const store = new Database(join(data, 'mortise.sqlite'), { readonly: true })
  try {
    return store.prepare(query).all() as R[]
  } finally {
    store.close()
  }
}

// The first kill hits a first push, the others any step, and the step between ref update and event.
const ROUNDS: Kill[] = [after(60), after(350), after(650), onceMoved(1), onceMoved(2), onceMoved(4)]

test(
  'kill -9 in the middle of pushes leaves sound repositories, a database that agrees, and nothing untold',
  { timeout: 300_000 },
  async () => {
    await using folder = await temporaryFolder()
    await using work = await workspace()
    const settings = {
      MORTISE_DATA: folder.path,
      MORTISE_PORT: '0',
      MORTISE_SSH_PORT: 'off',
      MORTISE_LOG: 'warn',
      MORTISE_ROOT_TOKEN,
    }
    const { git } = work
    await git('init', '-q', '-b', 'trunk', 'src')
    const acknowledged = new Map<string, string>()
    let lost = 0
    for (const [round, kill] of ROUNDS.entries()) {
      await using child = new Child(['serve'], settings)
      const url = await child.url()
      const project = `round${round}`
      await fetch(`${url}/api/v4/projects`, {
        method: 'POST',
        headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' },
        body: JSON.stringify({ path: project }),
      })
      const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + `/root/${project}.git`
      const killing = kill(child, folder.path)
      for (let n = 0; ; n++) {
        await writeFile(join(work.folder, 'src', `file${n % 7}`), `${project} ${n} ${'x'.repeat(50_000 * (n % 3))}`)
        await git('-C', 'src', 'add', '-A')
        await git('-C', 'src', 'commit', '-qm', `Work ${round} ${n}`)
        const tip = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
        const { code } = await git('-C', 'src', 'push', '-q', address, `HEAD:${TRUNK}`)
        if (code !== 0) break
        acknowledged.set(project, tip)
      }
      lost++
      await killing
    }
    expect(lost).toBe(ROUNDS.length)

    await using child = new Child(['serve'], settings)
    const url = await child.url()
    const found = new Map<string, string | null>()
    for (const round of ROUNDS.keys()) {
      const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + `/root/round${round}.git`
      const { stdout } = await git('ls-remote', address, TRUNK)
      found.set(`round${round}`, stdout.slice(0, 40) || null)
    }
    for (const [project, tip] of acknowledged) {
      // An unacknowledged push may have arrived all the same.
      const { code } = await git('-C', 'src', 'merge-base', '--is-ancestor', tip, found.get(project)!)
      expect([project, code]).toEqual([project, 0])
    }
    // The killed process left a record of the intended ref updates: the next process emits the events of those that
    // happened.
    await expect
      .poll(() => Object.fromEntries(reportedIn(folder.path)), { timeout: 25_000, interval: 100 })
      .toEqual(Object.fromEntries([...found].filter(([, tip]) => tip !== null)))
    await expect
      .poll(async () => checked(settings), { timeout: 60_000, interval: 1000 })
      .toMatch(/^\d+ repositor(y|ies) checked, 0 with errors$/m)
  },
)

/** The results of the ref updates in the events, one after the other from nothing; each must be emitted once. */
function reportedIn(data: string): Map<string, string | null> {
  const events = read<{ path: string; payload: string }>(
    data,
    `select p.path, e.payload from events e join projects p on p.id = json_extract(e.payload, '$.project_id')
     where e.name = 'repository.changed'`,
  )
  const byProject = Map.groupBy(events, ({ path }) => path)
  return new Map(
    [...byProject].map(([path, reported]) => {
      const updates = reported.flatMap(({ payload }) => (JSON.parse(payload) as Events['repository.changed']).updates)
      const next = new Map(updates.map(({ before, after }) => [before, after]))
      expect([path, next.size]).toEqual([path, updates.length])
      let tip: string | null = null
      for (const _ of updates) tip = next.get(tip) ?? null
      return [path, tip]
    }),
  )
}

async function checked(settings: Record<`MORTISE_${string}`, string>): Promise<string> {
  await using child = new Child(['check'], settings)
  await child.ended()
  return child.stdout
}
