/**
 * Ten callers do random things in one project, served by two processes. `MORTISE_STORM_SEED` repeats a run,
 * `MORTISE_STORM_SECONDS` makes it longer.
 */
import { sql } from 'kysely'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Db } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, DEADLINE_MS, run, temporaryFolder } from './command.ts'
import { actions, CONFIGURATION, World, type Ask, type Step } from './storm-actions.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const CALLERS = 10
const STEPS = 40
const SEED = Number(process.env['MORTISE_STORM_SEED'] ?? Date.now() % 1_000_000)
const SECONDS = Number(process.env['MORTISE_STORM_SECONDS'] ?? 0)

/** Numbers from 0 to 1 in an order that the seed determines (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Faulty answers, and the number of all answers. */
async function storm(api: string, folder: string) {
  const faults: string[] = []
  let answers = 0
  const askAs =
    (token: string): Ask =>
    async (method, path, input, headers) => {
      const answer = await fetch(`${api}${path}`, {
        method,
        headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json', Connection: 'close', ...headers },
        ...(input !== undefined && { body: typeof input === 'string' ? input : JSON.stringify(input) }),
      })
      const text = await answer.text()
      answers++
      if (answer.status >= 500) faults.push(`${method} ${path} ${answer.status} ${text}`)
      return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
    }
  const root = askAs(MORTISE_ROOT_TOKEN)
  expect((await root('POST', '/projects', { path: 'storm', initialize_with_readme: true })).body['id']).toBe(1)
  await root('POST', '/projects', { path: 'other' })
  await root('POST', '/groups', { path: 'storms', name: 'Storms' })
  const configuration = [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIGURATION }]
  const configured = { branch: 'master', commit_message: 'Jobs', actions: configuration }
  await root('POST', '/projects/1/repository/commits', configured)
  const runner = await root('POST', '/user/runners', { runner_type: 'project_type', project_id: 1 })
  const world = new World(String(runner.body['token']))
  const tokens: string[] = []
  for (let n = 1; n <= CALLERS; n++) {
    const username = `user${n}`
    const input = { username, name: username, email: `${username}@example.com`, password: 'a long password' }
    const id = Number((await root('POST', '/users', { ...input, skip_confirmation: true })).body['id'])
    const request = {
      name: 'storm',
      scopes: ['api'],
      expires_at: new Date(Date.now() + 86_400_000).toJSON().slice(0, 10),
    }
    tokens.push(String((await root('POST', `/users/${id}/personal_access_tokens`, request)).body['token']))
    for (const project of [1, 2]) await root('POST', `/projects/${project}/members`, { user_id: id, access_level: 40 })
    await root('POST', '/groups/storms/members', { user_id: id, access_level: 50 })
    world.users.push(id)
  }
  for (const name of world.labels) await root('POST', '/projects/1/labels', { name, color: '#ff0000' })
  const names = Object.keys(actions)
  const end = performance.now() + SECONDS * 1000
  const callers = tokens.map(async (token, n) => {
    const random = randomFrom(SEED + n)
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
    const ask = askAs(token)
    const inProject: Ask = (method, path, input) => ask(method, `/projects/1${path}`, input)
    const chance = (share: number) => random() < share
    const repository = { url: `${new URL(api).origin}/root/storm.git`, token, folder: join(folder, `caller${n}`) }
    const step: Step = { ask: inProject, askAnywhere: ask, world, pick, chance, user: world.users[n]!, repository }
    for (let count = 0; SECONDS > 0 ? performance.now() < end : count < STEPS; count++)
      await actions[pick(names)!]!(step)
  })
  await Promise.all(callers)
  return { faults, answers }
}

