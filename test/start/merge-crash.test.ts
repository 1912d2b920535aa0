import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Reply } from '../../src/forge.ts'
import type { Events, Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const MORTAL = [process.execPath, fileURLToPath(new URL('mortal.ts', import.meta.url))]
const HOUR = 3_600_000

type Settings = Record<`MORTISE_${string}`, string>
type Body = Reply['body']

const server = testDatabaseUrl()

/** A data folder, and the database that goes with it. */
async function withInstance(work: (settings: Settings, database: string) => Promise<void>): Promise<void> {
  await using folder = await temporaryFolder()
  const database = server === undefined ? null : await postgresDatabase(server)
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_SSH_PORT: 'off',
    MORTISE_LOG: 'warn',
    MORTISE_ROOT_TOKEN,
    ...(database && { MORTISE_DATABASE_URL: database.url }),
  }
  try {
    await work(settings, database?.url ?? join(folder.path, 'mortise.sqlite'))
  } finally {
    await database?.drop()
  }
}

const start = (settings: Settings) => new Child(['serve'], settings, '', MORTAL)

async function call(url: string, method: string, path: string, input?: object, die?: string): Promise<Body> {
  const answer = await fetch(`${url}/api/v4${path}`, {
    method,
    headers: {
      'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN,
      'Content-Type': 'application/json',
      ...(die && { 'X-Die': die }),
    },
    ...(input && { body: JSON.stringify(input) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return text === '' ? {} : JSON.parse(text)
}

const commit = (url: string, at: string, branch: string, file: string, start_branch?: string, die?: string) =>
  call(
    url,
    'POST',
    `${at}/repository/commits`,
    {
      branch,
      ...(start_branch && { start_branch }),
      commit_message: `Add ${file}`,
      actions: [{ action: 'create', file_path: file, content: `${file}\n` }],
    },
    die,
  )

interface Stage {
  readonly at: string
  readonly one: Body
}

/** A project with an issue, and a merge request that closes it. */
async function stage(url: string, path: string, more: Body = {}): Promise<Stage> {
  const { id } = await call(url, 'POST', '/projects', { path })
  const at = `/projects/${id}`
  await commit(url, at, 'master', 'a.txt')
  await commit(url, at, 'feature', 'b.txt', 'master')
  await call(url, 'POST', `${at}/issues`, { title: 'It is missing' })
  const wish = { source_branch: 'feature', target_branch: 'master', title: 'Bring it', description: 'Closes #1' }
  return { at, one: await call(url, 'POST', `${at}/merge_requests`, { ...wish, ...more }) }
}

async function inStore<T>(database: string, work: (db: Store['db']) => Promise<T>): Promise<T> {
  const store = await openStore(database, { durable: false, shared: true, poolSize: 1 })
  try {
    return await work(store.db)
  } finally {
    await store.close()
  }
}

/** As if two hours had passed: nobody can be at anything any more. */
const passHours = (database: string) =>
  inStore(database, async (db) => {
    const earlier = (at: string) => new Date(Date.parse(at) - 2 * HOUR).toISOString()
    for (const table of ['pending_changes', 'events'] as const) {
      for (const { id, created_at } of await db.selectFrom(table).select(['id', 'created_at']).execute())
        await db
          .updateTable(table)
          .set({ created_at: earlier(created_at) })
          .where('id', '=', id)
          .execute()
    }
    for (const { id, run_at } of await db.selectFrom('jobs').select(['id', 'run_at']).execute())
      await db
        .updateTable('jobs')
        .set({ run_at: earlier(run_at), lease_until: null })
        .where('id', '=', id)
        .execute()
    const merging = db.selectFrom('merge_requests').select(['id', 'merging']).where('merging', 'is not', null)
    for (const { id, merging: text } of await merging.execute()) {
      const said = JSON.parse(text!)
      const past = JSON.stringify({ ...said, at: earlier(said.at) })
      await db.updateTable('merge_requests').set({ merging: past }).where('id', '=', id).execute()
    }
  })

/** Events that something follows from; others wait until there are many. */
const HEARD = ['repository.changed', 'merge_request.created', 'merge_request.pushed', 'merge_request.merged']

/** Whether somebody still has something to do. */
const isUnsettled = (database: string) =>
  inStore(database, async (db) => {
    const soon = new Date(Date.now() + 1000).toISOString()
    const counted = await Promise.all([
      db.selectFrom('merge_requests').select('id').where('state', '=', 'locked').execute(),
      db.selectFrom('pending_changes').select('id').execute(),
      db.selectFrom('events').select('id').where('dispatched_at', 'is', null).where('name', 'in', HEARD).execute(),
      db.selectFrom('jobs').select('id').where('run_at', '<=', soon).execute(),
    ])
    return counted.map((rows) => rows.length)
  })

async function settled(database: string): Promise<void> {
  await expect.poll(() => isUnsettled(database), { timeout: 90_000, interval: 200 }).toEqual([0, 0, 0, 0])
}

/** How often each merge was told, by the id of the merge request; and that each move of a ref was told once. */
const toldIn = (database: string) =>
  inStore(database, async (db) => {
    const events = await db.selectFrom('events').select(['name', 'payload']).orderBy('id').execute()
    const moves = events
      .filter(({ name }) => name === 'repository.changed')
      .flatMap(({ payload }) => {
        const { project_id, updates } = JSON.parse(payload) as Events['repository.changed']
        return updates.map(({ ref, before, after }) => `${project_id} ${ref} ${before} ${after}`)
      })
    expect(moves.toSorted()).toEqual([...new Set(moves)].toSorted())
    const merged = events.filter(({ name }) => name === 'merge_request.merged')
    return Map.groupBy(merged, ({ payload }) => (JSON.parse(payload) as Events['merge_request.merged']).id)
  })

async function expectClean(settings: Settings): Promise<void> {
  await expect
    .poll(async () => (await run(['check'], settings)).stdout, { timeout: 60_000, interval: 1000 })
    .toMatch(/^\d+ repositories checked, 0 with faults$/m)
}

const tipOf = async (url: string, at: string, branch: string): Promise<string | null> => {
  const all = (await call(url, 'GET', `${at}/repository/branches`)) as unknown as Body[]
  return all.find(({ name }) => name === branch)?.commit.id ?? null
}

/** Steps of accept, in their order, and whether it is merged where it ends there. */
const ACCEPT = [
  ['before it is locked', 'before "locked"', false],
  ['after the lock', 'after "locked"', false],
  ['before the refs move', 'after ^insert into "pending_changes"', false],
  ['after the refs moved', 'before ^delete from "pending_changes"', true],
  ['after it was told', 'after ^insert into "events".*repository.changed', true],
  ['before the row says merged', 'before ^update "merge_requests".*"merged"', true],
  ['after the row says merged', 'after ^update "merge_requests".*"merged"', true],
  ['before the source branch is removed', 'before ^insert into "pending_changes".*refs/heads/feature', true],
  ['while the source branch is removed', 'after ^insert into "pending_changes".*refs/heads/feature', true],
  ['after the source branch is removed', 'before ^insert into "events".*refs/heads/feature', true],
  ['before the issue is closed', 'before ^update "issues".*"closed"', true],
  ['after the issue is closed', 'after ^update "issues".*"closed"', true],
] as const

test('kill -9 at each step of accept: merged everywhere or nowhere, told once', { timeout: 400_000 }, () =>
  withInstance(async (settings, database) => {
    const stages: Stage[] = []
    const wishes = [{}, { squash: true }]
    for (const [n, [, die]] of ACCEPT.entries()) {
      await using child = start(settings)
      const url = await child.url()
      const { at, one } = await stage(url, `round${n}`)
      if (n % 2) await commit(url, at, 'feature', 'c.txt')
      stages.push({ at, one })
      const wish = { should_remove_source_branch: true, ...wishes[n % 2] }
      await expect(call(url, 'PUT', `${at}/merge_requests/1/merge`, wish, die)).rejects.toThrow('fetch failed')
      expect(await child.ended()).toBe('SIGKILL')
    }
    await passHours(database)

    await using child = start(settings)
    const url = await child.url()
    await settled(database)
    const told = await toldIn(database)
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
        told.get(one.id)?.length ?? 0,
        notes.length,
        closings.filter(({ body }: Body) => body.startsWith('closed')).map(({ body }: Body) => body),
      ]
    }
    for (const [n, [name]] of ACCEPT.entries()) found.push([name, ...(await seen(stages[n]!))])
    const MERGED = ['merged', 'closed', 200, true, 1, 1, ['closed via merge request !1']]
    const OPEN = ['opened', 'opened', 404, false, 0, 0, []]
    expect(found).toEqual(ACCEPT.map(([name, , isMerged]) => [name, ...(isMerged ? MERGED : OPEN)]))
    // What was given up can be merged.
    for (const { at } of stages.filter((_, n) => !ACCEPT[n]![2]))
      expect(await call(url, 'PUT', `${at}/merge_requests/1/merge`)).toMatchObject({ state: 'merged' })
    await expectClean(settings)
  }),
)

const PUSH = [
  ['before the refs move', 'after ^insert into "pending_changes"', false],
  ['after the refs moved', 'before ^delete from "pending_changes"', true],
  ['after it was told', 'after ^insert into "events".*repository.changed', true],
  ['before there is a version', 'before ^insert into "merge_request_versions"', true],
  ['after there is a version', 'after ^insert into "merge_request_versions"', true],
] as const

test('kill -9 at each step of create, push and rebase: one version for each head', { timeout: 400_000 }, () =>
  withInstance(async (settings, database) => {
    const rounds: { name: string; at: string; moves: boolean | null; was: string }[] = []
    const dies = async (name: string, moves: boolean | null, work: (url: string, at: string) => Promise<unknown>) => {
      await using child = start(settings)
      const url = await child.url()
      const { at, one } = await stage(url, `round${rounds.length}`)
      rounds.push({ name, at, moves, was: one.sha })
      await expect(work(url, at)).rejects.toThrow('fetch failed')
      expect(await child.ended()).toBe('SIGKILL')
    }
    for (const [step, die, moves] of PUSH) {
      await dies(`push ${step}`, moves, (url, at) => commit(url, at, 'feature', 'c.txt', undefined, die))
      await dies(`rebase ${step}`, moves, async (url, at) => {
        await commit(url, at, 'master', 'd.txt')
        await call(url, 'PUT', `${at}/merge_requests/1/rebase`, {}, die)
      })
    }
    for (const die of ['before ^insert into "merge_requests"', 'after ^insert into "merge_requests"']) {
      await dies(`create: ${die}`, null, async (url, at) => {
        await commit(url, at, 'other', 'e.txt', 'master')
        const wish = { source_branch: 'other', target_branch: 'master', title: 'Another' }
        await call(url, 'POST', `${at}/merge_requests`, wish, die)
      })
    }
    await passHours(database)

    await using child = start(settings)
    const url = await child.url()
    await settled(database)
    await toldIn(database)
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
    // What was not created can be.
    const { at } = rounds.at(-2)!
    const wish = { source_branch: 'other', target_branch: 'master', title: 'Another' }
    expect(await call(url, 'POST', `${at}/merge_requests`, wish)).toMatchObject({ state: 'opened' })
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

/** As whoever asks for them by name finds them. */
async function headRefsOf(url: string, at: string, iids: readonly number[]): Promise<Body[]> {
  const found = []
  for (const iid of iids) {
    const name = encodeURIComponent(`refs/merge-requests/${iid}/head`)
    found.push({ iid, head_sha: (await call(url, 'GET', `${at}/repository/commits/${name}`)).id })
  }
  return found
}
