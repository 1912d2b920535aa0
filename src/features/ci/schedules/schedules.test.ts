import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { MINUTE } from '../../../clock.ts'
import { sweepSchedules } from './jobs.ts'
import { runDue } from './run.ts'

const CONFIG = 'report: { script: make report }'
const INPUT = { description: 'hourly', ref: 'master', cron: '0 * * * *' }

async function stage() {
  const forge = await startForge()
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': CONFIG })
  const owner = await forge.user({ username: 'olga' })
  const root = forge.administrator
  const members = `/projects/${project.id}/members`
  await root.post(members, { user_id: owner.id, access_level: 40 })
  const url = `/projects/${project.id}/pipeline_schedules`
  const pipelines = () =>
    forge.app.db.selectFrom('pipelines').selectAll().where('source', '=', 'schedule').orderBy('id').execute()
  const sweep = async () => {
    await sweepSchedules.handle(forge.app, {})
    await forge.settle()
  }
  return {
    forge,
    project,
    owner,
    root,
    url,
    members,
    pipelines,
    sweep,
    [Symbol.asyncDispose]: () => forge[Symbol.asyncDispose](),
  }
}

test('a schedule is made, read, changed, taken over and deleted', async () => {
  await using s = await stage()
  const { owner, root, url } = s
  const made = await owner.post(url, INPUT)
  expect(made).toMatchObject({
    status: 201,
    body: {
      ...INPUT,
      cron_timezone: 'UTC',
      active: true,
      last_pipeline: null,
      variables: [],
      inputs: [],
      owner: { username: 'olga' },
    },
  })
  expect(new Date(made.body.next_run_at).getUTCMinutes()).toBe(0)
  const item = `${url}/${made.body.id}`
  const { last_pipeline: _last, variables: _variables, inputs: _inputs, ...listed } = made.body
  expect((await owner.get(url)).body).toEqual([listed])
  expect((await owner.get(url, { scope: 'inactive' })).body).toEqual([])
  expect((await owner.get(url, { scope: 'old' })).body.error).toBe('scope does not have a valid value')
  expect((await owner.get(item)).body).toEqual(made.body)
  const change = { cron: '30 4 * * *', cron_timezone: 'Asia/Tokyo', active: false, description: 'early' }
  const changed = await owner.put(item, change)
  expect(changed).toMatchObject({ status: 200, body: change })
  expect(changed.body.next_run_at).toMatch(/T19:30:00/)
  expect((await owner.get(url, { scope: 'inactive' })).body).toHaveLength(1)
  expect(await root.post(`${item}/take_ownership`)).toMatchObject({
    status: 201,
    body: { owner: { username: 'root' } },
  })
  expect((await owner.delete(item)).status).toBe(204)
  expect(await owner.get(item)).toMatchObject({ status: 404, body: { message: '404 Pipeline Schedule Not Found' } })
})

test('variables are for those who may change the schedule', async () => {
  await using s = await stage()
  const { forge, owner, url, root } = s
  const { body: schedule } = await owner.post(url, INPUT)
  const item = `${url}/${schedule.id}`
  const variable = { key: 'COLOUR', value: 'red', variable_type: 'env_var', raw: false }
  expect(await owner.post(`${item}/variables`, { key: 'COLOUR', value: 'red' })).toMatchObject({
    status: 201,
    body: variable,
  })
  expect((await owner.post(`${item}/variables`, { key: 'COLOUR', value: '' })).body.message).toEqual({
    key: ['has already been taken'],
  })
  expect((await owner.post(`${item}/variables`, { key: 'A-B', value: '' })).status).toBe(400)
  expect((await owner.put(`${item}/variables/COLOUR`, { value: 'blue', variable_type: 'file' })).body).toMatchObject({
    value: 'blue',
    variable_type: 'file',
  })
  expect((await owner.get(item)).body.variables).toMatchObject([{ key: 'COLOUR', value: 'blue' }])
  const developer = await forge.user()
  await root.post(s.members, { user_id: developer.id, access_level: 30 })
  const seen = await developer.get(item)
  expect(seen.status).toBe(200)
  expect(JSON.stringify(seen.body)).not.toContain('blue')
  expect((await developer.put(`${item}/variables/COLOUR`, { value: 'x' })).status).toBe(403)
  const gone = await owner.delete(`${item}/variables/COLOUR`)
  expect(gone).toMatchObject({ status: 202, body: { key: 'COLOUR', value: 'blue' } })
  expect(await owner.put(`${item}/variables/COLOUR`, {})).toMatchObject({
    status: 404,
    body: { message: '404 Pipeline Schedule Variable Not Found' },
  })
})

