import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('issues are linked, shown from both sides, and parted', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const [one, other] = [await forge.project({}, owner), await forge.project({ visibility: 'public' }, owner)]
  await forge.issue(one, { title: 'Here' }, owner)
  await forge.issue(other, { title: 'There' }, owner)
  const [here, there] = [`/projects/${one.id}/issues/1/links`, `/projects/${other.id}/issues/1/links`]

  const made = await owner.post(here, { target_project_id: other.id, target_issue_iid: 1, link_type: 'blocks' })
  expect(made).toMatchObject({
    status: 201,
    body: { source_issue: { title: 'Here' }, target_issue: { title: 'There' }, link_type: 'blocks' },
  })
  expect((await owner.get(here)).body).toMatchObject([
    { title: 'There', issue_link_id: made.body.id, link_type: 'blocks' },
  ])
  expect((await owner.get(there)).body).toMatchObject([{ title: 'Here', link_type: 'is_blocked_by' }])
  // A viewer who cannot see the other issue sees no link.
  const stranger = await forge.user()
  expect((await stranger.get(there)).body).toEqual([])
  expect((await stranger.get(`${there}/${made.body.id}`)).status).toBe(404)

  for (const link_type of ['blocks', 'relates_to', 'is_blocked_by']) {
    const again = { target_project_id: one.id, target_issue_iid: 1, link_type }
    expect(await owner.post(there, again)).toMatchObject({
      status: 409,
      body: { message: 'Issue(s) already assigned' },
    })
  }
  expect(await owner.delete(`${there}/${made.body.id}`)).toMatchObject({ status: 200, body: { id: made.body.id } })
  expect((await owner.get(here)).body).toEqual([])
})

test.each([
  [{ target_issue_iid: 1 }, 400, '400 (Bad request) target_project_id not given'],
  [{ target_project_id: 'self', target_issue_iid: 1 }, 400, 'Issue cannot be related to itself'],
  [{ target_project_id: 'self', target_issue_iid: 9 }, 404, '404 Issue Not Found'],
  [{ target_project_id: 999_999, target_issue_iid: 1 }, 404, '404 Issue Not Found'],
  [
    { target_project_id: 'self', target_issue_iid: 2, link_type: 'likes' },
    400,
    'link_type does not have a valid value',
  ],
] as const)('a link to %o is refused, and nothing moves', async (request, status, message) => {
  await using forge = await startForge()
  const project = await forge.project()
  await forge.issue(project)
  await forge.issue(project)
  const url = `/projects/${project.id}/issues/1/links`
  const given = 'target_project_id' in request && request.target_project_id === 'self'
  const input = { ...request, ...(given && { target_project_id: project.id }) }
  expect(await forge.administrator.post(url, input)).toMatchObject({ status, body: { message } })
  expect((await forge.administrator.get(url)).body).toEqual([])
  expect(await forge.app.db.selectFrom('notes').select('id').execute()).toEqual([])
})

test('without a project, the other issue is of the same one', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  for (const title of ['a', 'b']) await owner.post(`${url}/issues`, { title })
  const made = await owner.post(`${url}/issues/1/links`, { target_project_id: null, target_issue_iid: 2 })
  expect([made.status, made.body.target_issue?.iid]).toEqual([201, 2])
})
