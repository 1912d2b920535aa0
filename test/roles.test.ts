/**
 * Who may do what, for every endpoint of groups and projects: ten callers, on a private and on a public group with a
 * project in it. The tables are written from the rules (reference: levels, permission matrix, order of checks), not
 * from the answers; a new endpoint without a row fails. Every refusal is also shown to have moved nothing.
 */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { testDatabaseUrl } from '../src/config.ts'
import { v4 } from '../src/features/v4.ts'
import { startForge, type TestForge } from '../src/forge.ts'
import { CALLERS, addMember, castOf, type CallerName, type Cast } from './cast.ts'
import { fillProject } from './contents.ts'
import { sshKey } from './samples.ts'

/** What each row asks; things a call uses up are made anew for it. */
interface Stage {
  readonly forge: TestForge
  readonly cast: Cast
  readonly group: { id: number; full_path: string }
  readonly project: { id: number }
  readonly caller: CallerName
  /** Someone who is not among the callers. */
  newcomer(): Promise<{ id: number }>
}

interface Ask {
  path: string
  input?: Record<string, unknown> | FormData
}

const unique = (() => {
  let n = 0
  return (word: string) => `${word}${++n}`
})()

const project =
  (tail = '', input?: Record<string, unknown>) =>
  ({ project }: Stage): Ask => ({ path: `/projects/${project.id}${tail}`, ...(input && { input }) })
const group =
  (tail = '', input?: Record<string, unknown>) =>
  ({ group }: Stage): Ask => ({ path: `/groups/${group.id}${tail}`, ...(input && { input }) })

const owner = ({ cast }: Stage) => cast.people.owner
const base = (s: Stage, source: 'groups' | 'projects') =>
  `/${source}/${source === 'groups' ? s.group.id : s.project.id}`

async function otherGroup(s: Stage): Promise<{ id: number }> {
  const name = unique('other')
  return (await owner(s).post('/groups', { name, path: name, visibility: 'public' })).body
}

/** A subgroup of the stage's, for calls that end or rename the group. */
async function subgroup(s: Stage): Promise<{ id: number }> {
  const name = unique('sub')
  return (await owner(s).post('/groups', { name, path: name, parent_id: s.group.id })).body
}

const withMember =
  (source: 'groups' | 'projects', input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const { id } = await s.newcomer()
    await owner(s).post(`${base(s, source)}/members`, { user_id: id, access_level: 10 })
    return { path: `${base(s, source)}/members/${id}`, ...(input && { input }) }
  }

const withRequest =
  (source: 'groups' | 'projects', tail: string) =>
  async (s: Stage): Promise<Ask> => {
    const { id } = await s.newcomer()
    const column =
      source === 'groups' ? { group_id: s.group.id, project_id: null } : { project_id: s.project.id, group_id: null }
    const row = { ...column, user_id: id, requested_at: new Date().toISOString() }
    await s.forge.app.db.insertInto('access_requests').values(row).execute()
    return { path: `${base(s, source)}/access_requests/${id}${tail}` }
  }

const withInvitation =
  (source: 'groups' | 'projects', input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const email = `${unique('guest')}@example.org`
    await owner(s).post(`${base(s, source)}/invitations`, { email, access_level: 10 })
    return { path: `${base(s, source)}/invitations/${encodeURIComponent(email)}`, ...(input && { input }) }
  }

const withHook =
  (input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const { body } = await owner(s).post(`/projects/${s.project.id}/hooks`, { url: 'https://hooks.example.org' })
    return { path: `/projects/${s.project.id}/hooks/${body.id}`, ...(input && { input }) }
  }

const withPushRule =
  (input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    await owner(s).post(`/projects/${s.project.id}/push_rule`, { deny_delete_tag: true })
    return { path: `/projects/${s.project.id}/push_rule`, ...(input && { input }) }
  }

const withRule =
  (kind: 'protected_branches' | 'protected_tags', input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const name = unique('rule')
    await owner(s).post(`/projects/${s.project.id}/${kind}`, { name })
    return { path: `/projects/${s.project.id}/${kind}/${name}`, ...(input && { input }) }
  }

const withDeployKey =
  (tail = '', input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const { body } = await owner(s).post(`/projects/${s.project.id}/deploy_keys`, { title: 'robot', key: sshKey() })
    return { path: `/projects/${s.project.id}/deploy_keys/${body.id}${tail}`, ...(input && { input }) }
  }

const deployToken = { name: 'robot', scopes: ['read_repository'] }

const withDeployToken =
  (source: 'groups' | 'projects') =>
  async (s: Stage): Promise<Ask> => {
    const { body } = await owner(s).post(`${base(s, source)}/deploy_tokens`, deployToken)
    return { path: `${base(s, source)}/deploy_tokens/${body.id}` }
  }

const filled = new WeakMap<object, Promise<string>>()

/** Of a project with content, and of a blob in it. */
const repository =
  (tail: string, input?: Record<string, unknown>, place = '/repository') =>
  async ({ forge, project }: Stage): Promise<Ask> => {
    if (!filled.has(project)) filled.set(project, fillProject(forge, project.id))
    await filled.get(project)
    return { path: `/projects/${project.id}${place}${tail}`, ...(input && { input }) }
  }
const README_ID = '3333f9daa49e5fe99051dc84003eb681afb529e1'

/** The same, after the owner has prepared what is asked for. */
const coded =
  (prepare: (s: Stage) => string | Promise<string>, input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    await repository('')(s)
    return { path: `/projects/${s.project.id}${await prepare(s)}`, ...(input && { input }) }
  }

const withBranch = (tail = '') =>
  coded(async (s) => {
    const branch = unique('branch')
    await owner(s).post(`/projects/${s.project.id}/repository/branches`, { branch, ref: 'master' })
    return `/repository/branches/${branch}${tail}`
  })

const withTag = (tail = '', input?: Record<string, unknown>) =>
  coded(async (s) => {
    const tag_name = unique('v')
    await owner(s).post(`/projects/${s.project.id}/repository/tags`, { tag_name, ref: 'master' })
    return `/repository/tags/${tag_name}${tail}`
  }, input)

interface Released {
  tag_name: string
  assets: { links: { id: number }[] }
}
const releasePath = ({ tag_name }: Released) => `/releases/${tag_name}`
const linkPath = (release: Released) => `${releasePath(release)}/assets/links/${release.assets.links[0]!.id}`

