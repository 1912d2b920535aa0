/** Single projects and groups come back from a backup into the living instance. */
import { expect, test, vi } from 'vitest'
import { backupStage, refsIn, rowsOf } from '../../../test/backups.ts'
import { v4 } from '../../../test/endpoints.ts'
import { restoredOnly } from '../../../test/restore-only.ts'
import { allCalls, worldOf } from '../../../test/world.ts'
import { MINUTE } from '../../clock.ts'
import type { Config } from '../../config.ts'
import { startForge } from '../../forge.ts'
import { stepsBack, takeBack } from '../../store/back.ts'
import { migrate } from '../../store/migrate.ts'
import { openStore } from '../../store/open.ts'

// Each attempt restores a whole database, which takes long on a busy machine.
vi.setConfig({ testTimeout: 600_000 })

/** Tables of background work, of what happened since, and of totals, which the answers of the API show. */
const VOLATILE =
  /^(jobs|job_totals|events|event_\w+|hook_deliveries|delivery_lanes|changes|\w+_changes|\w+_facets|activity_spans|ci_left_blobs|audit_events|throttles|sessions|users|access_tokens|\w+_search\w*|pipeline_marks|project_authorizations|ci_queue|notifications|notification_mails|hook_replays|pending_changes)$/

const OPTIONS = { durable: false, shared: false, poolSize: 2 }

/** The rows of all other tables, without versions. */
async function lastingRows(config: Config): Promise<Record<string, string[]>> {
  const rows = Object.entries(await rowsOf(config)).filter(([table]) => !VOLATILE.test(table))
  const lasting = (line: string) => JSON.stringify({ ...(JSON.parse(line) as object), version: 0 })
  return Object.fromEntries(rows.map(([table, lines]) => [table, lines.map(lasting)]))
}

test('a project comes back with everything that the API and its repositories show', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const world = await worldOf(forge)
  const { project } = world.stage
  const { path_with_namespace: only } = (await forge.administrator.get(`/projects/${project.id}`)).body
  const calls = await allCalls(
    world,
    // Access tokens of a project are revoked with it.
    v4.filter(({ path }) => path.startsWith('/projects/:id') && !path.includes('access_tokens')),
  )
  // Repositories are measured some seconds after a push.
  forge.clock.advance(MINUTE)
  await forge.settle()
  // A stream, and an archive with the times of files.
  const reads = calls.filter(({ endpoint: { method, path } }) => method === 'GET' && !/\/(live|snapshot)$/.test(path))
  const answers = async () => {
    const found: Record<string, unknown> = {}
    for (const { name, address } of reads) {
      const { status, body, headers } = await forge.administrator.get(address)
      const lasting = JSON.stringify(body ?? null, (key, value: unknown) => (key === 'queued_duration' ? 0 : value))
      found[name] = { status, body: JSON.parse(lasting) as unknown, total: headers.get('x-total') }
    }
    return found
  }
  await answers()
  await forge.settle()
  const before = await answers()
  const { config } = forge.app
  const refs = await refsIn(config.storages['default']!)
  const rows = await lastingRows(config)
  await stage.backUp()

  expect((await forge.administrator.delete(`/projects/${project.id}`)).status).toBe(204)
  await forge.settle()
  expect(Object.keys(await refsIn(config.storages['default']!)).length).toBeLessThan(Object.keys(refs).length)
  const other = await forge.project()
  await forge.seed(other, { 'a.txt': 'later' })
  await forge.administrator.post(`/projects/${other.id}/issues`, { title: 'Later' })
  await forge.settle()

  const { faults, leftOut, rows: counts } = await restoredOnly(forge, stage, { only })
  expect(faults).toEqual([])
  expect(leftOut).toEqual({})
  expect(counts).toMatchObject({ projects: 1 })
  expect(await answers()).toEqual(before)
  expect(await refsIn(config.storages['default']!)).toMatchObject(refs)
  const after = await lastingRows(config)
  for (const [table, lines] of Object.entries(rows))
    expect
      .soft(
        lines.filter((line) => !after[table]!.includes(line)),
        table,
      )
      .toEqual([])
  expect(await forge.app.store.faults()).toEqual([])
})

test('a backup of an earlier version is brought up to date before rows are chosen', async () => {
  await using forge = await startForge()
  await using stage = await backupStage(forge)
  const { administrator: root } = forge
  const group = await forge.group({ path: 'tools', name: 'tools' })
  const project = await forge.project({ path: 'app', namespace_id: group.id })
  await forge.seed(project, { 'a.txt': 'early' })
  await root.post(`/projects/${project.id}/issues`, { title: 'Early' })
  await forge.settle()
  const { config } = forge.app
  await forge.whileStopped(async () => {
    const store = await openStore(config.databaseUrl ?? `sqlite:${config.data}/mortise.sqlite`, OPTIONS)
    const steps = await stepsBack(store, null)
    expect(steps).not.toEqual([])
    await takeBack(store, steps)
    await stage.backUp()
    await migrate(store)
    await store.close()
  })

  await root.delete(`/projects/${project.id}`)
  await forge.settle()
  const { faults, rows } = await restoredOnly(forge, stage, { only: 'tools/app' })
  expect([faults, rows]).toMatchObject([[], { projects: 1, issues: 1 }])
  expect((await root.get(`/projects/${project.id}/issues`)).body).toMatchObject([{ title: 'Early' }])
  const file = await root.get(`/projects/${project.id}/repository/files/a.txt/raw`, { ref: 'master' })
  expect(file.status).toBe(200)
})
