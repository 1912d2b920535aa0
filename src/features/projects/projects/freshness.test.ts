/** Cached records of projects: every change is visible at once, for every viewer and whatever code made the change. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { castOf } from '../../../../test/cast.ts'
import { changeEach, openSecondStore } from '../../../../test/freshness.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { FeatureEnabled, Guest } from '../../../lib/levels.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { presentProjectFor } from './load.ts'
import { projectPolicy } from './policy.ts'
import { findProjectSubject } from './queries.ts'

const MOMENT = '2020-01-02T03:04:05.678Z'
const INPUT = { statistics: true }

interface Viewer {
  readonly name: string
  readonly caller: Client
  readonly id: number | null
  readonly secrets: boolean
}

async function viewersOf(forge: TestForge) {
  const cast = await castOf(forge, 'public')
  const { blocked: _, ...people } = cast.people
  const viewers: Viewer[] = Object.entries(people).map(([name, person]) => ({
    name,
    caller: person,
    id: person.id,
    secrets: true,
  }))
  viewers.push({ name: 'anonymous', caller: forge.visitor, id: null, secrets: true })
  const input = { name: 'narrow', scopes: ['read_api'], expires_at: '2999-01-01' }
  const { token } = (await people.owner.post('/user/personal_access_tokens', input)).body
  const narrow = forge.as({ 'PRIVATE-TOKEN': token })
  viewers.push({ name: 'owner who may only read', caller: narrow, id: people.owner.id, secrets: false })
  return { cast, viewers }
}

/** The uncached record: reads within a transaction are never cached. */
function recordFor({ app }: TestForge, id: number, viewer: Viewer): Promise<unknown> {
  return transact(app, async (app) => {
    const user = viewer.id === null ? null : await findUser(app.db, viewer.id)
    const subject = await findProjectSubject(app, String(id), user)
    if (!subject || !projectPolicy.read(subject)) return null
    return (await presentProjectFor(app, subject, { ...INPUT, secrets: viewer.secrets })).value
  })
}

async function listedTo({ app: { db } }: TestForge, id: number, { caller }: Viewer): Promise<unknown> {
  const { archived } = await db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  return (await caller.get('/projects', { ...INPUT, archived, id_after: id - 1, id_before: id + 1 })).body
}

/**
 * Requests the record for every viewer, and the list if `listed`. Returns whether any answer has changed since the last
 * call.
 */
function watch(forge: TestForge, id: number, viewers: readonly Viewer[], { listed = false } = {}) {
  const last = new Map<string, string>()
  return async (what: string): Promise<boolean> => {
    let isOther = false
    for (const viewer of viewers) {
      const expected = await recordFor(forge, id, viewer)
      const { status, body } = await viewer.caller.get(`/projects/${id}`, INPUT)
      const list = listed ? await listedTo(forge, id, viewer) : []
      const { runners_token: _, import_error: __, ...open } = (expected ?? {}) as Record<string, unknown>
      const answers = { record: status === 200 ? body : null, list }
      expect(answers, `${what}, to ${viewer.name}`).toEqual({
        record: expected,
        list: listed && expected ? [open] : [],
      })
      const text = JSON.stringify(expected)
      if (last.get(viewer.name) !== text) isOther = true
      last.set(viewer.name, text)
    }
    return isOther
  }
}

const OTHERS = {
  visibility: 'internal',
  merge_method: 'ff',
  squash_option: 'always',
  import_status: 'finished',
  import_progress: 7,
  import_url: 'https://example.com/other.git',
  housekeeping_at: MOMENT,
  issues_access_level: 10,
  merge_requests_access_level: 10,
  repository_access_level: 10,
  builds_access_level: 0,
  wiki_access_level: 0,
  snippets_access_level: 10,
  forking_access_level: 0,
  container_registry_access_level: 0,
  pages_access_level: 10,
  build_git_strategy: 'clone',
  auto_cancel_pending_pipelines: 'disabled',
  auto_devops_deploy_strategy: 'manual',
  container_expiration_policy: '{"keep_n":5}',
}

const IN_BIN = { deleted_by_id: 1, deleted_with_group_id: 1 }

