import { expect, test } from 'vitest'
import {
  type Body,
  call,
  commit,
  expectClean,
  expectCutOff,
  inStore,
  settled,
  stage,
  start,
  tipOf,
  mergeEventsIn,
  withInstance,
} from './merge-crash.ts'

const PUSH = [
  ['before the refs move', 'after ^insert into "pending_changes"', false],
  ['after the refs moved', 'before ^delete from "pending_changes"', true],
  ['after it was told', 'after ^insert into "events".*repository.changed', true],
  ['before there is a version', 'anyone before ^insert into "merge_request_versions"', true],
  ['after there is a version', 'anyone after ^insert into "merge_request_versions"', true],
] as const

test('kill -9 at each step of create, push and rebase: one version for each head', { timeout: 400_000 }, () =>
  withInstance(async (settings, database) => {
    const rounds: { name: string; at: string; moves: boolean | null; was: string }[] = []
    const dies = async (
      name: string,
      die: string,
      moves: boolean | null,
      work: (url: string, at: string) => Promise<unknown>,
    ) => {
      await using child = start(settings)
      const url = await child.url()
      const { at, one } = await stage(url, `round${rounds.length}`)
      rounds.push({ name, at, moves, was: one.sha })
      await expectCutOff(work(url, at), die)
      expect(await child.ended()).toBe('SIGKILL')
    }
    for (const [step, die, moves] of PUSH) {
      await dies(`push ${step}`, die, moves, (url, at) => commit(url, at, 'feature', 'c.txt', undefined, die))
      // A rebase emits the same events as any push.
      if (step !== 'after it was told' && step !== 'after there is a version')
        await dies(`rebase ${step}`, die, moves, async (url, at) => {
          await commit(url, at, 'master', 'd.txt')
          await call(url, 'PUT', `${at}/merge_requests/1/rebase`, {}, die)
        })
    }
    for (const die of ['before ^insert into "merge_requests"', 'after ^insert into "merge_requests"']) {
      await dies(`create: ${die}`, die, null, async (url, at) => {
        await commit(url, at, 'other', 'e.txt', 'master')
        const input = { source_branch: 'other', target_branch: 'master', title: 'Another' }
        await call(url, 'POST', `${at}/merge_requests`, input, die)
      })
    }

    await using child = start(settings)
    const url = await child.url()
    await settled(database)
    await mergeEventsIn(database)
    for (const { name, at, moves, was } of rounds) {
      const [one, tip] = [await call(url, 'GET', `${at}/merge_requests/1`), await tipOf(url, at, 'feature')]
      expect([name, one.sha, one.sha !== was]).toEqual([name, tip, moves ?? false])
      const versions = (await call(url, 'GET', `${at}/merge_requests/1/versions`)) as unknown as Body[]
      expect([name, versions.map(({ head_commit_sha }) => head_commit_sha)]).toEqual([name, moves ? [tip, was] : [was]])
      expect([name, one.merge_status]).toEqual([name, 'can_be_merged'])
      const heads = await headsOf(database, at)
      const iids = heads.map(({ iid }) => iid)
      expect([name, await headRefsOf(url, at, iids)]).toEqual([name, heads])
    }
    // A merge request that was not created can be created now.
    const { at } = rounds.at(-2)!
    const input = { source_branch: 'other', target_branch: 'master', title: 'Another' }
    expect(await call(url, 'POST', `${at}/merge_requests`, input)).toMatchObject({ state: 'opened' })
    await expectClean(settings)
  }),
)

const headsOf = (database: string, at: string) =>
  inStore(database, (db) =>
    db
      .selectFrom('merge_requests')
      .select(['iid', 'head_sha'])
      .where('project_id', '=', Number(at.split('/').at(-1)))
      .orderBy('iid')
      .execute(),
  )

/** The refs as a client that asks for them by name gets them. */
async function headRefsOf(url: string, at: string, iids: readonly number[]): Promise<Body[]> {
  const found = []
  for (const iid of iids) {
    const name = encodeURIComponent(`refs/merge-requests/${iid}/head`)
    found.push({ iid, head_sha: (await call(url, 'GET', `${at}/repository/commits/${name}`)).id })
  }
  return found
}
