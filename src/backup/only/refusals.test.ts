import { expect, test, vi } from 'vitest'
import { backupStage } from '../../../test/backups.ts'
import { refusedOnly, restoredOnly } from '../../../test/restore-only.ts'
import { startForge } from '../../forge.ts'
import { restoreOnly } from './only.ts'

// Each attempt restores a whole database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

test('a project that lives, is in the bin or has no path is not restored, and nothing changes', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { administrator: root } = forge
  const group = await forge.group({ path: 'tools', name: 'tools' })
  const project = await forge.project({ path: 'app', namespace_id: group.id })
  await root.post(`/projects/${project.id}/issues`, { title: 'An issue' })
  await forge.settle()
  const time = await stage.backUp()
  const attempt = (only: string, as: string | null = null) => refusedOnly(forge, stage, { only, as })

  expect(await attempt('tools/other')).toBe(`the backup of ${time} holds no project or group tools/other`)
  expect(await attempt('root')).toBe('root is a user: name a group or a project')
  expect(await attempt('tools/app')).toBe(`tools/app still exists (project ${project.id}): delete it first`)
  expect(await attempt('tools')).toBe(`tools still exists (group ${group.id}): delete it first`)
  expect(await refusedOnly(forge, stage, { only: 'tools/app', at: new Date(0) })).toContain('the oldest moment in')

  await root.put('/application/settings', { deletion_adjourned_period: 7 })
  await root.delete(`/projects/${project.id}`)
  await forge.settle()
  expect(await attempt('tools/app')).toBe(
    `tools/app is in the bin: start the server and call POST /projects/${project.id}/restore`,
  )
  const later = await stage.backUp()
  expect(await attempt('tools/app')).toBe(`tools/app was deleted already at ${later}: give an earlier time with --at`)
  await root.delete(`/projects/${project.id}`, { permanently_remove: true, full_path: 'tools/app' })
  await forge.settle()

  const at = new Date(time)
  const next = await forge.project({ path: 'app', namespace_id: group.id })
  const taken = 'tools/app is taken (another project or group has this path or name)'
  const early = (only: string, as: string | null = null) => refusedOnly(forge, stage, { only, as, at })
  expect(await early('tools/app')).toBe(`${taken}: give another path with --as, such as --as tools/app-restored`)
  expect(await early('tools/app', 'tools/app')).toContain(taken)
  expect(await early('tools/app', 'other/app2')).toBe('--as must name the same group, such as --as tools/app2')
  expect(await early('tools/app', 'tools/-a b')).toBe('--as names a path that is not allowed')
  const { path } = await restoredOnly(forge, stage, { only: 'Tools/App', as: 'tools/app2', at })
  expect(path).toBe('tools/app2')
  const { body } = await root.get(`/projects/${project.id}`)
  expect(body).toMatchObject({ path_with_namespace: 'tools/app2', name: 'app2', open_issues_count: 1 })
  expect((await root.get('/projects/tools%2Fapp')).body.id).toBe(next.id)
})

test('a project of a deleted group comes back with the group only', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { administrator: root } = forge
  const group = await forge.group({ path: 'tools', name: 'tools' })
  const inner = await forge.group({ path: 'inner', name: 'inner', parent_id: group.id })
  const deep = await forge.project({ path: 'deep', namespace_id: inner.id })
  await forge.settle()
  await stage.backUp()
  const attempt = (only: string, as: string | null = null) => refusedOnly(forge, stage, { only, as })
  await root.put('/application/settings', { deletion_adjourned_period: 7 })

  await root.delete(`/groups/${group.id}`)
  await forge.settle()
  expect(await attempt('tools/inner/deep')).toBe(
    'tools/inner/deep is in the bin with its group: start the server and restore the group there',
  )
  await root.delete(`/groups/${group.id}`, { permanently_remove: true, full_path: 'tools' })
  await forge.settle()
  expect((await root.get(`/projects/${deep.id}`)).status).toBe(404)
  expect(await attempt('tools/inner/deep')).toBe(
    'the group tools no longer exists: restore all of it with --only tools instead',
  )
  await forge.group({ path: 'tools', name: 'tools' })
  await forge.group({ path: 'other', name: 'tools3' })
  expect(await attempt('tools')).toContain('tools is taken')
  expect(await attempt('tools', 'tools')).toContain('tools is taken')
  // The group would be named after its path.
  expect(await attempt('tools', 'tools3')).toContain('tools3 is taken')
  expect((await restoredOnly(forge, stage, { only: 'tools', as: 'tools2' })).path).toBe('tools2')
  expect((await root.get(`/projects/${deep.id}`)).body.path_with_namespace).toBe('tools2/inner/deep')
})

test('the instance must be the one of the backup, and not in use', async () => {
  await using forge = await startForge()
  await using other = await startForge()
  await using stage = await backupStage(forge)
  await other.project()
  // All test forges begin as copies of one instance.
  await other.app.db
    .updateTable('instance_key')
    .set({ check_value: other.app.vault.seal('other') })
    .execute()
  const { id, path_with_namespace: only } = await forge.project()
  await forge.settle()
  await stage.backUp()
  await forge.administrator.delete(`/projects/${id}`)
  await forge.settle()

  expect(await restoreOnly(stage.archive, forge.app.config, { only }).catch((error: Error) => error.message)).toBe(
    'the server, or another command, uses this instance: stop it first',
  )
  expect(await refusedOnly(other, stage, { only })).toContain('the backup is one of another instance')
  expect(await refusedOnly(forge, stage, { only }, { secretKey: 'f'.repeat(64) })).toContain('is not the key')
  await restoredOnly(forge, stage, { only })
  expect((await forge.administrator.get(`/projects/${id}`)).status).toBe(200)
})

test('background work of the deletion comes first', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { id, path_with_namespace: only } = await forge.project()
  await forge.settle()
  await stage.backUp()
  await forge.stopWorker()
  await forge.administrator.delete(`/projects/${id}`)
  const message = await refusedOnly(forge, stage, { only })
  expect(message).toBe(
    `the deletion of ${only} is not finished: start the server, wait a minute and stop the server again`,
  )
  await forge.settle()
  await restoredOnly(forge, stage, { only })
  await forge.settle()
  expect((await forge.administrator.get(`/projects/${id}`)).status).toBe(200)
})
