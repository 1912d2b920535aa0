/**
 * Several processes are asked to merge the same merge request at once: one merges, the others answer that it is not
 * open.
 */
import { expect, test } from 'vitest'
import { Child } from './command.ts'
import {
  MORTISE_ROOT_TOKEN,
  call,
  commit,
  expectClean,
  inStore,
  settled,
  stage,
  mergeEventsIn,
  withInstance,
  type Body,
} from './merge-crash.ts'

// One connection per request, so that both processes are used.
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const ROUNDS = 6
const CALLS = 6

test('of two processes that accept one merge request, one merges it', { timeout: 240_000 }, () =>
  withInstance(async (settings, database) => {
    await using child = new Child(['serve'], { ...settings, MORTISE_WORKERS: '2', MORTISE_LOG: 'info' })
    const url = await child.url()
    const { at, one } = await stage(url, 'engine')
    const made = [one]
    for (let n = 1; n < ROUNDS; n++) {
      await commit(url, at, `source${n}`, `n${n}.txt`, 'master')
      const input = { source_branch: `source${n}`, target_branch: 'master', title: `n${n}` }
      made.push(await call(url, 'POST', `${at}/merge_requests`, input))
    }
    const shas: string[] = []
    for (const { iid, id } of made) {
      const accept = async () => {
        const path = `${url}/api/v4${at}/merge_requests/${iid}/merge`
        const answer = await fetch(path, { method: 'PUT', headers: HEADERS, body: '{}' })
        return { status: answer.status, body: (await answer.json()) as Body }
      }
      const answers = await Promise.all(Array.from({ length: CALLS }, accept))
      const merged = answers.filter(({ status }) => status === 200)
      expect(merged).toMatchObject([{ body: { id, state: 'merged' } }])
      const refused = answers.filter(({ status }) => status !== 200)
      for (const answer of refused)
        expect(answer).toEqual({ status: 406, body: { message: expect.stringContaining('Method Not Allowed') } })
      shas.push(merged[0]!.body.merge_commit_sha)
    }
    await settled(database)
    const history = (await call(url, 'GET', `${at}/repository/commits?first_parent=true`)) as unknown as Body[]
    expect(history.map(({ id }) => id).slice(0, ROUNDS)).toEqual(shas.toReversed())
    expect(history).toHaveLength(ROUNDS + 1)
    const events = await mergeEventsIn(database)
    expect(made.map(({ id }) => events.get(id)?.length)).toEqual(made.map(() => 1))
    const pids = child.lines.logged.filter(({ msg }) => msg === 'worker process is ready').map(({ pid }) => pid)
    expect(new Set(pids).size).toBe(2)
    const left = await inStore(database, (db) => db.selectFrom('pending_changes').select('id').execute())
    expect(left).toEqual([])
    child.process.kill('SIGTERM')
    expect(await child.ended()).toBe(0)
    await expectClean(settings)
  }),
)