const withRelease = (address: (release: Released) => string, input?: Record<string, unknown>) =>
  coded(async (s) => {
    const links = [{ name: 'x', url: 'https://files.example.org', direct_asset_path: '/bin/x' }]
    const wish = { tag_name: unique('v'), ref: 'master', assets: { links } }
    return address((await owner(s).post(`/projects/${s.project.id}/releases`, wish)).body)
  }, input)

const change = { branch: 'master', commit_message: 'x' }

/** With a branch that has no README.md. */
const withBare =
  (tail: string, input: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const ask = await repository(tail, input)(s)
    await owner(s).post(`/projects/${s.project.id}/repository/commits`, {
      ...change,
      branch: 'bare',
      start_branch: 'master',
      actions: [{ action: 'delete', file_path: 'README.md' }],
    })
    return ask
  }

const withLink =
  (addressOf: (link: { cn: string; provider: string }) => string) =>
  async (s: Stage): Promise<Ask> => {
    const link = { cn: unique('cn'), provider: 'ldapmain' }
    await owner(s).post(`${base(s, 'groups')}/ldap_group_links`, { ...link, group_access: 30 })
    return { path: `${base(s, 'groups')}/ldap_group_links${addressOf(link)}` }
  }

const withWikiPage =
  (input?: Record<string, unknown>) =>
  async (s: Stage): Promise<Ask> => {
    const title = unique('page')
    await owner(s).post(`/projects/${s.project.id}/wikis`, { title, content: 'x' })
    return { path: `/projects/${s.project.id}/wikis/${title}`, ...(input && { input }) }
  }

const aFile = () => {
  const form = new FormData()
  form.set('file', new File(['words'], 'notes.txt'))
  return form
}

const withUpload =
  (address: (upload: { id: number; url: string }) => string) =>
  async (s: Stage): Promise<Ask> => {
    const { body } = await owner(s).post(`/projects/${s.project.id}/uploads`, aFile())
    const row = await s.forge.app.db.selectFrom('uploads').select('id').orderBy('id', 'desc').executeTakeFirstOrThrow()
    return { path: `/projects/${s.project.id}${address({ id: row.id, url: body.url })}` }
  }

