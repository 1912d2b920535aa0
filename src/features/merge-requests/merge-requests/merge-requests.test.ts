import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('a merge request from a branch', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const project = await forge.project({ name: 'tools' }, jane)
  await forge.seed(project, { 'a.txt': 'one\n' })
  await forge.seed(project, { 'b.txt': 'two\n' }, { branch: 'feature' })
  const made = await jane.post(`/projects/${project.id}/merge_requests`, {
    source_branch: 'feature',
    target_branch: 'master',
    title: 'Add b',
  })
  expect(made).toMatchObject({ status: 201, body: { iid: 1, state: 'opened', merge_status: 'can_be_merged' } })
})
