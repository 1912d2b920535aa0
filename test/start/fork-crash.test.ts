import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { workspace } from '../workspace.ts'
import { Child, run, temporaryFolder, until } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
const MEGABYTES = 8
/** From the answer to the kill: before the pool is created, while it is filled, while it is packed. */
const DELAYS = [0, 30, 60, 120, 250]

test('kill -9 in the middle of forks: each is completed by the next start', { timeout: 240_000 }, async () => {
  await using folder = await temporaryFolder()
  await using work = await workspace()
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_SSH_PORT: 'off',
    MORTISE_LOG: 'warn',
    MORTISE_ROOT_TOKEN,
  }
  await work.git('init', '-q', 'src')
  // Random bytes cannot be compressed: trying would take longer than everything else.
  for (const name of ['core.compression', 'pack.window']) await work.git('-C', 'src', 'config', name, '0')
  const forks: number[] = []
  const tips: string[] = []
  let interrupted = 0
  for (const [round, delay] of DELAYS.entries()) {
    await using child = new Child(['serve'], settings)
    const url = await child.url()
    const source = await call(url, '/projects', { path: `source${round}`, visibility: 'public' })
    await work.git('-C', 'src', 'checkout', '-q', '--orphan', `round${round}`)
    for (let n = 0; n < MEGABYTES; n++) await writeFile(join(work.folder, 'src', `f${n}`), randomBytes(1 << 20))
    await work.git('-C', 'src', 'add', '-A')
    await work.git('-C', 'src', 'commit', '-qm', `Round ${round}`)
    tips.push((await work.git('-C', 'src', 'rev-parse', 'HEAD')).stdout)
    const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + `/root/source${round}.git`
    expect(await work.git('-C', 'src', 'push', '-q', address, 'HEAD:refs/heads/trunk')).toMatchObject({ code: 0 })
    const path = `fork${round}`
    const fork = await call(url, `/projects/${source.id}/fork`, { name: path, path })
    expect(fork.import_status).toBe('scheduled')
    forks.push(fork.id)
    await sleep(delay)
    child.process.kill('SIGKILL')
    await child.ended()
    interrupted += await endLeases(folder.path)
  }
  expect(interrupted).toBeGreaterThan(0)
  await using child = new Child(['serve'], settings)
  const url = await child.url()
  for (const [round, id] of forks.entries()) {
    await until(async () => (await call(url, `/projects/${id}`)).import_status === 'finished', { every: 100 })
    const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + `/root/fork${round}.git`
    const { stdout } = await work.git('ls-remote', address, 'refs/heads/trunk')
    expect(stdout.slice(0, 40)).toBe(tips[round])
  }
  await expect
    .poll(async () => (await run(['check'], settings)).stdout, { timeout: 60_000, interval: 1000 })
    .toMatch(/^15 repositories checked, 0 with errors$/m)
})

async function call(url: string, path: string, body?: object): Promise<{ id: number; import_status: string }> {
  const input = body && { method: 'POST', body: JSON.stringify(body) }
  const answer = await fetch(`${url}/api/v4${path}`, { headers: HEADERS, ...input })
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as { id: number; import_status: string }
}

/** As if the minute had passed for which a dead process keeps its leases. Returns the number of forks in progress. */
async function endLeases(data: string): Promise<number> {
  const store = await openStore(join(data, 'mortise.sqlite'), { durable: false, shared: true, poolSize: 1 })
  const left = await store.db
    .updateTable('jobs')
    .set({ lease_until: null })
    .where('lease_until', 'is not', null)
    .returning('name')
    .execute()
  await store.close()
  return left.filter(({ name }) => name === 'projects.fork').length
}
