import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'

test('administrators learn what is stored, and how much room is left', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const storage = async () => (await administrator.get('/application/storage')).body
  expect(await storage()).toMatchObject({ repository_size: 0, lfs_objects_size: 0, job_artifacts_size: 0 })
  const { id } = await forge.project({ initialize_with_readme: true })
  await forge.app.db
    .updateTable('projects')
    .set({ lfs_objects_size: 2 ** 33 })
    .execute()
  await forge.app.db.insertInto('ci_artifacts_facets').values({ project_id: id, total: 7 }).execute()
  // Repositories are measured some seconds after they change.
  forge.clock.advance(10_000)
  await forge.settle()
  const { statistics } = (await administrator.get(`/projects/${id}`, { statistics: true })).body
  const { database_size, disk_size, disk_free, ...sizes } = await storage()
  const { repository_size } = statistics
  expect(sizes).toEqual({ repository_size, lfs_objects_size: 2 ** 33, job_artifacts_size: 7 })
  expect(repository_size).toBeGreaterThan(0)
  expect(database_size).toBeGreaterThan(100_000)
  expect(disk_free).toBeGreaterThan(0)
  expect(disk_size).toBeGreaterThan(disk_free)
})

test('administrators learn how much there is of everything', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  await owner.post(`${url}/issues`, { title: 'a' })
  await owner.post(`${url}/milestones`, { title: 'a' })
  await owner.post('/snippets', { title: 'a', content: 'x' })
  await forge.mergeRequest(await forge.project())
  const blocked = await forge.user()
  await forge.administrator.post(`/users/${blocked.id}/block`)
  const { body } = await forge.administrator.get('/application/statistics')
  expect(body).toEqual({
    forks: '0',
    issues: '1',
    merge_requests: '1',
    notes: '0',
    snippets: '1',
    ssh_keys: '0',
    milestones: '1',
    users: '3',
    groups: '1',
    projects: '2',
    active_users: '2',
  })
})

test('there is no license to ask for', async () => {
  await using forge = await startForge()
  for (const path of ['/license', '/licenses']) expect((await forge.administrator.get(path)).status, path).toBe(404)
})
