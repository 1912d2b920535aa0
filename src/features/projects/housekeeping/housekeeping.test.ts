import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { callersOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { DAY } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { git } from '../../../git/process/command.ts'
import { repositoryDir } from '../repositories/repository.ts'

const headers: unknown = expect.anything()
const TOO_SOON = { message: 'Somebody already triggered housekeeping for this project in the past 1440 minutes' }

async function dirOf(forge: TestForge, id: number): Promise<string> {
  const { db } = forge.app
  return repositoryDir(
    forge.app,
    await db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow(),
  )
}

const waiting = (forge: TestForge) =>
  forge.app.db.selectFrom('jobs').select('last_error').where('name', '=', 'projects.tidy_repository').execute()

test('housekeeping packs the repository, and measures it anew', async () => {
  await using forge = await startForge()
  const { id, url, owner } = await openSource(forge, 'projects')
  const dir = await dirOf(forge, id)
  const blob = (await git(dir, ['hash-object', '-w', '--stdin'], { input: 'x'.repeat(1000) })).trim()
  await git(dir, ['update-ref', '--stdin'], { input: `create refs/tags/one ${blob}\n` })
  const events = await forge.events()

  expect(await owner.post(`${url}/housekeeping`)).toEqual({ status: 201, body: null, headers })
  await forge.settle()
  expect((await readdir(join(dir, 'objects/pack'))).some((name) => name.endsWith('.pack'))).toBe(true)
  const { statistics } = (await owner.get(url, { statistics: true })).body
  expect(statistics.repository_size).toBeGreaterThan(500)
  expect(await forge.events()).toEqual(events)
})

test('once a day, however many ask', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const ask = () => owner.post(`${url}/housekeeping`)
  const statuses = (await Promise.all([ask(), ask(), ask()])).map(({ status }) => status)
  expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409])
  expect(await ask()).toEqual({ status: 409, body: TOO_SOON, headers })
  await forge.settle()
  forge.clock.advance(DAY - 60_000)
  expect((await ask()).status).toBe(409)
  forge.clock.advance(60_000)
  expect((await ask()).status).toBe(201)
  await forge.settle()
  expect(await waiting(forge)).toEqual([])
})

test('masters start it', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const tables = [
    ['private', [401, 404, 404, 403, 403, 403, 201, 409, 409, 401]],
    ['public', [401, 403, 403, 403, 403, 403, 201, 409, 409, 401]],
  ] as const
  for (const [visibility, statuses] of tables) {
    const source = await openSource(forge, 'projects', { visibility })
    const callers = await callersOf(forge, source)
    expect(await statusesOf(callers, (caller) => caller.post(`${source.url}/housekeeping`))).toEqual(statuses)
  }
})

test('a project that is deleted meanwhile is left alone', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  await owner.post(`${url}/housekeeping`)
  await owner.delete(url)
  await forge.settle()
  // A run that the deletion overtook fails, and its retry finds nothing to do.
  forge.clock.advance(60_000)
  await forge.settle()
  expect(await waiting(forge)).toEqual([])
})
