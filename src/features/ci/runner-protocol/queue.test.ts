import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openSecondStore } from '../../../../test/freshness.ts'
import { registerRunner, type TestRunner } from '../../../../test/runners.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import type { Db } from '../../../store/database.ts'
import { isSqlite } from '../../../store/dialect.ts'
import { enqueueJob } from '../jobs/transitions.ts'
import { resetRegistrationToken } from '../runners/registration.ts'
import { bucketsFor } from './queue.ts'

async function pushed(forge: TestForge, config: string, input = {}) {
  const owner = await forge.user()
  const project = await forge.project(input, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  return { owner, project }
}

/** A runner that sends no `last_update` does not wait. */
const nameOf = async (runner: TestRunner) => {
  const { status, body } = await runner.request({ last_update: '' })
  return status === 201 ? (body.job_info.name as string) : null
}

test('tags, pauses and whose jobs a runner takes', async () => {
  await using forge = await startForge()
  const { owner, project } = await pushed(
    forge,
    'one: { script: x, tags: [a, b] }\ntwo: { script: x, tags: [c] }\nthree: { script: x }\n',
  )
  const shared = await registerRunner(forge, { tag_list: 'a,x', run_untagged: false })
  expect(await nameOf(shared)).toBeNull()
  const both = await registerRunner(forge, { tag_list: ['a', 'b'], run_untagged: false })
  await forge.administrator.put(`/runners/${both.id}`, { paused: true })
  expect(await nameOf(both)).toBeNull()
  await forge.administrator.put(`/runners/${both.id}`, { paused: false })
  expect(await nameOf(both)).toBe('one')
  expect(await nameOf(both)).toBeNull()
  const { body: elsewhere } = await owner.post('/projects', { path: 'elsewhere' })
  const foreign = await registerRunner(forge, {}, elsewhere.runners_token)
  expect(await nameOf(foreign)).toBeNull()
  await owner.put(`/projects/${project.id}`, { shared_runners_enabled: false })
  const { body: own } = await owner.get(`/projects/${project.id}`)
  const any = await registerRunner(forge)
  expect(await nameOf(any)).toBeNull()
  const specific = await registerRunner(forge, { tag_list: 'c' }, own.runners_token)
  expect([await nameOf(specific), await nameOf(specific), await nameOf(specific)]).toEqual(['two', 'three', null])
})

test('shared runners go round the projects', async () => {
  await using forge = await startForge()
  const many = 'a: { script: x, parallel: 3 }\n'
  const first = await pushed(forge, many)
  const second = await pushed(forge, many)
  const runner = await registerRunner(forge)
  const projects: number[] = []
  for (let n = 0; n < 4; n++) projects.push((await runner.request()).body.job_info.project_id)
  expect(projects).toEqual([first.project.id, second.project.id, first.project.id, second.project.id])
})

test('minutes of shared runners come to an end', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  await forge.administrator.put(`/users/${owner.id}`, { shared_runners_minutes_limit: 1 })
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': 'a: { script: x }\nb: { script: x }\n' }, { as: owner })
  const runner = await registerRunner(forge)
  const { body: job } = await runner.request()
  forge.clock.advance(61_000)
  await runner.put(job, { state: 'success' })
  expect((await runner.request()).status).toBe(204)
  const { body } = await owner.get(`/projects/${project.id}`)
  const own = await registerRunner(forge, {}, body.runners_token)
  expect((await own.request()).status).toBe(201)
})

test('protected refs, groups, locks, resources and the projects of others', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const group = await forge.group({}, owner)
  const below = await forge.group({ parent_id: group.id }, owner)
  const project = await forge.project({ namespace_id: below.id }, owner)
  const { body: elsewhere } = await owner.post('/projects', { path: 'elsewhere' })
  const url = `/projects/${project.id}`
  await owner.put(url, { shared_runners_enabled: false, auto_cancel_pending_pipelines: 'disabled' })
  await owner.post(`${url}/protected_branches`, { name: 'main*' })
  await forge.seed(project, { file: 'x' }, { as: owner, branch: 'main0' })
  const config = 'one: { script: x }\ntwo: { script: x, resource_group: place }\n'
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner, branch: 'open' })
  await forge.settle()
  const ofGroup = async (id: number) => resetRegistrationToken(forge.app, id)
  const { runners_token } = (await owner.get(url)).body

  const picky = await registerRunner(forge, { access_level: 'ref_protected' }, runners_token)
  const shared = await registerRunner(forge)
  const other = await registerRunner(forge, {}, await ofGroup((await forge.group({}, owner)).id))
  const foreign = await registerRunner(forge, { locked: true }, elsewhere.runners_token)
  const tagged = await registerRunner(forge, { tag_list: 'a', run_untagged: false }, runners_token)
  for (const runner of [picky, shared, other, foreign, tagged]) expect(await nameOf(runner)).toBeNull()
  expect((await owner.post(`${url}/runners`, { runner_id: foreign.id })).status).toBe(403)
  expect(await nameOf(foreign)).toBeNull()
  expect(await forge.app.db.selectFrom('ci_jobs').select('id').where('status', '!=', 'pending').execute()).toEqual([])

  const above = await registerRunner(forge, {}, await ofGroup(group.id))
  expect(await nameOf(above)).toBe('one')
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner, branch: 'main1' })
  await forge.settle()
  expect([await nameOf(picky), await nameOf(picky)]).toEqual(['one', null])
  // The first of two jobs for the same resource gets it.
  const { body: holder } = await above.request()
  expect([holder.job_info.name, holder.git_info.ref, await nameOf(above)]).toEqual(['two', 'open', null])
  await above.put(holder, { state: 'success' })
  await forge.settle()
  expect((await picky.request()).body).toMatchObject({ job_info: { name: 'two' }, git_info: { ref: 'main1' } })
  expect(await forge.app.db.selectFrom('ci_queue').selectAll().execute()).toEqual([])
})

