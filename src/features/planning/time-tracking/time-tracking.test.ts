import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('time is estimated, spent, taken back and forgotten, and told as notes', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { id } = await forge.project({}, owner)
  const issue = await forge.issue({ id }, {}, owner)
  const url = `/projects/${id}/issues/1`
  expect(await owner.post(`${url}/time_estimate`, { duration: '1w 2d' })).toMatchObject({
    status: 200,
    body: { time_estimate: 201_600, human_time_estimate: '1w 2d', total_time_spent: 0, human_total_time_spent: null },
  })
  expect(await owner.post(`${url}/add_spent_time`, { duration: '3h30m' })).toMatchObject({
    status: 201,
    body: { total_time_spent: 12_600, human_total_time_spent: '3h 30m' },
  })
  expect((await owner.post(`${url}/add_spent_time`, { duration: '-30m' })).body.human_total_time_spent).toBe('3h')
  expect((await owner.get(`/projects/${id}/issues`)).body[0].time_stats).toEqual(
    (await owner.get(`${url}/time_stats`)).body,
  )
  await owner.post(`${url}/reset_time_estimate`)
  expect((await owner.post(`${url}/reset_spent_time`)).body).toEqual({
    time_estimate: 0,
    total_time_spent: 0,
    human_time_estimate: null,
    human_total_time_spent: null,
  })
  const notes = await forge.app.db
    .selectFrom('notes')
    .select('body')
    .where('issue_id', '=', issue.id)
    .orderBy('id')
    .execute()
  expect(notes.map(({ body }) => body)).toEqual([
    'changed time estimate to 1w 2d',
    'added 3h 30m of time spent',
    'subtracted 30m of time spent',
    'removed time estimate',
    'removed time spent',
  ])
})

test.each([
  ['time_estimate', {}, '400 (Bad request) duration not given'],
  ['time_estimate', { duration: 'soon' }, { time_estimate: ['has an invalid format'] }],
  ['time_estimate', { duration: '-1h' }, { time_estimate: ['has an invalid format'] }],
  ['time_estimate', { duration: '0' }, { time_estimate: ['has an invalid format'] }],
  ['time_estimate', { duration: '999999999w' }, { time_estimate: ['has an invalid format'] }],
  ['add_spent_time', { duration: 'x' }, { timelogs: ['is invalid'] }],
  ['add_spent_time', { duration: '0' }, { time_spent: ["can't be 0"] }],
  ['add_spent_time', { duration: '-1h' }, { time_spent: ['Time to subtract exceeds the total time spent'] }],
] as const)('%s of %o is refused, and nothing moves', async (verb, input, message) => {
  await using forge = await startForge()
  const project = await forge.project()
  await forge.issue(project)
  const url = `/projects/${project.id}/issues/1`
  const before = [(await forge.administrator.get(url)).body, await forge.events()]
  expect(await forge.administrator.post(`${url}/${verb}`, input)).toMatchObject({ status: 400, body: { message } })
  expect([(await forge.administrator.get(url)).body, await forge.events()]).toEqual(before)
})