const asks: Record<string, (stage: Stage) => Ask | Promise<Ask>> = {
  'GET /groups': () => ({ path: '/groups' }),
  'GET /groups/:id': group(),
  'GET /groups/:id/projects': group('/projects'),
  'GET /groups/:id/subgroups': group('/subgroups'),
  'GET /groups/:id/descendant_groups': group('/descendant_groups'),
  'POST /groups': () => ({ path: '/groups', input: { name: unique('top'), path: unique('top') } }),
  'POST /groups (a subgroup)': ({ group }) => ({
    path: '/groups',
    input: { name: unique('sub'), path: unique('sub'), parent_id: group.id },
  }),
  'PUT /groups/:id': group('', { description: 'changed' }),
  'DELETE /groups/:id': async (s) => ({ path: `/groups/${(await subgroup(s)).id}` }),
  'POST /groups/:id/projects/:project_id': async (s) => ({
    path: `/groups/${(await subgroup(s)).id}/projects/${s.project.id}`,
  }),
  'GET /groups/:id/members': group('/members'),
  'GET /groups/:id/members/all': group('/members/all'),
  'GET /groups/:id/members/:user_id': (s) => ({ path: `${base(s, 'groups')}/members/${owner(s).id}` }),
  'GET /groups/:id/members/all/:user_id': (s) => ({ path: `${base(s, 'groups')}/members/all/${owner(s).id}` }),
  'POST /groups/:id/members': async (s) => ({
    path: `${base(s, 'groups')}/members`,
    input: { user_id: (await s.newcomer()).id, access_level: 30 },
  }),
  'PUT /groups/:id/members/:user_id': withMember('groups', { access_level: 20 }),
  'DELETE /groups/:id/members/:user_id': withMember('groups'),
  'GET /groups/:id/access_requests': group('/access_requests'),
  'POST /groups/:id/access_requests': group('/access_requests'),
  'PUT /groups/:id/access_requests/:user_id/approve': withRequest('groups', '/approve'),
  'DELETE /groups/:id/access_requests/:user_id': withRequest('groups', ''),
  'GET /groups/:id/invitations': group('/invitations'),
  'POST /groups/:id/invitations': (s) => ({
    path: `${base(s, 'groups')}/invitations`,
    input: { email: `${unique('guest')}@example.org`, access_level: 10 },
  }),
  'PUT /groups/:id/invitations/:email': withInvitation('groups', { access_level: 20 }),
  'DELETE /groups/:id/invitations/:email': withInvitation('groups'),
  'GET /groups/:id/ldap_group_links': group('/ldap_group_links'),
  'POST /groups/:id/ldap_group_links': (s) => ({
    path: `${base(s, 'groups')}/ldap_group_links`,
    input: { cn: unique('cn'), group_access: 30, provider: 'ldapmain' },
  }),
  'DELETE /groups/:id/ldap_group_links': withLink(({ cn, provider }) => `?cn=${cn}&provider=${provider}`),
  'DELETE /groups/:id/ldap_group_links/:cn': withLink(({ cn }) => `/${cn}`),
  'DELETE /groups/:id/ldap_group_links/:provider/:cn': withLink(({ cn, provider }) => `/${provider}/${cn}`),
  'POST /groups/:id/ldap_sync': group('/ldap_sync'),
  'GET /groups/:id/deploy_tokens': group('/deploy_tokens'),
  'GET /groups/:id/deploy_tokens/:token_id': withDeployToken('groups'),
  'POST /groups/:id/deploy_tokens': group('/deploy_tokens', deployToken),
  'DELETE /groups/:id/deploy_tokens/:token_id': withDeployToken('groups'),

  'GET /projects': () => ({ path: '/projects' }),
  'GET /users/:user_id/projects': (s) => ({ path: `/users/${owner(s).id}/projects` }),
  'GET /users/:user_id/starred_projects': (s) => ({ path: `/users/${owner(s).id}/starred_projects` }),
  'GET /projects/:id': project(),
  'POST /projects (of one’s own)': () => ({ path: '/projects', input: { name: unique('own') } }),
  'POST /projects': ({ group }) => ({ path: '/projects', input: { name: unique('new'), namespace_id: group.id } }),
  'POST /projects/user/:user_id': (s) => ({ path: `/projects/user/${owner(s).id}`, input: { name: unique('for') } }),
  'PUT /projects/:id': project('', { description: 'changed' }),
  'PUT /projects/:id (name)': (s) => ({ path: `/projects/${s.project.id}`, input: { name: unique('named') } }),
  'PUT /projects/:id (visibility)': (s) => ({
    path: `/projects/${s.project.id}`,
    input: { visibility: s.group.full_path.startsWith('public') ? 'internal' : 'private', name: unique('seen') },
  }),
  'PUT /projects/:id/transfer': async (s) => {
    // Where everybody may put projects, so that only the right to take it away is asked.
    const name = unique('open')
    const { body } = await owner(s).post('/groups', { name, path: name, visibility: 'public' })
    for (const { id } of Object.values(s.cast.people))
      await addMember(s.forge, { group_id: body.id }, id, 40).catch(() => {})
    return { path: `/projects/${s.project.id}/transfer`, input: { namespace: name } }
  },
  'DELETE /projects/:id': project(),
  'POST /projects/:id/archive': project('/archive'),
  'POST /projects/:id/unarchive': project('/unarchive'),
  'POST /projects/:id/fork': project('/fork'),
  'GET /projects/:id/forks': project('/forks'),
  'POST /projects/:id/fork/:forked_from_id': async (s) => ({
    path: `/projects/${s.project.id}/fork/${(await s.cast.project()).id}`,
  }),
  'DELETE /projects/:id/fork': project('/fork'),
  'POST /projects/:id/star': project('/star'),
  'POST /projects/:id/unstar': project('/unstar'),
  'GET /projects/:id/starrers': project('/starrers'),
  'POST /projects/:id/share': async (s) => ({
    path: `/projects/${s.project.id}/share`,
    input: { group_id: (await otherGroup(s)).id, group_access: 30 },
  }),
  'DELETE /projects/:id/share/:group_id': async (s) => {
    const { id } = await otherGroup(s)
    await owner(s).post(`/projects/${s.project.id}/share`, { group_id: id, group_access: 30 })
    return { path: `/projects/${s.project.id}/share/${id}` }
  },
  'GET /projects/:id/import': project('/import'),
  'DELETE /projects/:id/import': project('/import'),
  'POST /projects/:id/housekeeping': project('/housekeeping'),
  'GET /projects/:id/access': project('/access'),
  'GET /projects/:id/access (another’s)': (s) => ({
    path: `/projects/${s.project.id}/access?user_id=${s.cast.people.blocked.id}`,
  }),
  'GET /projects/:id/users': project('/users'),
  'GET /projects/:id/members': project('/members'),
  'GET /projects/:id/members/all': project('/members/all'),
  'GET /projects/:id/members/:user_id': withMember('projects'),
  'GET /projects/:id/members/all/:user_id': (s) => ({ path: `${base(s, 'projects')}/members/all/${owner(s).id}` }),
  'POST /projects/:id/members': async (s) => ({
    path: `${base(s, 'projects')}/members`,
    input: { user_id: (await s.newcomer()).id, access_level: 30 },
  }),
  'PUT /projects/:id/members/:user_id': withMember('projects', { access_level: 20 }),
  'DELETE /projects/:id/members/:user_id': withMember('projects'),
  'GET /projects/:id/access_requests': project('/access_requests'),
  'POST /projects/:id/access_requests': project('/access_requests'),
  'PUT /projects/:id/access_requests/:user_id/approve': withRequest('projects', '/approve'),
  'DELETE /projects/:id/access_requests/:user_id': withRequest('projects', ''),
  'GET /projects/:id/invitations': project('/invitations'),
  'POST /projects/:id/invitations': (s) => ({
    path: `${base(s, 'projects')}/invitations`,
    input: { email: `${unique('guest')}@example.org`, access_level: 10 },
  }),
  'PUT /projects/:id/invitations/:email': withInvitation('projects', { access_level: 20 }),
  'DELETE /projects/:id/invitations/:email': withInvitation('projects'),
  'GET /projects/:id/hooks': project('/hooks'),
  'GET /projects/:id/hooks/:hook_id': withHook(),
  'POST /projects/:id/hooks': project('/hooks', { url: 'https://hooks.example.org' }),
  'PUT /projects/:id/hooks/:hook_id': withHook({ push_events: false }),
  'DELETE /projects/:id/hooks/:hook_id': withHook(),
  'GET /projects/:id/push_rule': withPushRule(),
  'POST /projects/:id/push_rule': project('/push_rule', { deny_delete_tag: true }),
  'PUT /projects/:id/push_rule': withPushRule({ member_check: true }),
  'DELETE /projects/:id/push_rule': withPushRule(),
  'GET /projects/:id/repository/tree': repository('/tree'),
  'GET /projects/:id/repository/blobs/:sha': repository(`/blobs/${README_ID}`),
  'GET /projects/:id/repository/blobs/:sha/raw': repository(`/blobs/${README_ID}/raw`),
  'GET /projects/:id/repository/archive': repository('/archive'),
  'GET /projects/:id/repository/archive.:format': repository('/archive.zip'),
  'GET /projects/:id/repository/compare': repository('/compare?from=master&to=master'),
  'GET /projects/:id/repository/contributors': repository('/contributors'),
  'GET /projects/:id/repository/merge_base': repository('/merge_base?refs[]=master&refs[]=HEAD'),
  'GET /projects/:id/repository/branches': repository('/branches'),
  'GET /projects/:id/repository/branches/:branch': repository('/branches/master'),
  'POST /projects/:id/repository/branches': coded(() => '/repository/branches', { branch: 'new', ref: 'master' }),
  'DELETE /projects/:id/repository/branches/:branch': withBranch(),
  'DELETE /projects/:id/repository/merged_branches': repository('/merged_branches'),
  'PUT /projects/:id/repository/branches/:branch/protect': withBranch('/protect'),
  'PUT /projects/:id/repository/branches/:branch/unprotect': withBranch('/unprotect'),
  'GET /projects/:id/repository/tags': repository('/tags'),
  'GET /projects/:id/repository/tags/:tag_name': withTag(),
  // Nobody signed it.
  'GET /projects/:id/repository/tags/:tag_name/signature': withTag('/signature'),
  'POST /projects/:id/repository/tags': coded(() => '/repository/tags', { tag_name: 'new', ref: 'master' }),
  'DELETE /projects/:id/repository/tags/:tag_name': withTag(),
  'POST /projects/:id/repository/tags/:tag_name/release': withTag('/release', { description: 'x' }),
  'PUT /projects/:id/repository/tags/:tag_name/release': withRelease(
    ({ tag_name }) => `/repository/tags/${tag_name}/release`,
    { description: 'x' },
  ),
  'GET /projects/:id/releases': withRelease(() => '/releases'),
  'GET /projects/:id/releases/:tag_name': withRelease(releasePath),
  'POST /projects/:id/releases': coded(() => '/releases', { tag_name: 'new', ref: 'master' }),
  'PUT /projects/:id/releases/:tag_name': withRelease(releasePath, { name: 'x' }),
  'DELETE /projects/:id/releases/:tag_name': withRelease(releasePath),
  'GET /projects/:id/releases/permalink/latest': withRelease(() => '/releases/permalink/latest'),
  'GET /projects/:id/releases/permalink/latest/*': withRelease(() => '/releases/permalink/latest/assets/links'),
  'GET /projects/:id/releases/:tag_name/downloads/*': withRelease((r) => `${releasePath(r)}/downloads/bin/x`),
  'GET /projects/:id/releases/:tag_name/assets/links': withRelease((r) => `${releasePath(r)}/assets/links`),
  'GET /projects/:id/releases/:tag_name/assets/links/:link_id': withRelease(linkPath),
  'POST /projects/:id/releases/:tag_name/assets/links': withRelease((r) => `${releasePath(r)}/assets/links`, {
    name: 'more',
    url: 'https://more.example.org',
  }),
  'PUT /projects/:id/releases/:tag_name/assets/links/:link_id': withRelease(linkPath, { name: 'other' }),
  'DELETE /projects/:id/releases/:tag_name/assets/links/:link_id': withRelease(linkPath),
  'GET /projects/:id/repository/commits': repository('/commits'),
  'POST /projects/:id/repository/commits': repository('/commits', {
    ...change,
    actions: [{ action: 'create', file_path: 'new.txt', content: 'x' }],
  }),
  'GET /projects/:id/repository/commits/:sha': repository('/commits/master'),
  'GET /projects/:id/repository/commits/:sha/diff': repository('/commits/master/diff'),
  'GET /projects/:id/repository/commits/:sha/refs': repository('/commits/master/refs'),
  'GET /projects/:id/repository/commits/:sha/sequence': repository('/commits/master/sequence'),
  'GET /projects/:id/repository/commits/:sha/merge_requests': repository('/commits/master/merge_requests'),
  // Nobody signed it.
  'GET /projects/:id/repository/commits/:sha/signature': repository('/commits/master/signature'),
  'POST /projects/:id/repository/commits/:sha/cherry_pick': withBare('/commits/master/cherry_pick', { branch: 'bare' }),
  'POST /projects/:id/repository/commits/:sha/revert': repository('/commits/master/revert', { branch: 'master' }),
  'GET /projects/:id/repository/commits/:sha/comments': repository('/commits/master/comments'),
  'POST /projects/:id/repository/commits/:sha/comments': repository('/commits/master/comments', { note: 'x' }),
  'GET /projects/:id/repository/commits/:sha/statuses': repository('/commits/master/statuses'),
  'POST /projects/:id/statuses/:sha': repository('/master', { state: 'success' }, '/statuses'),
  'GET /projects/:id/repository/files/:file_path': repository('/files/README.md?ref=master'),
  'GET /projects/:id/repository/files/:file_path/raw': repository('/files/README.md/raw'),
  'GET /projects/:id/repository/files/:file_path/blame': repository('/files/README.md/blame?ref=master'),
  'POST /projects/:id/repository/files/:file_path': repository('/files/new.txt', { ...change, content: 'x' }),
  'PUT /projects/:id/repository/files/:file_path': repository('/files/README.md', { ...change, content: 'x' }),
  'DELETE /projects/:id/repository/files/:file_path': repository('/files/README.md', change),
  // Those who may are told that it is none.
  'PUT /projects/:id/repository/submodules/:submodule': repository('/submodules/src', {
    ...change,
    commit_sha: '1'.repeat(40),
  }),
  'GET /projects/:id/templates/:type': project('/templates/issues'),
  'GET /projects/:id/templates/:type/:name': project('/templates/licenses/mit'),
  'GET /projects/:id/protected_branches': project('/protected_branches'),
  'GET /projects/:id/protected_branches/:name': withRule('protected_branches'),
  'POST /projects/:id/protected_branches': project('/protected_branches', { name: 'release/*' }),
  'PATCH /projects/:id/protected_branches/:name': withRule('protected_branches', { allow_force_push: true }),
  'DELETE /projects/:id/protected_branches/:name': withRule('protected_branches'),
  'GET /projects/:id/protected_tags': project('/protected_tags'),
  'GET /projects/:id/protected_tags/:name': withRule('protected_tags'),
  'POST /projects/:id/protected_tags': project('/protected_tags', { name: 'v*' }),
  'DELETE /projects/:id/protected_tags/:name': withRule('protected_tags'),
  'GET /projects/:id/deploy_keys': project('/deploy_keys'),
  'GET /projects/:id/deploy_keys/:key_id': withDeployKey(),
  'POST /projects/:id/deploy_keys': ({ project }) => ({
    path: `/projects/${project.id}/deploy_keys`,
    input: { title: 'robot', key: sshKey() },
  }),
  'PUT /projects/:id/deploy_keys/:key_id': withDeployKey('', { can_push: true }),
  'POST /projects/:id/deploy_keys/:key_id/enable': withDeployKey('/enable'),
  'DELETE /projects/:id/deploy_keys/:key_id': withDeployKey(),
  'GET /projects/:id/deploy_tokens': project('/deploy_tokens'),
  'GET /projects/:id/deploy_tokens/:token_id': withDeployToken('projects'),
  'POST /projects/:id/deploy_tokens': project('/deploy_tokens', deployToken),
  'DELETE /projects/:id/deploy_tokens/:token_id': withDeployToken('projects'),
  'GET /projects/:id/wikis': project('/wikis'),
  'GET /projects/:id/wikis/:slug': withWikiPage(),
  'POST /projects/:id/wikis': project('/wikis', { title: 'New page', content: 'x' }),
  'PUT /projects/:id/wikis/:slug': withWikiPage({ content: 'changed' }),
  'DELETE /projects/:id/wikis/:slug': withWikiPage(),
  'POST /projects/:id/wikis/attachments': (s) => ({
    path: `/projects/${s.project.id}/wikis/attachments`,
    input: aFile(),
  }),
  'POST /projects/:id/uploads': (s) => ({ path: `/projects/${s.project.id}/uploads`, input: aFile() }),
  'GET /projects/:id/uploads': project('/uploads'),
  'GET /projects/:id/uploads/:secret/:filename': withUpload(({ url }) => url),
  'GET /projects/:id/uploads/:upload_id': withUpload(({ id }) => `/uploads/${id}`),
  'DELETE /projects/:id/uploads/:upload_id': withUpload(({ id }) => `/uploads/${id}`),
  'DELETE /projects/:id/uploads/:secret/:filename': withUpload(({ url }) => url),
}