/** Stored counts compared with the rows they count: none may differ. */
async function countFaults(db: Db): Promise<string[]> {
  const kept = {
    'open issues': sql`select id, (select cast(coalesce(sum(total), 0) as bigint) from issues_facets f
      where f.project_id = p.id and f.state = 'opened' and not f.confidential) as kept,
      (select count(*) from issues i where i.project_id = p.id and i.state = 'opened' and not i.confidential) as counted
      from projects p`,
    stars: sql`select id, star_count as kept, (select count(*) from stars s where s.project_id = p.id) as counted
      from projects p`,
    'notes of issues': sql`select id, user_notes_count as kept, (select count(*) from notes n where n.issue_id = i.id
      and not n.system and not n.internal) as counted from issues i`,
    'notes of merge requests': sql`select id, user_notes_count as kept, (select count(*) from notes n
      where n.merge_request_id = m.id and not n.system and not n.internal) as counted from merge_requests m`,
    'issues in all': sql`select 1 as id, cast(coalesce(sum(total), 0) as bigint) as kept,
      (select count(*) from issues) as counted from issues_facets`,
    'merge requests in all': sql`select 1 as id, cast(coalesce(sum(total), 0) as bigint) as kept,
      (select count(*) from merge_requests) as counted from merge_requests_facets`,
    'votes of issues': sql`select id, upvotes as kept, (select count(*) from award_emoji a where a.issue_id = i.id
      and a.name = 'thumbsup') as counted from issues i`,
    'issues of labels': sql`select id, (select cast(coalesce(sum(total), 0) as bigint) from issue_labels_facets f
      where f.label_id = l.id) as kept, (select count(*) from issue_labels i where i.label_id = l.id) as counted
      from labels l`,
    'merge requests of labels': sql`select id, (select cast(coalesce(sum(total), 0) as bigint)
      from merge_request_labels_facets f where f.label_id = l.id) as kept, (select count(*) from merge_request_labels r
      join merge_requests m on m.id = r.merge_request_id where r.label_id = l.id and m.state in ('opened', 'locked'))
      as counted from labels l`,
    'priorities of issues': sql`select id, coalesce(label_priority, 0) as kept, coalesce((select min(q.priority)
      from issue_labels l join label_priorities q on q.label_id = l.label_id and q.project_id = i.project_id
      where l.issue_id = i.id), 0) as counted from issues i`,
    'dates of milestones': sql`select i.id, coalesce(cast(milestone_due as text), '') as kept,
      coalesce(cast(m.due_date as text), '') as counted from issues i left join milestones m on m.id = i.milestone_id`,
    'sizes of artifacts': sql`select id, (select cast(coalesce(sum(total), 0) as bigint) from ci_artifacts_facets f
      where f.project_id = p.id) as kept, (select cast(coalesce(sum(size), 0) as bigint) from ci_artifacts a
      where a.project_id = p.id) as counted from projects p`,
    'queued jobs': sql`select 1 as id, (select count(*) from ci_queue) as kept,
      (select count(*) from ci_jobs where status = 'pending' and kind = 'job') as counted`,
    'issue numbers': sql`select project_id as id, count(*) as kept, count(distinct iid) as counted from issues
      group by project_id`,
  }
  const faults: string[] = []
  for (const [name, query] of Object.entries(kept))
    for (const row of (await query.execute(db)).rows as { id: number; kept: number; counted: number }[])
      if (row.kept !== row.counted) faults.push(`${name} of ${row.id}: ${row.kept} kept, ${row.counted} counted`)
  return faults
}

/** Waits until concurrent changes were settled. */
const settled = (db: Db) =>
  vi.waitFor(async () => {
    const left = await db.selectFrom('jobs').select('id').where('name', '=', 'planning.settle').execute()
    expect(left).toEqual([])
  }, DEADLINE_MS)

const server = testDatabaseUrl()

test(`ten callers in one project, seed ${SEED}`, { timeout: 180_000 + SECONDS * 1000 }, async () => {
  await using folder = await temporaryFolder()
  const database = server ? await postgresDatabase(server) : null
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_WORKERS: '2',
    MORTISE_LOG: 'warn',
    MORTISE_RATE_LIMIT: 'off',
    MORTISE_ROOT_TOKEN,
    ...(database && { MORTISE_DATABASE_URL: database.url }),
  } as const
  await using child = new Child(['serve'], settings)
  const { answers, faults } = await storm(`${await child.url()}/api/v4`, folder.path)
  const store = await openStore(database?.url ?? join(folder.path, 'mortise.sqlite'), {
    durable: false,
    shared: true,
    poolSize: 1,
  })
  await settled(store.db)
  child.process.kill('SIGTERM')
  expect(await child.ended()).toBe(0)
  expect(answers).toBeGreaterThan(CALLERS)
  expect(faults, child.stdout.slice(-4000)).toEqual([])
  expect(await countFaults(store.db)).toEqual([])
  const deadlocks = database
    ? await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database where datname = current_database()`
        .execute(store.db)
        .then(({ rows }) => rows[0]!.deadlocks)
    : 0
  await store.close()
  expect(await run(['check'], settings)).toMatchObject({ code: 0, stderr: '' })
  expect(deadlocks).toBe(0)
  await database?.drop()
})