test.each([
  ['no cron', { description: 'd', ref: 'master' }, { error: 'cron is missing' }],
  ['a strange cron', { ...INPUT, cron: 'hourly' }, { message: { cron: [' is invalid syntax'] } }],
  ['a cron that never comes', { ...INPUT, cron: '0 0 31 2 *' }, { message: { cron: [' is invalid syntax'] } }],
  ['a strange zone', { ...INPUT, cron_timezone: 'Mars' }, { message: { cron_timezone: [' is invalid syntax'] } }],
  ['a blank description', { ...INPUT, description: ' ' }, { message: { description: ["can't be blank"] } }],
  [
    'an input without a value',
    { ...INPUT, inputs: [{ name: 'x', value: null }] },
    { message: { inputs: ["value can't be blank"] } },
  ],
  [
    'inputs beyond measure',
    { ...INPUT, inputs: [{ name: 'x', value: 'y'.repeat(70_000) }] },
    { message: { inputs: ['are too long'] } },
  ],
  ['a ref that is no branch', { ...INPUT, ref: 'refs/keep/1' }, { message: { ref: ['is invalid'] } }],
])('refuses %s', async (_what, request, body) => {
  await using s = await stage()
  expect(await s.root.post(s.url, request)).toMatchObject({ status: 400, body })
  expect((await s.root.get(s.url)).body).toEqual([])
})

test('a project has no more schedules than the limit', async () => {
  await using s = await stage()
  for (let n = 0; n < 10; n++) expect((await s.root.post(s.url, INPUT)).status).toBe(201)
  expect(await s.root.post(s.url, INPUT)).toMatchObject({
    status: 400,
    body: { message: { base: ['Maximum number of pipeline schedules (10) exceeded'] } },
  })
})

test('at its time a schedule runs once as its owner, and the next time is known', async () => {
  await using s = await stage()
  const { forge, owner, url } = s
  const { body: schedule } = await owner.post(url, { ...INPUT, cron: '* * * * *' })
  await owner.post(`${url}/${schedule.id}/variables`, { key: 'COLOUR', value: 'red' })
  await s.sweep()
  expect(await s.pipelines()).toEqual([])
  forge.clock.advance(2 * MINUTE)
  // As if two processes ran at once.
  await Promise.all([sweepSchedules.handle(forge.app, {}), sweepSchedules.handle(forge.app, {})])
  await s.sweep()
  expect(await s.pipelines()).toMatchObject([{ schedule_id: schedule.id, user_id: owner.id, ref: 'master' }])
  const after = (await owner.get(`${url}/${schedule.id}`)).body
  expect(after).toMatchObject({ active: true, last_pipeline: { source: 'schedule' } })
  expect(Date.parse(after.next_run_at) - forge.clock.now().getTime()).toBeGreaterThan(3 * MINUTE)
  forge.clock.advance(2 * MINUTE)
  await s.sweep()
  expect(await s.pipelines()).toHaveLength(1)
  forge.clock.advance(5 * MINUTE)
  await s.sweep()
  expect(await s.pipelines()).toHaveLength(2)
  expect((await owner.get(`${url}/${schedule.id}/pipelines`)).body).toHaveLength(2)
  const [{ id }] = (await owner.get(`${url}/${schedule.id}/pipelines`, { sort: 'desc' })).body
  expect((await owner.get(`/projects/${s.project.id}/pipelines/${id}/variables`)).body).toMatchObject([
    { key: 'COLOUR', value: 'red' },
  ])
})

