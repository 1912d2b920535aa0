import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('administrators learn how much there is of everything', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  await owner.post(`${url}/issues`, { title: 'a' })
  await owner.post(`${url}/milestones`, { title: 'a' })
  await owner.post('/snippets', { title: 'a', content: 'x' })
  const blocked = await forge.user()
  await forge.administrator.post(`/users/${blocked.id}/block`)
  const { body } = await forge.administrator.get('/application/statistics')
  expect(body).toEqual({
    forks: 0,
    issues: 1,
    merge_requests: 0,
    notes: 0,
    snippets: 1,
    ssh_keys: 0,
    milestones: 1,
    users: 3,
    groups: 1,
    projects: 1,
    active_users: 2,
  })
})

test('there is no license to ask for', async () => {
  await using forge = await startForge()
  for (const path of ['/license', '/licenses']) expect((await forge.administrator.get(path)).status, path).toBe(404)
})
