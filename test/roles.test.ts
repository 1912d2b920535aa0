/**
 * Who may do what, for every endpoint of groups and projects: ten callers, on a private and on a public group with a
 * project in it. The tables are written from the rules (reference: levels, permission matrix, order of checks), not from
 * the answers; a new endpoint without a row fails. Every refusal is also shown to have moved nothing.
 */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { v4 } from '../src/features/v4.ts'
import { startForge, type TestForge } from '../src/forge.ts'
import { CALLERS, addMember, castOf, type CallerName, type Cast } from './cast.ts'

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

const withLink =
  (addressOf: (link: { cn: string; provider: string }) => string) =>
  async (s: Stage): Promise<Ask> => {
    const link = { cn: unique('cn'), provider: 'ldapmain' }
    await owner(s).post(`${base(s, 'groups')}/ldap_group_links`, { ...link, group_access: 30 })
    return { path: `${base(s, 'groups')}/ldap_group_links${addressOf(link)}` }
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
  'POST /projects/:id/uploads': (s) => ({ path: `/projects/${s.project.id}/uploads`, input: aFile() }),
  'GET /projects/:id/uploads': project('/uploads'),
  'GET /projects/:id/uploads/:secret/:filename': withUpload(({ url }) => url),
  'GET /projects/:id/uploads/:upload_id': withUpload(({ id }) => `/uploads/${id}`),
  'DELETE /projects/:id/uploads/:upload_id': withUpload(({ id }) => `/uploads/${id}`),
  'DELETE /projects/:id/uploads/:secret/:filename': withUpload(({ url }) => url),
}

/** Callers from left to right: anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked. */
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
  'uploads',
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

describe.each([
  ['private', (name: string) => PRIVATE_ROWS.get(name)!],
  ['internal', internalOf],
  ['public', (name: string) => PUBLIC_ROWS.get(name)!],
] as const)('on a %s group and project', (visibility, expectedOf) => {
  test('each caller is answered as the table says, and a refusal moves nothing', { timeout: 120_000 }, async () => {
    await using forge = await startForge()
    await forge.stopWorker()
    const cast = await castOf(forge, visibility)
    await cast.people.owner.put(`/groups/${cast.group.id}`, { request_access_enabled: true })
    const answers: Record<string, string> = {}
    const expected: Record<string, string> = {}
    const moved: string[] = []
    const newcomer = () => forge.user({ username: unique('newcomer') })

    for (const [name, ask] of Object.entries(asks)) {
      const codes: number[] = []
      let stageProject = await cast.project({ request_access_enabled: true })
      for (const caller of CALLERS) {
        const stage = { forge, cast, group: cast.group, project: stageProject, caller, newcomer }
        const { path, input } = await ask(stage)
        const before = await holdings(forge)
        const { status } = await cast.callers[caller].request(name.split(' ')[0]!, path, input)
        codes.push(status)
        if (status >= 300 && (await holdings(forge)) !== before) moved.push(`${name} by ${caller}`)
        // What was used up or altered by one caller is not what the next one shall meet.
        if (status < 300 && !name.startsWith('GET')) stageProject = await cast.project({ request_access_enabled: true })
      }
      answers[name] = codes.join(' ')
      expected[name] = expectedOf(name).join(' ')
    }
    expect(answers).toEqual(expected)
    expect(moved).toEqual([])
  })
})
