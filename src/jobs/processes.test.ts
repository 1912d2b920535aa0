import { expect, test } from 'vitest'
import { HOUR } from '../clock.ts'
import { job, type App } from '../context.ts'
import { startForge, type TestForge } from '../forge.ts'
import { PROCESS_TAG, hasMemberEnded } from '../lib/async/process-tag.ts'
import { LEASE_MS } from './bookkeeping.ts'
import { findRunning, MISSED_BEATS, ProcessWatch } from './processes.ts'
import { enqueue, type Job } from './queue.ts'
import { startWorker } from './worker.ts'

const [PLACE, PID, START] = PROCESS_TAG.split('_')
/** No process has this pid: it is above the system's maximum. */
const KILLED = `${PLACE}_99999999_1_aaaaaaaa`
/** The pid was reused by this process. */
const REUSED = `${PLACE}_${PID}_${Number(START) - 1}_aaaaaaaa`
/** Another forge of this process, which was not closed. */
const DROPPED = `${PROCESS_TAG}_aaaaaaaa`
const ELSEWHERE = '00000000_1_1_aaaaaaaa'

const register = ({ app }: TestForge, tag: string) => app.db.insertInto('processes').values({ tag, beats: 1 }).execute()

const registered = async ({ app }: TestForge) =>
  (await app.db.selectFrom('processes').select('tag').orderBy('tag').execute()).map(({ tag }) => tag)

/** A job that the process claimed and did not finish, with a count of later runs. */
async function claimedBy(forge: TestForge, lease_holder: string) {
  let runs = 0
  const slow = job('test.slow', async () => void runs++)
  await forge.stopWorker()
  await enqueue(forge.app, slow, {})
  const lease_until = new Date(forge.clock.now().getTime() + LEASE_MS).toISOString()
  await forge.app.db.updateTable('jobs').set({ lease_until, lease_holder }).where('name', '=', slow.name).execute()
  const worker = startWorker(forge.app, { jobs: [slow as Job<App, never>], subscriptions: [] })
  const settle = async () => {
    await worker.settle()
    return runs
  }
  return { settle, [Symbol.asyncDispose]: worker.stop }
}

test.each([
  ['that was killed', KILLED],
  ['whose number another process has now', REUSED],
  ['that this process has dropped', DROPPED],
])('the lease of a process %s is free at the next look', async (_, tag) => {
  await using forge = await startForge()
  await register(forge, tag)
  await using claimed = await claimedBy(forge, tag)
  expect(await claimed.settle()).toBe(0)
  await new ProcessWatch(forge.app, []).look()
  expect(await registered(forge)).toEqual([forge.app.holder])
  expect(await claimed.settle()).toBe(1)
})

test('the lease of a process that lives is kept', async () => {
  await using forge = await startForge()
  await using claimed = await claimedBy(forge, forge.app.holder)
  const watch = new ProcessWatch(forge.app, [])
  for (let looks = 0; looks <= 2 * MISSED_BEATS; looks++) await watch.look()
  expect(await claimed.settle()).toBe(0)
})

test('a process elsewhere is gone when its row has stayed the same for several looks', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  await register(forge, ELSEWHERE)
  await using claimed = await claimedBy(forge, ELSEWHERE)
  const watch = new ProcessWatch(forge.app, [])
  const beat = () =>
    db
      .updateTable('processes')
      .set((eb) => ({ beats: eb('beats', '+', 1) }))
      .execute()
  for (let looks = 0; looks <= 2 * MISSED_BEATS; looks++) {
    await beat()
    await watch.look()
  }
  for (let looks = 1; looks < MISSED_BEATS; looks++) await watch.look()
  expect([await registered(forge), await claimed.settle()]).toEqual([[ELSEWHERE, forge.app.holder].toSorted(), 0])
  expect(hasMemberEnded(ELSEWHERE.slice(0, -9))).toBe(false)
  await watch.look()
  expect([await registered(forge), await claimed.settle()]).toEqual([[forge.app.holder], 1])
  await watch.look()
  expect(hasMemberEnded(ELSEWHERE.slice(0, -9))).toBe(true)
})

test('a job that finishes what a killed process left runs as soon as that is found', async () => {
  await using forge = await startForge()
  await register(forge, KILLED)
  const names = ['test.recovery', 'test.other']
  await forge.stopWorker()
  for (const name of names) await enqueue(forge.app, { name }, {}, { delay: HOUR })
  await new ProcessWatch(forge.app, [names[0]!]).look()
  const now = forge.clock.now().toISOString()
  const due = await forge.app.db
    .selectFrom('jobs')
    .select('name')
    .where('name', 'in', names)
    .where('run_at', '<=', now)
    .execute()
  expect(due).toEqual([{ name: names[0] }])
})

test('a forge takes its row along', async () => {
  await using forge = await startForge()
  expect(await registered(forge)).toEqual([forge.app.holder])
})

test('a running process is one that lives here, or whose row changes', async () => {
  await using forge = await startForge()
  const { db, holder } = forge.app
  expect(await findRunning(db)).toEqual([holder])
  expect(await findRunning(db, holder)).toEqual([])
  await db.deleteFrom('processes').execute()
  for (const tag of [KILLED, REUSED, ELSEWHERE]) await register(forge, tag)
  let pauses = 0
  expect(await findRunning(db, holder, async () => void pauses++)).toEqual([])
  expect(pauses).toBe(MISSED_BEATS)
  const beat = () => db.updateTable('processes').set({ beats: ++pauses }).where('tag', '=', ELSEWHERE).execute()
  expect(await findRunning(db, holder, beat)).toEqual([ELSEWHERE])
})