test('every column of the project, its namespace, its owner and its source, changed by another process', async () => {
  await using forge = await startForge()
  const { cast, viewers } = await viewersOf(forge)
  const { owner } = cast.people
  const source = await forge.project({ path: 'source', visibility: 'public' }, owner)
  const { id } = await cast.project({ default_branch: 'main' })
  const { db } = forge.app
  const shown: string[] = []
  const store = await openSecondStore(forge)
  // Together these two see everything.
  const few = ['anonymous', 'owner']
  const look = watch(
    forge,
    id,
    viewers.filter(({ name }) => few.includes(name)),
  )
  const note = (table: string) => async (column: string) => {
    if (await look(`${table}.${column}`)) shown.push(`${table}.${column}`)
  }
  await store.db.updateTable('projects').set({ empty_repo: false, logo_path: 'logo.png' }).execute()
  await look('at first')
  const sealed = {
    runners_token_sealed: forge.app.vault.seal('other'),
    forked_from_id: source.id,
    creator_id: 1,
    ...IN_BIN,
  }

  const ofProject = { others: { ...OTHERS, ...sealed }, except: ['namespace_id', 'deleting', 'pool_id'] }
  await changeEach(store, 'projects', id, ofProject, note('projects'))
  const namespace = { others: { visibility: 'private', kind: 'user' }, except: ['parent_id', 'owner_id', 'deleting'] }
  const { namespace_id } = await db.selectFrom('projects').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const moment = { ...IN_BIN, ldap_synced_at: MOMENT, shared_runners_minutes_limit: 7, auto_devops_enabled: true }
  await changeEach(
    store,
    'namespaces',
    namespace_id,
    { ...namespace, others: { ...namespace.others, ...moment } },
    note('namespaces'),
  )
  await changeEach(
    store,
    'projects',
    source.id,
    { others: { ...OTHERS, ...IN_BIN, forked_from_id: null }, except: [...ofProject.except, 'runners_token_sealed'] },
    note('sources'),
  )
  await store.db.updateTable('namespaces').set({ owner_id: owner.id }).where('id', '=', namespace_id).execute()
  await look('it became personal')
  const people = { state: 'blocked', locked_until: MOMENT, password_expires_at: null, last_sign_in_at: MOMENT }
  const more = {
    confirm_by: MOMENT,
    current_sign_in_at: MOMENT,
    last_activity_on: '2020-01-02',
    shared_runners_minutes_limit: 7,
  }
  await changeEach(
    store,
    'users',
    owner.id,
    { others: { ...people, ...more }, except: ['state', 'admin', 'external', 'ghost'] },
    note('users'),
  )
  await store.close()

  expect(shown).toMatchInlineSnapshot(`
    [
      "projects.allow_merge_on_skipped_pipeline",
      "projects.approvals_before_merge",
      "projects.archived",
      "projects.auto_cancel_pending_pipelines",
      "projects.auto_devops_deploy_strategy",
      "projects.auto_devops_enabled",
      "projects.autoclose_referenced_issues",
      "projects.avatar_filename",
      "projects.build_git_strategy",
      "projects.build_timeout",
      "projects.builds_access_level",
      "projects.ci_config_path",
      "projects.ci_default_git_depth",
      "projects.commit_count",
      "projects.container_expiration_policy",
      "projects.container_registry_access_level",
      "projects.created_at",
      "projects.creator_id",
      "projects.default_branch",
      "projects.description",
      "projects.emails_disabled",
      "projects.empty_repo",
      "projects.forked_from_id",
      "projects.forking_access_level",
      "projects.forks_count",
      "projects.import_error",
      "projects.import_status",
      "projects.import_url",
      "projects.issues_access_level",
      "projects.keep_latest_artifact",
      "projects.last_activity_at",
      "projects.lfs_enabled",
      "projects.lfs_objects_size",
      "projects.marked_for_deletion_at",
      "projects.merge_commit_template",
      "projects.merge_method",
      "projects.merge_pipelines_enabled",
      "projects.merge_requests_access_level",
      "projects.name",
      "projects.only_allow_merge_if_all_discussions_are_resolved",
      "projects.only_allow_merge_if_pipeline_succeeds",
      "projects.packages_enabled",
      "projects.pages_access_level",
      "projects.path",
      "projects.printing_merge_requests_link_enabled",
      "projects.public_jobs",
      "projects.readme_path",
      "projects.remove_source_branch_after_merge",
      "projects.repository_access_level",
      "projects.repository_size",
      "projects.repository_storage",
      "projects.request_access_enabled",
      "projects.resolve_outdated_diff_discussions",
      "projects.runners_token_sealed",
      "projects.shared_runners_enabled",
      "projects.snippets_access_level",
      "projects.squash_commit_template",
      "projects.squash_option",
      "projects.star_count",
      "projects.suggestion_commit_message",
      "projects.updated_at",
      "projects.visibility",
      "projects.wiki_access_level",
      "namespaces.full_name",
      "namespaces.full_path",
      "namespaces.kind",
      "namespaces.name",
      "namespaces.path",
      "sources.created_at",
      "sources.default_branch",
      "sources.description",
      "sources.empty_repo",
      "sources.forks_count",
      "sources.last_activity_at",
      "sources.name",
      "sources.path",
      "sources.readme_path",
      "sources.star_count",
      "users.created_at",
      "users.name",
    ]
  `)
}, 60_000)