/**
 * Callers from left to right: anonymous, stranger, external, guest, reporter, developer, master, owner, administrator,
 * blocked.
 */
const PRIVATE = `
                                                         anon strg extn guest rept devl mast ownr admn blkd
  GET /groups                                             200  200  200  200  200  200  200  200  200  401
  GET /groups/:id                                         404  404  404  200  200  200  200  200  200  401
  GET /groups/:id/projects                                404  404  404  200  200  200  200  200  200  401
  GET /groups/:id/subgroups                               404  404  404  200  200  200  200  200  200  401
  GET /groups/:id/descendant_groups                       404  404  404  200  200  200  200  200  200  401
  POST /groups                                            401  201  403  201  201  201  201  201  201  401
  POST /groups (a subgroup)                               401  404  404  403  403  403  403  201  201  401
  PUT /groups/:id                                         401  404  404  403  403  403  403  200  200  401
  DELETE /groups/:id                                      401  404  404  403  403  403  403  204  204  401
  POST /groups/:id/projects/:project_id                   401  403  403  403  403  403  403  403  201  401
  GET /groups/:id/members                                 401  404  404  200  200  200  200  200  200  401
  GET /groups/:id/members/all                             401  404  404  200  200  200  200  200  200  401
  GET /groups/:id/members/:user_id                        401  404  404  200  200  200  200  200  200  401
  GET /groups/:id/members/all/:user_id                    401  404  404  200  200  200  200  200  200  401
  POST /groups/:id/members                                401  404  404  403  403  403  403  201  201  401
  PUT /groups/:id/members/:user_id                        401  404  404  403  403  403  403  200  200  401
  DELETE /groups/:id/members/:user_id                     401  404  404  403  403  403  403  204  204  401
  GET /groups/:id/access_requests                         401  404  404  403  403  403  403  200  200  401
  POST /groups/:id/access_requests                        401  404  404  403  403  403  403  403  403  401
  PUT /groups/:id/access_requests/:user_id/approve        401  404  404  403  403  403  403  201  201  401
  DELETE /groups/:id/access_requests/:user_id             401  404  404  403  403  403  403  204  204  401
  GET /groups/:id/invitations                             401  404  404  403  403  403  403  200  200  401
  POST /groups/:id/invitations                            401  404  404  403  403  403  403  201  201  401
  PUT /groups/:id/invitations/:email                      401  404  404  403  403  403  403  200  200  401
  DELETE /groups/:id/invitations/:email                   401  404  404  403  403  403  403  204  204  401
  GET /groups/:id/ldap_group_links                        401  404  404  403  403  403  403  200  200  401
  POST /groups/:id/ldap_group_links                       401  404  404  403  403  403  403  201  201  401
  DELETE /groups/:id/ldap_group_links                     401  404  404  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:cn                 401  404  404  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:provider/:cn       401  404  404  403  403  403  403  204  204  401
  POST /groups/:id/ldap_sync                              401  404  404  403  403  403  403  202  202  401
  GET /groups/:id/deploy_tokens                           401  404  404  403  403  403  403  200  200  401
  GET /groups/:id/deploy_tokens/:token_id                 401  404  404  403  403  403  403  200  200  401
  POST /groups/:id/deploy_tokens                          401  404  404  403  403  403  403  201  201  401
  DELETE /groups/:id/deploy_tokens/:token_id              401  404  404  403  403  403  403  204  204  401

  GET /projects                                           200  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/projects                            200  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/starred_projects                    200  200  200  200  200  200  200  200  200  401
  POST /projects (of one’s own)                           401  201  403  201  201  201  201  201  201  401
  POST /projects                                          401  400  400  400  400  400  201  201  201  401
  POST /projects/user/:user_id                            401  403  403  403  403  403  403  403  201  401
  GET /projects/:id                                       404  404  404  200  200  200  200  200  200  401
  PUT /projects/:id                                       401  404  404  403  403  403  200  200  200  401
  PUT /projects/:id (name)                                401  404  404  403  403  403  403  200  200  401
  PUT /projects/:id (visibility)                          401  404  404  403  403  403  403  200  200  401
  PUT /projects/:id/transfer                              401  404  404  403  403  403  403  200  200  401
  DELETE /projects/:id                                    401  404  404  403  403  403  403  204  204  401
  POST /projects/:id/archive                              401  404  404  403  403  403  403  200  200  401
  POST /projects/:id/unarchive                            401  404  404  403  403  403  403  200  200  401
  POST /projects/:id/fork                                 401  404  404  409  201  201  201  201  201  401
  GET /projects/:id/forks                                 404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/fork/:forked_from_id                 401  403  403  403  403  403  403  403  201  401
  DELETE /projects/:id/fork                               401  403  403  403  403  403  403  403  304  401
  POST /projects/:id/star                                 401  404  404  200  200  200  200  200  200  401
  POST /projects/:id/unstar                               401  404  404  304  304  304  304  304  304  401
  GET /projects/:id/starrers                              401  404  404  200  200  200  200  200  200  401
  POST /projects/:id/share                                401  404  404  403  403  403  201  201  201  401
  DELETE /projects/:id/share/:group_id                    401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/import                                401  404  404  200  200  200  200  200  200  401
  DELETE /projects/:id/import                             401  404  404  403  403  403  304  304  304  401
  POST /projects/:id/housekeeping                         401  404  404  403  403  403  201  201  201  401
  GET /projects/:id/access                                401  404  404  200  200  200  200  200  200  401
  GET /projects/:id/access (another’s)                    401  404  404  403  403  403  403  200  200  401
  GET /projects/:id/users                                 404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/members                               401  404  404  200  200  200  200  200  200  401
  GET /projects/:id/members/all                           401  404  404  200  200  200  200  200  200  401
  GET /projects/:id/members/:user_id                      401  404  404  200  200  200  200  200  200  401
  GET /projects/:id/members/all/:user_id                  401  404  404  200  200  200  200  200  200  401
  POST /projects/:id/members                              401  404  404  403  403  403  201  201  201  401
  PUT /projects/:id/members/:user_id                      401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/members/:user_id                   401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/access_requests                       401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/access_requests                      401  404  404  403  403  403  403  403  403  401
  PUT /projects/:id/access_requests/:user_id/approve      401  404  404  403  403  403  201  201  201  401
  DELETE /projects/:id/access_requests/:user_id           401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/invitations                           401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/invitations                          401  404  404  403  403  403  201  201  201  401
  PUT /projects/:id/invitations/:email                    401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/invitations/:email                 401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/hooks                                 401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/hooks/:hook_id                        401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/hooks                                401  404  404  403  403  403  201  201  201  401
  PUT /projects/:id/hooks/:hook_id                        401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/hooks/:hook_id                     401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/push_rule                             401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/push_rule                            401  404  404  403  403  403  201  201  201  401
  PUT /projects/:id/push_rule                             401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/push_rule                          401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/repository/tree                       404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha                 404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha/raw             404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/archive                    404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/archive.:format            404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/compare                    404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/contributors               404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/merge_base                 404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/branches                   404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/branches/:branch           404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/repository/branches                  401  404  404  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/branches/:branch        401  404  404  403  403  204  204  204  204  401
  DELETE /projects/:id/repository/merged_branches         401  404  404  403  202  202  202  202  202  401
  PUT /projects/:id/repository/branches/:branch/protect   401  404  404  403  403  403  200  200  200  401
  PUT /projects/:id/repository/branches/:branch/unprotect  401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/repository/tags                       404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/tags/:tag_name             404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/tags/:tag_name/signature   404  404  404  403  404  404  404  404  404  401
  POST /projects/:id/repository/tags                      401  404  404  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/tags/:tag_name          401  404  404  403  403  400  204  204  204  401
  POST /projects/:id/repository/tags/:tag_name/release    401  404  404  403  403  201  201  201  201  401
  PUT /projects/:id/repository/tags/:tag_name/release     401  404  404  403  403  200  200  200  200  401
  GET /projects/:id/releases                              404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name                    404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/releases                             401  404  404  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name                    401  404  404  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name                 401  404  404  403  403  200  200  200  200  401
  GET /projects/:id/releases/permalink/latest             404  404  404  403  302  302  302  302  302  401
  GET /projects/:id/releases/permalink/latest/*           404  404  404  403  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/downloads/*        404  404  404  403  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/assets/links       404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name/assets/links/:link_id  404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/releases/:tag_name/assets/links      401  404  404  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name/assets/links/:link_id  401  404  404  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name/assets/links/:link_id  401  404  404  403  403  200  200  200  200  401
  GET /projects/:id/repository/commits                    404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/repository/commits                   401  404  404  403  403  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha               404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/diff          404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/refs          404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/sequence      404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/merge_requests  404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/signature     404  404  404  403  404  404  404  404  404  401
  POST /projects/:id/repository/commits/:sha/cherry_pick  401  404  404  403  403  201  201  201  201  401
  POST /projects/:id/repository/commits/:sha/revert       401  404  404  403  403  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/comments      404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/comments     401  404  404  403  201  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/statuses      401  404  404  403  200  200  200  200  200  401
  POST /projects/:id/statuses/:sha                        401  404  404  403  403  201  201  201  201  401
  GET /projects/:id/repository/files/:file_path           404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/raw       404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/blame     404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/repository/files/:file_path          401  404  404  403  403  201  201  201  201  401
  PUT /projects/:id/repository/files/:file_path           401  404  404  403  403  200  200  200  200  401
  DELETE /projects/:id/repository/files/:file_path        401  404  404  403  403  204  204  204  204  401
  PUT /projects/:id/repository/submodules/:submodule      401  404  404  403  403  400  400  400  400  401
  GET /projects/:id/templates/:type                       404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/templates/:type/:name                 404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/protected_branches                    404  404  404  403  200  200  200  200  200  401
  GET /projects/:id/protected_branches/:name              404  404  404  403  200  200  200  200  200  401
  POST /projects/:id/protected_branches                   401  404  404  403  403  403  201  201  201  401
  PATCH /projects/:id/protected_branches/:name            401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/protected_branches/:name           401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/protected_tags                        401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/protected_tags/:name                  401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/protected_tags                       401  404  404  403  403  403  201  201  201  401
  DELETE /projects/:id/protected_tags/:name               401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/deploy_keys                           401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/deploy_keys/:key_id                   401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys                          401  404  404  403  403  403  201  201  201  401
  PUT /projects/:id/deploy_keys/:key_id                   401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys/:key_id/enable           401  404  404  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_keys/:key_id                401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/deploy_tokens                         401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/deploy_tokens/:token_id               401  404  404  403  403  403  200  200  200  401
  POST /projects/:id/deploy_tokens                        401  404  404  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_tokens/:token_id            401  404  404  403  403  403  204  204  204  401
  GET /projects/:id/wikis                                 404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/wikis/:slug                           404  404  404  200  200  200  200  200  200  401
  POST /projects/:id/wikis                                401  404  404  403  403  201  201  201  201  401
  PUT /projects/:id/wikis/:slug                           401  404  404  403  403  200  200  200  200  401
  DELETE /projects/:id/wikis/:slug                        401  404  404  403  403  403  204  204  204  401
  POST /projects/:id/wikis/attachments                    401  404  404  403  403  201  201  201  201  401
  POST /projects/:id/uploads                              401  404  404  201  201  201  201  201  201  401
  GET /projects/:id/uploads                               401  404  404  403  403  403  200  200  200  401
  GET /projects/:id/uploads/:secret/:filename             404  404  404  200  200  200  200  200  200  401
  GET /projects/:id/uploads/:upload_id                    401  404  404  403  403  403  200  200  200  401
  DELETE /projects/:id/uploads/:upload_id                 401  404  404  403  403  403  204  204  204  401
  DELETE /projects/:id/uploads/:secret/:filename          401  404  404  403  403  403  204  204  204  401
`

