import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { castFor, groupOf, projectIn, statuses } from '../../../../test/groups.ts'

const WRITTEN = {
  autoclose_referenced_issues: false,
  allow_merge_on_skipped_pipeline: true,
  suggestion_commit_message: 'Apply %{suggestions_count} suggestions',
  packages_enabled: false,
  pages_access_level: 'public',
  emails_disabled: true,
  build_timeout: 7200,
  build_git_strategy: 'clone',
  ci_default_git_depth: 5,
  auto_cancel_pending_pipelines: 'disabled',
  merge_pipelines_enabled: true,
  keep_latest_artifact: true,
  auto_devops_enabled: true,
  auto_devops_deploy_strategy: 'timed_incremental',
}

test('what a client writes on create and update is read back by every read', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id } = (await jane.post('/projects', { name: 'made', ...WRITTEN })).body
  const { id: other } = await forge.project({ path: 'changed' }, jane)
  await jane.get(`/projects/${other}`)
  expect((await jane.put(`/projects/${other}`, WRITTEN)).body).toMatchObject(WRITTEN)

  const PRESENTED = { ...WRITTEN, emails_enabled: false }
  expect((await jane.get(`/projects/${id}`)).body).toMatchObject(PRESENTED)
  expect((await jane.get(`/projects/${other}`)).body).toMatchObject(PRESENTED)
  expect((await jane.get('/projects', { owned: true })).body).toMatchObject([PRESENTED, PRESENTED])

  const cleared = { suggestion_commit_message: null, ci_default_git_depth: null, emails_disabled: false }
  const blank = { suggestion_commit_message: null, ci_default_git_depth: '', emails_enabled: true, build_timeout: '' }
  expect((await jane.put(`/projects/${id}`, blank)).body).toMatchObject({ ...WRITTEN, ...cleared })
})

test('a container expiration policy is changed part by part', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id } = await forge.project({ path: 'p' }, jane)
  const change = async (given: object) => {
    const { body } = await jane.put(`/projects/${id}`, { container_expiration_policy_attributes: given })
    return body.container_expiration_policy ?? body
  }
  const first = { cadence: '1month', enabled: true, keep_n: 5, older_than: '14d' }
  expect(await change({ ...first, name_regex_delete: 'dev-.*' })).toEqual({
    ...first,
    name_regex: 'dev-.*',
    name_regex_keep: null,
    next_run_at: null,
  })
  await change({ name_regex_keep: 'v.*', keep_n: '', cadence: null })
  expect((await jane.get(`/projects/${id}`)).body.container_expiration_policy).toEqual({
    ...first,
    keep_n: null,
    name_regex: 'dev-.*',
    name_regex_keep: 'v.*',
    next_run_at: null,
  })
  const form = new FormData()
  form.set('container_expiration_policy_attributes[keep_n]', '50')
  expect((await jane.put(`/projects/${id}`, form)).body.container_expiration_policy.keep_n).toBe(50)
  for (const wrong of [{ cadence: '2d' }, { keep_n: 7 }, { older_than: 'x' }, { name_regex: 'x'.repeat(256) }]) {
    expect((await change(wrong)).error).toContain('container_expiration_policy_attributes')
  }
})

test.each([
  [{ build_timeout: 599 }, { message: { build_timeout: ['needs to be between 10 minutes and 1 month'] } }],
  [{ build_timeout: 2_629_746 }, { message: { build_timeout: ['needs to be between 10 minutes and 1 month'] } }],
  [{ ci_default_git_depth: 1001 }, { message: { ci_default_git_depth: ['must be less than or equal to 1000'] } }],
  [{ ci_default_git_depth: -1 }, { message: { ci_default_git_depth: ['must be greater than or equal to 0'] } }],
  [
    { suggestion_commit_message: 'x'.repeat(256) },
    { message: { suggestion_commit_message: ['is too long (maximum is 255 characters)'] } },
  ],
  [{ build_git_strategy: 'copy' }, { error: 'build_git_strategy does not have a valid value' }],
  [{ auto_cancel_pending_pipelines: 'maybe' }, { error: 'auto_cancel_pending_pipelines does not have a valid value' }],
  [{ auto_devops_deploy_strategy: 'soon' }, { error: 'auto_devops_deploy_strategy does not have a valid value' }],
  [{ pages_access_level: 'all' }, { error: 'pages_access_level does not have a valid value' }],
])('%o is refused on create and on update', async (given, message) => {
  await using forge = await startForge()
  const { administrator } = forge
  const project = await forge.project()
  const before = (await administrator.get(`/projects/${project.id}`)).body
  expect(await administrator.post('/projects', { name: 'new', ...given })).toMatchObject({ status: 400, body: message })
  expect(await administrator.put(`/projects/${project.id}`, given)).toMatchObject({ status: 400, body: message })
  expect((await administrator.get(`/projects/${project.id}`)).body).toEqual(before)
})

test('new projects begin with the branch and the Auto DevOps of the instance, or of their group', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const refused = await administrator.put('/application/settings', { default_branch_name: 'a..b' })
  expect(refused.body).toEqual({ message: { default_branch_name: ['is invalid'] } })
  await administrator.put('/application/settings', { default_branch_name: 'trunk', auto_devops_enabled: true })
  const made = async (input: object) => {
    const { body } = await administrator.post('/projects', { initialize_with_readme: true, ...input })
    return [body.default_branch, body.auto_devops_enabled]
  }
  expect(await made({ name: 'a' })).toEqual(['trunk', true])
  expect(await made({ name: 'b', default_branch: 'main', auto_devops_enabled: false })).toEqual(['main', false])
  const off = await groupOf(forge, 'off', { auto_devops_enabled: false })
  expect(await made({ name: 'c', namespace_id: off.id })).toEqual(['trunk', false])
  await administrator.put('/application/settings', { default_branch_name: '' })
  expect(await made({ name: 'd' })).toEqual(['master', true])
})

test('a group says who may create projects in it', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const group = await groupOf(forge, 'tools', { visibility: 'public' })
  const cast = await castFor(forge, group.id)
  let n = 0
  const create = () => statuses(cast, (caller) => caller.post('/projects', { name: `p${++n}`, namespace_id: group.id }))
  //                          anon strg extn guest rept devl mast ownr admn blkd
  const LEVELS = {
    maintainer: [401, 400, 400, 400, 400, 400, 201, 201, 201, 401],
    developer: [401, 400, 400, 400, 400, 201, 201, 201, 201, 401],
    owner: [401, 400, 400, 400, 400, 400, 400, 201, 201, 401],
    noone: [401, 400, 400, 400, 400, 400, 400, 400, 201, 401],
  }
  for (const [level, expected] of Object.entries(LEVELS)) {
    await administrator.put(`/groups/${group.id}`, { project_creation_level: level })
    expect([level, await create()]).toEqual([level, expected])
  }
  const source = await projectIn(forge, await groupOf(forge, 'source', { visibility: 'public' }), 's', {
    visibility: 'public',
  })
  const fork = await cast.owner.post(`/projects/${source.id}/fork`, { namespace: 'tools' })
  expect(fork.status).toBe(404)
})
