import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { v4 } from '../../v4.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Q9uQh3r1m0rWQy6zJ3m5s2z6i3bCqkq2l8mC0m1aB'
const expires_at = '2027-01-01'

test('what is archived takes nobody and nothing new in; what is there can be taken away', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const [john, mary] = [await forge.user(), await forge.user()]
  const group = await forge.group({}, jane)
  const project = await forge.project({}, jane)
  const at = `/projects/${project.id}`
  const made = async (path: string, input: Record<string, unknown>) => {
    const answer = await jane.post(`${at}/${path}`, input)
    expect([path, answer.status]).toEqual([path, 201])
    return answer.body
  }
  const hook = await made('hooks', { url: 'https://example.com/' })
  await made('variables', { key: 'ONE', value: 'value' })
  await made('members', { user_id: john.id, access_level: 30 })
  const token = await made('access_tokens', { name: 'one', scopes: ['api'], expires_at })
  const deployToken = await made('deploy_tokens', { name: 'one', scopes: ['read_repository'] })
  const trigger = await made('triggers', { description: 'one' })
  await made('share', { group_id: group.id, group_access: 30 })
  expect((await jane.post(`${at}/archive`)).status).toBe(200)

  const lists = [
    'hooks',
    'variables',
    'members',
    'access_tokens',
    'deploy_tokens',
    'deploy_keys',
    'triggers',
    'uploads',
  ]
  const state = () =>
    Promise.all(
      [...lists, 'invitations', 'access_requests', 'protected_branches', 'push_rule', ''].map((path) =>
        jane.get(`${at}/${path}`).then(({ body }) => body),
      ),
    )
  const before = await state()
  const refused: ['post' | 'put', string, Record<string, unknown>][] = [
    ['post', 'hooks', { url: 'https://example.com/two' }],
    ['put', `hooks/${hook.id}`, { url: 'https://example.com/two' }],
    ['put', `hooks/${hook.id}/custom_headers/X-One`, { value: 'x' }],
    ['post', 'variables', { key: 'TWO', value: 'value' }],
    ['put', 'variables/ONE', { value: 'other' }],
    ['post', 'members', { user_id: mary.id, access_level: 30 }],
    ['put', `members/${john.id}`, { access_level: 40 }],
    ['post', 'invitations', { email: 'somebody@example.com', access_level: 30 }],
    ['post', 'share', { group_id: group.id, group_access: 40 }],
    ['post', 'access_tokens', { name: 'two', scopes: ['api'], expires_at }],
    ['post', `access_tokens/${token.id}/rotate`, { expires_at }],
    ['post', 'deploy_tokens', { name: 'two', scopes: ['read_repository'] }],
    ['post', 'deploy_keys', { title: 'two', key: KEY }],
    ['post', 'triggers', { description: 'two' }],
    ['put', `triggers/${trigger.id}`, { description: 'two' }],
    ['post', 'pipeline_schedules', { description: 'two', ref: 'master', cron: '0 1 * * *' }],
    ['post', 'protected_branches', { name: 'two' }],
    ['post', 'push_rule', { deny_delete_tag: true }],
    ['put', 'integrations/slack', { webhook: 'https://example.com/' }],
    ['put', 'approvals', { approvals_before_merge: 2 }],
    ['post', 'approval_rules', { name: 'two', approvals_required: 1 }],
  ]
  for (const [verb, path, input] of refused) {
    const { status } = await jane[verb](`${at}/${path}`, input)
    expect([verb, path, status]).toEqual([verb, path, 403])
  }
  expect((await mary.post(`${at}/access_requests`)).status).toBe(404) // she cannot see the project
  expect(await state()).toEqual(before)

  const removed = ['variables/ONE', `hooks/${hook.id}`, `members/${john.id}`, `access_tokens/${token.id}`]
  removed.push(`deploy_tokens/${deployToken.id}`, `triggers/${trigger.id}`, `share/${group.id}`)
  for (const path of removed) expect([path, (await jane.delete(`${at}/${path}`)).status < 300]).toEqual([path, true])
  expect((await jane.post(`${at}/star`)).status).toBe(200)
  expect((await jane.post(`${at}/unarchive`)).status).toBe(200)
  await made('variables', { key: 'TWO', value: 'value' })
  await jane.post(`${at}/archive`)
  expect((await jane.delete(at)).status).toBe(204)
})

/**
 * Exceptions: policies that check it themselves, tokens that run pipelines, and calls that do not change the project.
 */
const APART = `issues merge_requests snippets trigger/ ref/ services/:slug/trigger integrations/:slug/trigger`.split(
  /\s+/,
)

test('whatever changes a project heeds that it is archived, or says that it need not', () => {
  const changes = v4.filter(
    ({ method, path }) => !['GET', 'DELETE'].includes(method) && path.startsWith('/projects/:id'),
  )
  const unheeding = changes.filter(({ on, whileReadOnly }) => !on?.isReadOnly && !whileReadOnly)
  const rest = unheeding.filter(({ path }) => !APART.some((name) => path.startsWith(`/projects/:id/${name}`)))
  expect(rest.map(({ method, path }) => `${method} ${path}`)).toEqual([])
  const allowed = changes.filter(({ whileReadOnly }) => whileReadOnly).map(({ method, path }) => `${method} ${path}`)
  expect(allowed.toSorted()).toEqual([
    'POST /projects/:id/archive',
    'POST /projects/:id/ci/lint',
    'POST /projects/:id/fork',
    'POST /projects/:id/housekeeping',
    'POST /projects/:id/labels/:label_id/subscribe',
    'POST /projects/:id/labels/:label_id/unsubscribe',
    'POST /projects/:id/restore',
    'POST /projects/:id/runners/reset_registration_token',
    'POST /projects/:id/star',
    'POST /projects/:id/unarchive',
    'POST /projects/:id/unstar',
    'PUT /projects/:id',
    'PUT /projects/:id/custom_attributes/:key',
    'PUT /projects/:id/notification_settings',
    'PUT /projects/:id/transfer',
  ])
})