/** On a public group and project: who sees it but is no member is refused, not misled; reading is open. */
const PUBLIC = `
                                                         anon strg extn guest rept devl mast ownr admn blkd
  GET /groups                                             200  200  200  200  200  200  200  200  200  401
  GET /groups/:id                                         200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/projects                                200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/subgroups                               200  200  200  200  200  200  200  200  200  401
  GET /groups/:id/descendant_groups                       200  200  200  200  200  200  200  200  200  401
  POST /groups                                            401  201  403  201  201  201  201  201  201  401
  POST /groups (a subgroup)                               401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id                                         401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id                                      401  404  404  403  403  403  403  204  204  401
  POST /groups/:id/projects/:project_id                   401  403  403  403  403  403  403  403  201  401
  GET /groups/:id/members                                 401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/all                             401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/:user_id                        401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/all/:user_id                    401  200  200  200  200  200  200  200  200  401
  POST /groups/:id/members                                401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/members/:user_id                        401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/members/:user_id                     401  403  403  403  403  403  403  204  204  401
  GET /groups/:id/access_requests                         401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/access_requests                        401  201  201  403  403  403  403  403  403  401
  PUT /groups/:id/access_requests/:user_id/approve        401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/access_requests/:user_id             401  403  403  403  403  403  403  204  204  401
  GET /groups/:id/invitations                             401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/invitations                            401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/invitations/:email                      401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/invitations/:email                   401  403  403  403  403  403  403  204  204  401
  GET /groups/:id/ldap_group_links                        401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/ldap_group_links                       401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/ldap_group_links                     401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:cn                 401  403  403  403  403  403  403  204  204  401
  DELETE /groups/:id/ldap_group_links/:provider/:cn       401  403  403  403  403  403  403  204  204  401
  POST /groups/:id/ldap_sync                              401  403  403  403  403  403  403  202  202  401
  GET /groups/:id/deploy_tokens                           401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/deploy_tokens/:token_id                 401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/deploy_tokens                          401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/deploy_tokens/:token_id              401  403  403  403  403  403  403  204  204  401

  GET /projects                                           200  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/projects                            200  200  200  200  200  200  200  200  200  401
  GET /users/:user_id/starred_projects                    200  200  200  200  200  200  200  200  200  401
  POST /projects (of one’s own)                           401  201  403  201  201  201  201  201  201  401
  POST /projects                                          401  400  400  400  400  400  201  201  201  401
  POST /projects/user/:user_id                            401  403  403  403  403  403  403  403  201  401
  GET /projects/:id                                       200  200  200  200  200  200  200  200  200  401
  PUT /projects/:id                                       401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id (name)                                401  403  403  403  403  403  403  200  200  401
  PUT /projects/:id (visibility)                          401  403  403  403  403  403  403  200  200  401
  PUT /projects/:id/transfer                              401  403  403  403  403  403  403  200  200  401
  DELETE /projects/:id                                    401  403  403  403  403  403  403  204  204  401
  POST /projects/:id/archive                              401  403  403  403  403  403  403  200  200  401
  POST /projects/:id/unarchive                            401  403  403  403  403  403  403  200  200  401
  POST /projects/:id/fork                                 401  201  403  201  201  201  201  201  201  401
  GET /projects/:id/forks                                 200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/fork/:forked_from_id                 401  403  403  403  403  403  403  403  201  401
  DELETE /projects/:id/fork                               401  403  403  403  403  403  403  403  304  401
  POST /projects/:id/star                                 401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/unstar                               401  304  304  304  304  304  304  304  304  401
  GET /projects/:id/starrers                              401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/share                                401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/share/:group_id                    401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/import                                401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/import                             401  403  403  403  403  403  304  304  304  401
  POST /projects/:id/housekeeping                         401  403  403  403  403  403  201  201  201  401
  GET /projects/:id/access                                401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/access (another’s)                    401  403  403  403  403  403  403  200  200  401
  GET /projects/:id/users                                 200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members                               401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/all                           401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/:user_id                      401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/all/:user_id                  401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/members                              401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/members/:user_id                      401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/members/:user_id                   401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/access_requests                       401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/access_requests                      401  201  201  403  403  403  403  403  403  401
  PUT /projects/:id/access_requests/:user_id/approve      401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/access_requests/:user_id           401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/invitations                           401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/invitations                          401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/invitations/:email                    401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/invitations/:email                 401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/hooks                                 401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/hooks/:hook_id                        401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/hooks                                401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/hooks/:hook_id                        401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/hooks/:hook_id                     401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/push_rule                             401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/push_rule                            401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/push_rule                             401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/push_rule                          401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/repository/tree                       200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha                 200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/blobs/:sha/raw             200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/archive                    200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/archive.:format            200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/compare                    200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/contributors               200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/merge_base                 200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/branches                   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/branches/:branch           200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/branches                  401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/branches/:branch        401  403  403  403  403  204  204  204  204  401
  DELETE /projects/:id/repository/merged_branches         401  202  202  202  202  202  202  202  202  401
  PUT /projects/:id/repository/branches/:branch/protect   401  403  403  403  403  403  200  200  200  401
  PUT /projects/:id/repository/branches/:branch/unprotect  401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/repository/tags                       200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/tags/:tag_name             200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/tags/:tag_name/signature   404  404  404  404  404  404  404  404  404  401
  POST /projects/:id/repository/tags                      401  403  403  403  403  201  201  201  201  401
  DELETE /projects/:id/repository/tags/:tag_name          401  403  403  403  403  400  204  204  204  401
  POST /projects/:id/repository/tags/:tag_name/release    401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/repository/tags/:tag_name/release     401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/releases                              200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name                    200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/releases                             401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name                    401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name                 401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/releases/permalink/latest             302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/permalink/latest/*           302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/downloads/*        302  302  302  302  302  302  302  302  302  401
  GET /projects/:id/releases/:tag_name/assets/links       200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/releases/:tag_name/assets/links/:link_id  200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/releases/:tag_name/assets/links      401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/releases/:tag_name/assets/links/:link_id  401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/releases/:tag_name/assets/links/:link_id  401  403  403  403  403  200  200  200  200  401
  GET /projects/:id/repository/commits                    200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits                   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha               200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/diff          200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/refs          200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/sequence      200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/merge_requests  200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/commits/:sha/signature     404  404  404  404  404  404  404  404  404  401
  POST /projects/:id/repository/commits/:sha/cherry_pick  401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/repository/commits/:sha/revert       401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/comments      200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/comments     401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/repository/commits/:sha/statuses      401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/statuses/:sha                        401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/repository/files/:file_path           200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/raw       200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/repository/files/:file_path/blame     200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/files/:file_path          401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/repository/files/:file_path           401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/repository/files/:file_path        401  403  403  403  403  204  204  204  204  401
  PUT /projects/:id/repository/submodules/:submodule      401  403  403  403  403  400  400  400  400  401
  GET /projects/:id/templates/:type                       200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/templates/:type/:name                 200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/protected_branches                    200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/protected_branches/:name              200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/protected_branches                   401  403  403  403  403  403  201  201  201  401
  PATCH /projects/:id/protected_branches/:name            401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/protected_branches/:name           401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/protected_tags                        401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/protected_tags/:name                  401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/protected_tags                       401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/protected_tags/:name               401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/deploy_keys                           401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/deploy_keys/:key_id                   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys                          401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/deploy_keys/:key_id                   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys/:key_id/enable           401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_keys/:key_id                401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/deploy_tokens                         401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/deploy_tokens/:token_id               401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_tokens                        401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_tokens/:token_id            401  403  403  403  403  403  204  204  204  401
  GET /projects/:id/wikis                                 200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/wikis/:slug                           200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/wikis                                401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/wikis/:slug                           401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/wikis/:slug                        401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/wikis/attachments                    401  403  403  403  403  201  201  201  201  401
  POST /projects/:id/uploads                              401  201  201  201  201  201  201  201  201  401
  GET /projects/:id/uploads                               401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/uploads/:secret/:filename             200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/uploads/:upload_id                    401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/uploads/:upload_id                 401  403  403  403  403  403  204  204  204  401
  DELETE /projects/:id/uploads/:secret/:filename          401  403  403  403  403  403  204  204  204  401
`