test.each([
  ['is not active', (s: Stage, item: string) => s.root.put(item, { active: false })],
  ['has a blocked owner', (s: Stage) => s.root.post(`/users/${s.owner.id}/block`)],
  ['has an owner who may not any more', (s: Stage) => s.root.put(`${s.members}/${s.owner.id}`, { access_level: 20 })],
  ['names no branch', (s: Stage, item: string) => s.root.put(item, { ref: 'nowhere' })],
] as const)('what %s makes no pipeline', async (_what, spoil) => {
  await using s = await stage()
  const { body: schedule } = await s.owner.post(s.url, INPUT)
  const item = `${s.url}/${schedule.id}`
  expect((await spoil(s, item)).status).toBeLessThan(300)
  s.forge.clock.advance(61 * MINUTE)
  await s.sweep()
  expect(await s.pipelines()).toEqual([])
})

type Stage = Awaited<ReturnType<typeof stage>>

test('a schedule that is run by hand runs as the user who runs it', async () => {
  await using s = await stage()
  const { body: schedule } = await s.owner.post(s.url, { ...INPUT, active: false })
  const item = `${s.url}/${schedule.id}`
  expect(await s.root.post(`${item}/play`)).toMatchObject({ status: 201, body: { message: '201 Created' } })
  expect(await s.pipelines()).toMatchObject([{ user_id: s.root.id, schedule_id: schedule.id }])
  const developer = await s.forge.user()
  await s.root.post(s.members, { user_id: developer.id, access_level: 30 })
  expect((await developer.post(`${item}/play`)).status).toBe(403)
  expect(await s.pipelines()).toHaveLength(1)
})

test('a page of schedules costs as many queries for many as for few', async () => {
  await using s = await stage()
  const list = () => s.root.get(s.url, { per_page: 100 })
  await s.root.post(s.url, INPUT)
  const few = await s.forge.queries(list)
  for (const one of [s.root, s.owner, s.root, s.owner]) await one.post(s.url, INPUT)
  expect(await s.forge.queries(list)).toBe(few)
  expect((await list()).body).toHaveLength(5)
})

test('inputs are kept with the schedule, for those who may change it, and given to what it runs', async () => {
  await using s = await stage()
  const { forge, owner, url, root } = s
  const spec = 'spec: { inputs: { flavour: {}, count: { type: number, default: 1 } } }\n---\n'
  const config = `${spec}bake: { script: 'bake $[[ inputs.flavour ]]', parallel: $[[ inputs.count ]] }`
  await forge.seed(s.project, { '.gitlab-ci.yml': config }, { message: '[skip ci]' })
  const inputs = [
    { name: 'flavour', value: 'sour' },
    { name: 'count', value: 2 },
  ]
  const { body: schedule } = await owner.post(url, { ...INPUT, inputs })
  expect(schedule.inputs).toEqual(inputs)
  const item = `${url}/${schedule.id}`
  const developer = await forge.user()
  await root.post(s.members, { user_id: developer.id, access_level: 30 })
  expect(JSON.stringify((await developer.get(item)).body)).not.toContain('sour')
  forge.clock.advance(61 * MINUTE)
  await s.sweep()
  const jobs = await forge.app.db
    .selectFrom('ci_jobs')
    .select(['name', 'options'])
    .where('name', 'like', 'bake%')
    .orderBy('id')
    .execute()
  expect(jobs).toMatchObject([
    { name: 'bake 1/2', options: expect.stringContaining('bake sour') },
    { name: 'bake 2/2' },
  ])
  const changed = await owner.put(item, {
    inputs: [
      { name: 'count', destroy: true },
      { name: 'flavour', value: 'hot' },
    ],
  })
  expect(changed.body.inputs).toEqual([{ name: 'flavour', value: 'hot' }])
  expect((await owner.put(item, { description: 'x' })).body.inputs).toEqual(changed.body.inputs)
  // An unknown input creates no pipeline.
  await owner.put(item, { inputs: [{ name: 'colour', value: 'red' }] })
  expect((await owner.post(`${item}/play`)).body.message.base).toEqual(['unknown input arguments: colour'])
  expect(await s.pipelines()).toHaveLength(1)
})

