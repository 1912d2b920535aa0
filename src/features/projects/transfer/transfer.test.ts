import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('an owner moves a project into a group of theirs and back', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const group = await forge.group({ path: 'engines' }, ann)
  const project = await forge.project({ path: 'work', visibility: 'public' }, ann)

  const moved = await ann.put(`/projects/${project.id}/transfer`, { namespace: 'engines' })
  expect(moved).toMatchObject({
    status: 200,
    // Not more visible than the group.
    body: { path_with_namespace: 'engines/work', visibility: 'private', namespace: { id: group.id } },
  })
  expect((await ann.get('/projects/engines%2Fwork')).body.id).toBe(project.id)
  expect((await ann.get('/projects/ann%2Fwork')).status).toBe(404)
  expect(await forge.events()).toContain('project.transferred')

  const back = await ann.put(`/projects/${project.id}/transfer`, { namespace: ann.username })
  expect(back.body).toMatchObject({ path_with_namespace: 'ann/work', owner: { id: ann.id } })
  expect((await ann.get(`/projects/${project.id}/members`)).body).toMatchObject([{ id: ann.id, access_level: 40 }])
})

test('what is refused moves nothing', async () => {
  await using forge = await startForge()
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben', projects_limit: 0 })]
  const group = await forge.group({ path: 'engines' }, ann)
  const foreign = await forge.group({ path: 'foreign', visibility: 'public' })
  const project = await forge.project({ path: 'work' }, ann)
  await forge.project({ path: 'work', namespace_id: group.id }, ann)
  const theirs = await forge.project({ path: 'theirs', namespace_id: (await forge.group({ path: 'b' }, ben)).id }, ben)
  await forge.settle()
  const before = await forge.events()

  const table: [typeof ann, number, string, number, unknown][] = [
    [ann, project.id, 'engines', 400, expect.stringContaining('Project with same path in target namespace')],
    [ann, project.id, 'ann', 400, expect.stringContaining('Transfer failed, please contact an admin.')],
    [ann, project.id, String(foreign.id), 404, '404 Target Namespace Not Found'],
    [ann, project.id, 'ben', 404, '404 Target Namespace Not Found'],
    [ann, project.id, 'nowhere', 404, '404 Target Namespace Not Found'],
    [ben, theirs.id, 'ben', 403, undefined],
  ]
  for (const [who, id, namespace, status, message] of table) {
    const answer = await who.put(`/projects/${id}/transfer`, { namespace })
    expect([namespace, answer.status, answer.body.message]).toEqual([namespace, status, message])
  }
  expect((await ann.get(`/projects/${project.id}`)).body.path_with_namespace).toBe('ann/work')
  expect(await forge.events()).toEqual(before)
})
