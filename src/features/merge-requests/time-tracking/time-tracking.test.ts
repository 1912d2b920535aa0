import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('time is estimated, spent and forgotten, told as notes, and refused where it makes no sense', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  await forge.seed(project, { 'a.txt': 'one\n' })
  await forge.seed(project, { 'b.txt': 'two\n' }, { branch: 'feature' })
  const path = `/projects/${project.id}/merge_requests`
  await jane.post(path, { source_branch: 'feature', target_branch: 'master', title: 'Add b' })
  const url = `${path}/1`
  expect(await jane.post(`${url}/time_estimate`, { duration: '1w 2d' })).toMatchObject({
    status: 200,
    body: { time_estimate: 201_600, human_time_estimate: '1w 2d', total_time_spent: 0 },
  })
  expect(await jane.post(`${url}/add_spent_time`, { duration: '3h30m' })).toMatchObject({
    status: 200,
    body: { total_time_spent: 12_600, human_total_time_spent: '3h 30m' },
  })
  const stats = (await jane.get(`${url}/time_stats`)).body
  expect((await jane.get(url)).body.time_stats).toEqual(stats)
  expect(await jane.post(`${url}/add_spent_time`, { duration: '-1w' })).toMatchObject({
    status: 400,
    body: { message: { time_spent: ['Time to subtract exceeds the total time spent'] } },
  })
  expect((await jane.post(`${url}/time_estimate`, { duration: 'soon' })).status).toBe(400)
  expect((await jane.get(`${url}/time_stats`)).body).toEqual(stats)
  expect(await jane.post(`${url}/reset_time_estimate`)).toMatchObject({ status: 200, body: { time_estimate: 0 } })
  expect(await jane.post(`${url}/reset_spent_time`)).toMatchObject({ status: 200, body: { total_time_spent: 0 } })
  const notes = (await jane.get(`${url}/notes`, { sort: 'asc' })).body
  expect(notes.map(({ body }: { body: string }) => body)).toEqual([
    'changed time estimate to 1w 2d',
    'added 3h 30m of time spent',
    'removed time estimate',
    'removed time spent',
  ])
})
