/** Shared by the tests of interrupted merges: a server that dies at a given step. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Events, Store } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder } from './command.ts'

export const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
export const MORTAL = [process.execPath, fileURLToPath(new URL('mortal.ts', import.meta.url))]
export const HOUR = 3_600_000

export type Settings = Record<`MORTISE_${string}`, string>
// oxlint-disable-next-line no-explicit-any -- read as the test expects it
export type Body = Record<string, any>

export const server = testDatabaseUrl()

/** A data folder with its database. */
export async function withInstance(work: (settings: Settings, database: string) => Promise<void>): Promise<void> {
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

export const start = (settings: Settings) => new Child(['serve'], settings, '', MORTAL)

export async function call(url: string, method: string, path: string, input?: object, die?: string): Promise<Body> {
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

export const commit = (url: string, at: string, branch: string, file: string, start_branch?: string, die?: string) =>
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

/** Expects that the request was interrupted; or answered, if any statement may kill. */
export async function expectCutOff(asked: Promise<unknown>, die: string): Promise<void> {
  if (!die.startsWith('anyone')) return expect(asked).rejects.toThrow('fetch failed')
  await asked.catch(({ message }: Error) => expect(message).toBe('fetch failed'))
}

export interface Stage {
  readonly at: string
  readonly one: Body
}

/** A project with an issue, and a merge request that closes it. */
export async function stage(url: string, path: string, more: Body = {}): Promise<Stage> {
  const { id } = await call(url, 'POST', '/projects', { path })
  const at = `/projects/${id}`
  await commit(url, at, 'master', 'a.txt')
  await commit(url, at, 'feature', 'b.txt', 'master')
  await call(url, 'POST', `${at}/issues`, { title: 'It is missing' })
  const request = { source_branch: 'feature', target_branch: 'master', title: 'Bring it', description: 'Closes #1' }
  return { at, one: await call(url, 'POST', `${at}/merge_requests`, { ...request, ...more }) }
}

export async function inStore<T>(database: string, work: (db: Store['db']) => Promise<T>): Promise<T> {
  const store = await openStore(database, { durable: false, shared: true, poolSize: 1 })
  try {
    return await work(store.db)
  } finally {
    await store.close()
  }
}

/** As if two hours had passed: all leases and locks have expired. */
export const passHours = (database: string) =>
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
      const message = JSON.parse(text!)
      const past = JSON.stringify({ ...message, at: earlier(message.at) })
      await db.updateTable('merge_requests').set({ merging: past }).where('id', '=', id).execute()
    }
  })

/** Events with subscribers; others wait until there are many. */
export const FOLLOWED_EVENTS = [
  'repository.changed',
  'merge_request.created',
  'merge_request.pushed',
  'merge_request.merged',
]

/** Whether there is still work to do. */
export const isUnsettled = (database: string) =>
  inStore(database, async (db) => {
    const soon = new Date(Date.now() + 1000).toISOString()
    const counted = await Promise.all([
      db.selectFrom('merge_requests').select('id').where('state', '=', 'locked').execute(),
      // A change that did not happen is kept for an hour and blocks nothing.
      db
        .selectFrom('pending_changes')
        .innerJoin('processes', 'processes.tag', 'pending_changes.holder')
        .select('pending_changes.id')
        .execute(),
      db
        .selectFrom('events')
        .select('id')
        .where('dispatched_at', 'is', null)
        .where('name', 'in', FOLLOWED_EVENTS)
        .execute(),
      db.selectFrom('jobs').select('id').where('run_at', '<=', soon).execute(),
    ])
    return counted.map((rows) => rows.length)
  })

/** Sooner than any lease expires. */
export async function settled(database: string): Promise<void> {
  await expect.poll(() => isUnsettled(database), { timeout: 25_000, interval: 200 }).toEqual([0, 0, 0, 0])
}

/** How many events each merge emitted, by the id of the merge request; also checks that each ref update emitted one. */
export const mergeEventsIn = (database: string) =>
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

export async function expectClean(settings: Settings): Promise<void> {
  await expect
    .poll(async () => (await run(['check'], settings)).stdout, { timeout: 60_000, interval: 1000 })
    .toMatch(/^\d+ repositor(y|ies) checked, 0 with errors$/m)
}

export const tipOf = async (url: string, at: string, branch: string): Promise<string | null> => {
  const all = (await call(url, 'GET', `${at}/repository/branches`)) as unknown as Body[]
  return all.find(({ name }) => name === branch)?.commit.id ?? null
}