/** An internal group is to signed-in people what a public one is, and to visitors and external users a private one. */
const internalOf = (name: string): number[] => {
  const [hidden, open] = [PRIVATE_ROWS.get(name)!, PUBLIC_ROWS.get(name)!]
  return CALLERS.map((caller, n) => (caller === 'anonymous' || caller === 'external' ? hidden[n]! : open[n]!))
}

function rowsOf(table: string): Map<string, number[]> {
  const lines = table.split('\n').filter((line) => /\d{3}$/.test(line))
  return new Map(
    lines.map((line) => {
      const [, name, codes] = /^ +(.+?) {2,}([\d ]+)$/.exec(line)!
      return [name!, codes!.trim().split(/ +/).map(Number)]
    }),
  )
}

const PRIVATE_ROWS = rowsOf(PRIVATE)
const PUBLIC_ROWS = rowsOf(PUBLIC)

test('every endpoint of groups and projects has its row', () => {
  const nameOf = (method: string, path: string) => `${method} ${path.replace(/\([^)]*\)/g, '')}`
  const tree = v4.filter(({ path }) => /^\/(groups|projects|users\/:user_id\/(starred_)?projects)/.test(path))
  const asked = new Set(Object.keys(asks).map((name) => name.replace(/ \(.*\)$/, '')))
  expect([...asked].toSorted()).toEqual(tree.map(({ method, path }) => nameOf(method, path)).toSorted())
  expect([...PRIVATE_ROWS.keys()].toSorted()).toEqual(Object.keys(asks).toSorted())
  expect([...PUBLIC_ROWS.keys()].toSorted()).toEqual(Object.keys(asks).toSorted())
})