test('a job that another process created reaches a runner that waits here', async () => {
  await using forge = await startForge()
  await pushed(forge, 'a: { script: x, when: manual }\n')
  await forge.settle()
  const { store, db } = forge.app
  const job = await db.selectFrom('ci_jobs').selectAll().executeTakeFirstOrThrow()
  const runner = await registerRunner(forge)
  expect((await runner.request()).status).toBe(204)
  const before = store.queries
  expect((await runner.request({ last_update: '' })).status).toBe(204)
  const look = store.queries - before
  const waiting = runner.request()
  await expect.poll(() => store.queries).toBeGreaterThanOrEqual(before + 2 * look)
  const beside = await openSecondStore(forge)
  try {
    await enqueueJob({ ...forge.app, store: beside, db: beside.db }, job)
    expect((await waiting).body).toMatchObject({ id: job.id })
  } finally {
    await beside.close()
  }
})

/** The tables that SQLite scans completely to find a job. PostgreSQL decides by the amount of rows. */
async function scansOf(db: Db): Promise<string[]> {
  if (!isSqlite(db)) return []
  const query = bucketsFor.compile(db, { month: '2026-11', untagged: true, tags: '["a"]', after: '' })
  const { rows } = await db.executeQuery<{ detail: string }>({ ...query, sql: `explain query plan ${query.sql}` })
  return rows
    .map(({ detail }) => detail)
    .filter((look) => look.startsWith('SCAN') && !/^SCAN (lanes|one|json_each)\b/.test(look))
}

test('jobs that no runner fits cost nobody anything, however many and however odd', async () => {
  await using forge = await startForge()
  const { project, owner } = await pushed(forge, 'mine: { script: x, when: manual }\n')
  const runner = await registerRunner(forge, { tag_list: 'a,b' })
  const costOfLook = async () => {
    const before = forge.app.store.queries
    expect((await runner.request({ last_update: '' })).status).toBe(204)
    return forge.app.store.queries - before
  }
  await costOfLook()
  await forge.settle()
  const idle = await costOfLook()
  const long = Array.from({ length: 50 }, (_, n) => 'é'.repeat(250) + n)
  const config = `a: { script: x, tags: [nobody], parallel: 150 }\nb: { script: x, tags: ${JSON.stringify(long)} }\n`
  await forge.seed(project, { '.gitlab-ci.yml': config }, { as: owner })
  await forge.settle()
  const { db } = forge.app
  const { waiting } = await db
    .selectFrom('ci_queue')
    .select((eb) => eb.fn.countAll<number>().as('waiting'))
    .executeTakeFirstOrThrow()
  expect(Number(waiting)).toBe(151)
  expect(await costOfLook()).toBe(idle)
  expect(await scansOf(db)).toEqual([])
  const odd = await registerRunner(forge, { tag_list: long, run_untagged: false })
  expect([await nameOf(odd), await nameOf(odd)]).toEqual(['b', null])
})

test('of very many lanes a request looks through some, and the next goes on from there', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  await pushed(forge, 'other: { script: x, tags: [nobody] }\n')
  await sql`drop index ci_queue_job_id_unique`.execute(db)
  const addBuckets = (count: number) =>
    sql`insert into ci_queue (job_id, project_id, protected, tags, lane)
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${sql.lit(count)})
    select job_id, project_id, protected, tags, lane || ${sql.lit(count)} || '-' || n from ci_queue, numbers
    where lane like '%"]'`.execute(db)
  const runner = await registerRunner(forge)
  const ask = async () => (await runner.request({ last_update: '' })).status
  await addBuckets(400)
  await pushed(forge, 'mine: { script: x }\n')
  expect([await ask(), await ask()]).toEqual([201, 204])
  await addBuckets(2000)
  await pushed(forge, 'mine: { script: x }\n')
  expect([await ask(), await ask()]).toEqual([409, 201])
})

test('many runners at once: no job twice, none lost', async () => {
  await using forge = await startForge()
  const jobs = Array.from({ length: 4 }, (_, n) => `j${n}: { script: x, parallel: 50 }`).join('\n')
  await pushed(forge, jobs)
  const token = await resetRegistrationToken(forge.app, null)
  const taken: number[] = []
  await Promise.all(
    Array.from({ length: 50 }, async () => {
      const one = await registerRunner(forge, {}, token)
      for (;;) {
        const { status, body } = await one.request({ last_update: '' })
        if (status === 204) return
        if (status === 201) taken.push(body.id)
      }
    }),
  )
  expect(new Set(taken).size).toBe(200)
  expect(taken).toHaveLength(200)
})
