/** Limits on what the author of a file can request. */
import { expect, test } from 'vitest'
import { findJobByName, runJobByName } from '../../../../test/pipelines.ts'
import { startForge } from '../../../forge.ts'
import { batchesOf } from '../../../lib/async/batches.ts'

test('variables of the whole file count for each job that keeps them', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const jobs = (count: number) => Array.from({ length: count }, (_, n) => `j${n}: { script: x }`).join('\n')
  const file = (count: number) => ({ '.gitlab-ci.yml': `variables: { A: ${'x'.repeat(900_000)} }\n${jobs(count)}` })
  const at = `/projects/${project.id}`
  const newest = async () => {
    const [{ id }] = (await owner.get(`${at}/pipelines`)).body
    return [(await owner.get(`${at}/pipelines/${id}`)).body, (await owner.get(`${at}/pipelines/${id}/jobs`)).body]
  }
  await forge.seed(project, file(2), { as: owner })
  expect(await newest()).toMatchObject([{ status: 'pending' }, [{ name: 'j1' }, { name: 'j0' }]])
  await forge.seed(project, file(40), { as: owner })
  expect(await newest()).toMatchObject([{ status: 'failed', yaml_errors: 'The parsed YAML is too big' }, []])
})

test('a thousand pipelines come of one, and no more', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  const other = await forge.project({}, owner)
  await forge.seed(other, { '.gitlab-ci.yml': 'there: { script: x }' }, { as: owner })
  const files = {
    '.gitlab-ci.yml': `
stages: [first, then, more, later, last]
first: { stage: first, trigger: { include: child.yml } }
then: { stage: then, script: x }
more: { stage: more, trigger: { include: child.yml } }
later: { stage: later, script: x }
child: { stage: last, trigger: { include: child.yml } }
away: { stage: last, trigger: ${other.path_with_namespace} }
`,
    'child.yml': 'own: { stage: build, script: x }\ninner: { stage: test, trigger: { include: leaf.yml } }',
    'leaf.yml': 'leaf: { script: x }',
  }
  await forge.seed(project, files, { as: owner })
  await forge.settle()
  const { db } = forge.app
  const pipelines = () => db.selectFrom('pipelines').selectAll().orderBy('id').execute()
  const first = (await pipelines()).at(-1)!
  expect(first).toMatchObject({ source: 'parent_pipeline' })
  // As if 998 sibling pipelines existed.
  const { id: _id, version: _version, ...row } = first
  const brothers = Array.from({ length: 998 }, (_, n) => ({ ...row, bridge_id: null, iid: 1000 + n }))
  for (const some of batchesOf(brothers, 200)) await db.insertInto('pipelines').values(some).execute()
  await runJobByName(forge, 'then')
  await forge.settle()
  expect(await findJobByName(forge, 'more')).toMatchObject({ status: 'success' })

  const before = (await pipelines()).map(({ id }) => id)
  await runJobByName(forge, 'later')
  await runJobByName(forge, 'own')
  await forge.settle()
  for (const name of ['child', 'away', 'inner'])
    expect(await findJobByName(forge, name)).toMatchObject({
      status: 'failed',
      failure_reason: 'reached_max_pipeline_hierarchy_size',
    })
  expect((await pipelines()).map(({ id }) => id)).toEqual(before)

  // Another root has its own limit.
  const { body: again } = await owner.post(`/projects/${project.id}/pipeline`, { ref: 'master' })
  await forge.settle()
  const { body: bridges } = await owner.get(`/projects/${project.id}/pipelines/${again.id}/bridges`)
  expect(bridges).toContainEqual(expect.objectContaining({ name: 'first', status: 'success' }))
})
