import { expect, test, vi } from 'vitest'
import { backupStage, refsIn } from '../../../test/backups.ts'
import { authorizationOf, LfsClient, objectOf } from '../../../test/lfs.ts'
import { restoredOnly } from '../../../test/restore-only.ts'
import { sshKey } from '../../../test/samples.ts'
import { dropUnlinkedObjects } from '../../features/repository/lfs/jobs.ts'
import { startForge } from '../../forge.ts'

// Each attempt restores a whole database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

test('a group comes back with its subgroups and projects, without users that are gone', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { administrator: root } = forge
  const leaver = await forge.user()
  const member = await forge.user()
  const group = await forge.group({ path: 'tools', name: 'tools', visibility: 'public' })
  const inner = await forge.group({ path: 'inner', name: 'inner', parent_id: group.id, visibility: 'public' })
  const source = await forge.project({ path: 'app', namespace_id: inner.id, visibility: 'public' })
  const moved = await forge.project({ path: 'moved', namespace_id: inner.id })
  await forge.seed(source, { 'a.txt': 'one' })
  for (const { id } of [leaver, member])
    await root.post(`/groups/${group.id}/members`, { user_id: id, access_level: 30 })
  const url = `/projects/${source.id}`
  await leaver.post(`${url}/issues`, { title: 'By a user who leaves' })
  await member.post(`${url}/issues`, { title: 'Stays', assignee_ids: [leaver.id, member.id] })
  await root.post(`/projects/${moved.id}/issues`, { title: 'Moves with its project' })
  for (const person of [leaver, member]) await person.post(`${url}/star`)
  const key = sshKey()
  await root.post(`${url}/deploy_keys`, { title: 'robot', key })
  const lfs = new LfsClient(forge, source.path_with_namespace, authorizationOf(root))
  const object = objectOf('a large file')
  await lfs.put(object)
  // The fork and its source share a pool.
  const { body: fork } = await root.post(`${url}/fork`, { namespace_id: group.id, path: 'fork', name: 'fork' })
  await forge.settle()
  const { config } = forge.app
  const refs = await refsIn(config.storages['default']!)
  const keys = (await root.get(`${url}/deploy_keys`)).body
  const stored = () => forge.app.db.selectFrom('lfs_objects').select('id').execute()
  const before = await stored()
  await stage.backUp()

  await root.put(`/projects/${moved.id}/transfer`, { namespace: 'root' })
  await root.delete(`/projects/${moved.id}/issues/1`)
  await root.delete(`/groups/${group.id}`)
  await root.delete(`/users/${leaver.id}`, { hard_delete: true })
  await forge.settle()
  expect((await root.get(`/projects/${fork.id}`)).status).toBe(404)
  // The same large file is uploaded again, to another project, and has another id.
  await dropUnlinkedObjects.handle(forge.app, {})
  await new LfsClient(forge, 'root/moved', authorizationOf(root)).put(object)
  expect(await stored()).not.toEqual(before)

  const { kind, leftOut, faults, rows } = await restoredOnly(forge, stage, { only: 'tools' })
  expect({ kind, faults }).toEqual({ kind: 'group', faults: [] })
  expect(rows).toMatchObject({ namespaces: 2, projects: 2, pools: 1, keys: 1 })
  expect(rows).not.toHaveProperty('lfs_objects')
  expect(leftOut).toMatchObject({ members: 1, stars: 1, issue_assignees: 1 })
  expect((await root.get(`/groups/${inner.id}`)).body).toMatchObject({ full_path: 'tools/inner', parent_id: group.id })
  const { body } = await member.get(url)
  expect(body).toMatchObject({ star_count: 1, forks_count: 1, open_issues_count: 2 })
  expect((await member.post(`${url}/issues`, { title: 'Works' })).body.iid).toBe(3)
  expect((await root.get(`${url}/issues/2`)).body.assignees).toMatchObject([{ id: member.id }])
  expect((await root.get(`${url}/deploy_keys`)).body).toEqual(keys)
  expect((await root.get(`/projects/${fork.id}`)).body.forked_from_project.id).toBe(source.id)
  expect((await lfs.batch('download', object)).body.objects).toMatchObject([{ actions: { download: {} } }])
  expect(await refsIn(config.storages['default']!)).toEqual(refs)
  // The transferred project was not deleted, so its deleted issue stays deleted.
  expect((await root.get(`/projects/${moved.id}`)).body.path_with_namespace).toBe('root/moved')
  expect((await root.get(`/projects/${moved.id}/issues/1`)).status).toBe(404)
  expect(await forge.app.store.faults()).toEqual([])
})
