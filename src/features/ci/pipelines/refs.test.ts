import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('no spelling of a protected branch runs its pipeline without permission', async () => {
  await using forge = await startForge()
  const { administrator: root } = forge
  const project = await forge.project()
  await forge.seed(project, { '.gitlab-ci.yml': 'test: { script: make }' })
  await forge.seed(project, { more: 'x' }, { branch: 'work' })
  const developer = await forge.user()
  await root.post(`/projects/${project.id}/members`, { user_id: developer.id, access_level: 30 })
  const pipelines = () => forge.app.db.selectFrom('pipelines').selectAll().execute()
  const before = await pipelines()
  const start = (ref: string) => developer.post(`/projects/${project.id}/pipeline`, { ref })
  for (const ref of ['master', 'refs/heads/master', 'refs/pipelines/1', 'refs/heads/../heads/master', 'heads/master'])
    expect((await start(ref)).status, ref).toBe(400)
  expect(await pipelines()).toEqual(before)
  expect(await start('refs/heads/work')).toMatchObject({ status: 201, body: { ref: 'work' } })
})
