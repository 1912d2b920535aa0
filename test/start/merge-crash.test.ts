import { expect, test } from 'vitest'
import {
  type Body,
  MORTISE_ROOT_TOKEN,
  type Stage,
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

/**
 * Steps of a merge in order, and whether it is merged if the server dies there. The effects of a merge are done by the
 * request or by its event, whichever comes first.
 */
const ACCEPT = [
  ['before it is locked', 'before "locked"', false],
  ['after the lock', 'after "locked"', false],
  ['before the refs move', 'after ^insert into "pending_changes"', false],
  ['after the refs moved', 'before ^delete from "pending_changes"', true],
  ['after it was told', 'after ^insert into "events".*repository.changed', true],
  ['after the row says merged', 'after ^update "merge_requests".*"merged"', true],
  ['while the source branch is removed', 'anyone after ^insert into "pending_changes".*refs/heads/feature', true],
  ['after the source branch is removed', 'anyone before ^insert into "events".*refs/heads/feature', true],
  ['before the issue is closed', 'anyone before ^update "issues".*"closed"', true],
  ['after the issue is closed', 'anyone after ^update "issues".*"closed"', true],
] as const

test('kill -9 at each step of accept: merged everywhere or nowhere, told once', { timeout: 400_000 }, () =>
  withInstance(async (settings, database) => {
    const stages: Stage[] = []
    const inputs = [{}, { squash: true }]
    for (const [n, [, die]] of ACCEPT.entries()) {
      await using child = start(settings)
      const url = await child.url()
      const { at, one } = await stage(url, `round${n}`)
      if (n % 2) await commit(url, at, 'feature', 'c.txt')
      stages.push({ at, one })
      const input = { should_remove_source_branch: true, ...inputs[n % 2] }
      await expectCutOff(call(url, 'PUT', `${at}/merge_requests/1/merge`, input, die), die)
      expect(await child.ended()).toBe('SIGKILL')
    }

    await using child = start(settings)
    const url = await child.url()
    await settled(database)
    const events = await mergeEventsIn(database)
    const found = []
    const seen = async ({ at, one }: Stage) => {
      const { state } = await call(url, 'GET', `${at}/merge_requests/1`)
      const issue = await call(url, 'GET', `${at}/issues/1`)
      const closings = await call(url, 'GET', `${at}/issues/1/notes`)
      const notes = await inStore(database, (db) =>
        db
          .selectFrom('notes')
          .select('id')
          .where('merge_request_id', '=', one.id)
          .where('body', '=', 'merged')
          .execute(),
      )
      const there = await fetch(`${url}/api/v4${at}/repository/files/b.txt?ref=master`, {
        headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN },
      })
      return [
        state,
        issue.state,
        there.status,
        (await tipOf(url, at, 'feature')) === null,
        events.get(one.id)?.length ?? 0,
        notes.length,
        closings.filter(({ body }: Body) => body.startsWith('closed')).map(({ body }: Body) => body),
      ]
    }
    for (const [n, [name]] of ACCEPT.entries()) found.push([name, ...(await seen(stages[n]!))])
    const MERGED = ['merged', 'closed', 200, true, 1, 1, ['closed via merge request !1']]
    const OPEN = ['opened', 'opened', 404, false, 0, 0, []]
    expect(found).toEqual(ACCEPT.map(([name, , isMerged]) => [name, ...(isMerged ? MERGED : OPEN)]))
    // A merge that was rolled back can be repeated.
    for (const n of ACCEPT.flatMap(([, , isMerged], n) => (isMerged ? [] : [n]))) {
      expect(await call(url, 'PUT', `${stages[n]!.at}/merge_requests/1/merge`)).toMatchObject({ state: 'merged' })
    }
    await expectClean(settings)
  }),
)