const TABLES = [
  'events',
  'namespaces',
  'projects',
  'members',
  'access_requests',
  'invitations',
  'project_shares',
  'stars',
  'project_hooks',
  'push_rules',
  'releases',
  'release_links',
  'protected_branches',
  'protected_branch_levels',
  'protected_tags',
  'protected_tag_levels',
  'keys',
  'deploy_key_projects',
  'deploy_tokens',
  'uploads',
  'commit_comments',
  'commit_statuses',
  'ldap_group_links',
  'project_authorizations',
  'redirects',
]

/** How much there is of everything that a call of the table could add or take away. */
async function holdings({ app }: TestForge): Promise<string> {
  const counts = TABLES.map((table) => sql`(select count(*) from ${sql.table(table)})`)
  const { rows } = await sql<Record<string, number>>`select ${sql.join(counts, sql` || ',' || `)} as held`.execute(
    app.db,
  )
  return String(rows[0]!.held)
}

const VISIBILITIES = [
  ['private', (name: string) => PRIVATE_ROWS.get(name)!],
  ['public', (name: string) => PUBLIC_ROWS.get(name)!],
  ['internal', internalOf],
] as const

// What is internal follows from the other two, in code that knows of no store: one of them is enough to ask it on.
describe.each(VISIBILITIES.slice(0, testDatabaseUrl() ? 2 : 3))(
  'on a %s group and project',
  (visibility, expectedOf) => {
    test('each caller is answered as the table says, and a refusal moves nothing', { timeout: 300_000 }, async () => {
      await using forge = await startForge()
      await forge.stopWorker()
      const cast = await castOf(forge, visibility)
      await cast.people.owner.put(`/groups/${cast.group.id}`, { request_access_enabled: true })
      const answers: Record<string, string> = {}
      const expected: Record<string, string> = {}
      const moved: string[] = []
      const newcomer = () => forge.user({ username: unique('newcomer') })

      for (const [name, ask] of Object.entries(asks)) {
        const [method] = name.split(' ') as [string]
        const wanted = expectedOf(name)
        let project = await cast.project({ request_access_enabled: true })
        const answerTo = async (caller: CallerName, wanted: number) => {
          const { path, input } = await ask({ forge, cast, group: cast.group, project, caller, newcomer })
          // A read that the table allows is no refusal, or the table says so below; all else may be one.
          const before = (method !== 'GET' || wanted >= 300) && (await holdings(forge))
          const { status } = await cast.callers[caller].request(method, path, input)
          if (before && status >= 300 && (await holdings(forge)) !== before) moved.push(`${name} by ${caller}`)
          return status
        }
        const codes: number[] = []
        let isUsed = false
        for (const [n, caller] of CALLERS.entries()) {
          let status = await answerTo(caller, wanted[n]!)
          // What one caller has used up or altered, the next one may miss.
          if (status !== wanted[n] && isUsed) {
            project = await cast.project({ request_access_enabled: true })
            status = await answerTo(caller, wanted[n]!)
          }
          isUsed ||= status < 300 && method !== 'GET'
          codes.push(status)
        }
        answers[name] = codes.join(' ')
        expected[name] = wanted.join(' ')
      }
      expect(answers).toEqual(expected)
      expect(moved).toEqual([])
    })
  },
)