test('whatever else a record shows, by every way it changes', async () => {
  await using forge = await startForge()
  const { cast, viewers } = await viewersOf(forge)
  const { guest, master, owner, stranger } = cast.people
  const { administrator } = forge
  const source = await forge.project({ path: 'source', visibility: 'public' }, owner)
  const { id } = await cast.project()
  const lender = await forge.group({ path: 'lender', visibility: 'private' }, owner)
  const creator = await forge.user()
  const look = watch(forge, id, viewers, { listed: true })
  const store = await openSecondStore(forge)
  const run = (text: string) => sql.raw(text).execute(store.db)
  const path = `/projects/${id}`
  await look('at first')

  const changes: Record<string, () => Promise<unknown>> = {
    'described by the API': () => owner.put(path, { description: 'other' }),
    'topics by the API': () => owner.put(path, { topics: ['b', 'a'] }),
    'a topic renamed': () => run(`update project_topics set name = 'c' where project_id = ${id} and name = 'a'`),
    'topics in another order': () => run(`update project_topics set position = 9 where name = 'b'`),
    'a topic gone': () => run(`delete from project_topics where project_id = ${id} and name = 'c'`),
    'with a logo': () => run(`update projects set logo_path = 'logo.png' where id = ${id}`),
    starred: () => stranger.post(`${path}/star`),
    'an issue opened': () => owner.post(`${path}/issues`, { title: 'a' }),
    'the issue hidden': () => run(`update issues set confidential = true where project_id = ${id}`),
    'artifacts kept': () => run(`insert into ci_artifacts_facets (project_id, total) values (${id}, 7)`),
    'shared with a group': () => owner.post(`${path}/share`, { group_id: lender.id, group_access: Guest }),
    'the share reaches further': () => run(`update project_shares set group_access = 30 where project_id = ${id}`),
    'the share expires': () => run(`update project_shares set expires_at = '2999-01-02' where project_id = ${id}`),
    'the group renamed': () => owner.put(`/groups/${lender.id}`, { name: 'other' }),
    'the group opened': () => run(`update namespaces set visibility = 'public' where id = ${lender.id}`),
    'the group on its way out': () => run(`update namespaces set deleting = true where id = ${lender.id}`),
    'the group back': () => run(`update namespaces set deleting = false where id = ${lender.id}`),
    unshared: () => owner.delete(`${path}/share/${lender.id}`),
    'a member of its own': () => owner.post(`${path}/members`, { user_id: stranger.id, access_level: 20 }),
    'raised there': () => owner.put(`${path}/members/${stranger.id}`, { access_level: 40 }),
    'notified otherwise': () => stranger.put(`${path}/notification_settings`, { level: 'participating' }),
    'a member no more': () => owner.delete(`${path}/members/${stranger.id}`),
    'raised in the group': () => owner.put(`/groups/${cast.group.id}/members/${guest.id}`, { access_level: 30 }),
    'gone from the group': () => owner.delete(`/groups/${cast.group.id}/members/${master.id}`),
    'features for members only': () => owner.put(path, { wiki_access_level: 'private' }),
    'let in past all memberships': () =>
      run(`insert into project_authorizations values (${master.id}, ${id}, ${Guest})`),
    'features for all': () => run(`update projects set wiki_access_level = ${FeatureEnabled} where id = ${id}`),
    forked: () => administrator.post(`${path}/fork/${source.id}`),
    'its source has topics': () => owner.put(`/projects/${source.id}`, { topics: ['x'] }),
    'its source hidden': () => run(`update projects set visibility = 'private' where id = ${source.id}`),
    'its source shown to one': () =>
      run(`insert into project_authorizations values (${stranger.id}, ${source.id}, ${Guest})`),
    'its source on its way out': () => run(`update projects set deleting = true where id = ${source.id}`),
    'its source back': () => run(`update projects set deleting = false where id = ${source.id}`),
    'the owner of its source renamed': () => administrator.put(`/users/${owner.id}`, { name: 'Other' }),
    'its creator another': () => run(`update projects set creator_id = ${creator.id} where id = ${id}`),
    'its creator gone': () => run(`delete from users where id = ${creator.id}`),
    'its source gone': () => run(`delete from projects where id = ${source.id}`),
    archived: () => owner.post(`${path}/archive`),
    'its group renamed': () => owner.put(`/groups/${cast.group.id}`, { name: 'Other', path: 'other' }),
    moved: () => administrator.put(`${path}/transfer`, { namespace: owner.username }),
    'its owner renamed': () => administrator.put(`/users/${owner.id}`, { name: 'Another', username: 'another' }),
    'made internal': () => run(`update projects set visibility = 'internal' where id = ${id}`),
    'someone made external': () => run(`update users set external = true where id = ${stranger.id}`),
    hidden: () => run(`update projects set visibility = 'private' where id = ${id}`),
    'on its way out': () => run(`update projects set deleting = true where id = ${id}`),
  }
  const unseen: string[] = []
  for (const [what, change] of Object.entries(changes)) {
    await change()
    if (!(await look(what))) unseen.push(what)
  }
  await store.close()
  expect(unseen).toEqual([])
}, 60_000)

test('what is known costs two queries, for the caller and for all that the record depends on', async () => {
  await using forge = await startForge()
  const { viewers, cast } = await viewersOf(forge)
  const source = await forge.project({ path: 'source', visibility: 'public' })
  const { id } = await cast.project({ topics: ['a', 'b'] })
  await forge.administrator.post(`/projects/${id}/fork/${source.id}`)
  for (const { caller, id: user } of viewers) {
    const ask = () => caller.get(`/projects/${id}`)
    await ask() // which also stores the use of a token
    const once = await forge.queries(ask)
    const twice = await forge.queries(async () => [await ask(), await ask()])
    expect(twice - once).toBe(user === null ? 1 : 2)
  }
})
