import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'

const rowsOf = ({ app }: TestForge, project_id: number) =>
  app.db
    .selectFrom('ref_changes')
    .select(['wiki', 'ref', 'before', 'after', 'user_id'])
    .where('project_id', '=', project_id)
    .orderBy('id')
    .execute()

test('every door to a ref leaves a row, and a refused change leaves none', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const { id: sha } = await forge.seed(project, { a: 'a\n' })
  const url = `/projects/${project.id}`
  await jane.post(`${url}/repository/branches`, { branch: 'topic', ref: 'master' })
  const file = { branch: 'topic', content: 'b\n', commit_message: 'Add b' }
  await jane.post(`${url}/repository/files/b`, file)
  const after = (await jane.get(`${url}/repository/commits/topic`)).body.id as string
  await jane.delete(`${url}/repository/branches/topic`)
  await jane.post(`${url}/wikis`, { title: 'Home', content: 'x' })
  expect((await jane.delete(`${url}/repository/branches/master`)).status).toBeGreaterThanOrEqual(400)

  const topic = 'refs/heads/topic'
  const by = { user_id: jane.id, wiki: false }
  const rows = await rowsOf(forge, project.id)
  expect(rows.filter(({ ref, wiki }) => ref === topic && !wiki)).toEqual([
    { ...by, ref: topic, before: null, after: sha },
    { ...by, ref: topic, before: sha, after },
    { ...by, ref: topic, before: after, after: null },
  ])
  expect(rows.filter(({ ref }) => ref === 'refs/heads/master')).toMatchObject([
    { wiki: false, before: null, after: sha },
    { wiki: true, before: null, user_id: jane.id },
  ])
})