test('a time that was due is run once, whatever happens in between', async () => {
  await using s = await stage()
  const { forge, owner, url, project } = s
  const { body: schedule } = await owner.post(url, INPUT)
  const due = (await forge.app.db.selectFrom('pipeline_schedules').selectAll().executeTakeFirstOrThrow()).next_run_at!
  forge.clock.advance(61 * MINUTE)
  await sweepSchedules.handle(forge.app, {})
  // The next time is set and the run is enqueued. Meanwhile a user plays the schedule.
  expect((await owner.post(`${url}/${schedule.id}/play`)).status).toBe(201)
  await forge.settle()
  expect(await s.pipelines()).toHaveLength(2)
  // The process ended before the job was removed: the job runs again, and once more.
  await Promise.all([runDue(forge.app, schedule.id, due), runDue(forge.app, schedule.id, due)])
  expect(await s.pipelines()).toHaveLength(2)
  // A deleted pipeline does not come back either.
  for (const { id } of await s.pipelines())
    expect((await s.root.delete(`/projects/${project.id}/pipelines/${id}`)).status).toBe(204)
  await runDue(forge.app, schedule.id, due)
  expect(await s.pipelines()).toEqual([])
})

test('pipelines of a schedule are narrowed by state and time, and sorted', async () => {
  await using s = await stage()
  const { db } = s.forge.app
  const { body: schedule } = await s.owner.post(s.url, { ...INPUT, active: false })
  const item = `${s.url}/${schedule.id}`
  const states = ['success', 'failed', 'running', 'pending'] as const
  for (const _ of states) {
    s.forge.clock.advance(2 * MINUTE)
    expect((await s.root.post(`${item}/play`)).status).toBe(201)
  }
  const made = await s.pipelines()
  for (const [n, { id }] of made.entries()) {
    const [created_at, updated_at] = [`2020-01-0${n + 1}T00:00:00.000Z`, `2020-02-0${n + 1}T00:00:00.000Z`]
    await db.updateTable('pipelines').set({ status: states[n]!, created_at, updated_at }).where('id', '=', id).execute()
  }
  const listed = async (input: object) =>
    (await s.owner.get(`${item}/pipelines`, { ...input })).body.map(({ id }: { id: number }) =>
      made.findIndex((one) => one.id === id),
    )
  for (const [input, expected] of [
    [{}, [0, 1, 2, 3]],
    [{ sort: 'desc' }, [3, 2, 1, 0]],
    [{ scope: 'running' }, [2]],
    [{ scope: 'pending' }, [3]],
    [{ scope: 'finished' }, [0, 1]],
    [{ status: 'failed' }, [1]],
    [{ status: 'manual' }, []],
    [{ created_before: '2020-01-02T00:00:00Z' }, [0, 1]],
    [{ created_after: '2020-01-03T00:00:00Z' }, [2, 3]],
    [{ updated_before: '2020-02-01T00:00:00Z' }, [0]],
    [{ updated_after: '2020-02-04T00:00:00Z' }, [3]],
  ] as const)
    expect([input, await listed(input)]).toEqual([input, expected])
  expect((await s.owner.get(`${item}/pipelines`, { scope: 'branches' })).status).toBe(400)
})
