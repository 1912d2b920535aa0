import { expect, test } from 'vitest'
import { CALLERS, castOf, type Cast } from '../../test/cast.ts'
import { authorizationOf } from '../../test/lfs.ts'
import { timestamp } from '../clock.ts'
import type { App } from '../context.ts'
import { findUser } from '../features/identity/users/queries.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'
import { denialOf, learnFacts, type Facts } from './access.ts'
import { authenticatePrincipal } from './credentials.ts'
import { NOBODY, type Principal } from './principal.ts'
import { findRepository } from './locations.ts'

const CHALLENGE = 'HTTP Basic: Access denied'
const NO_PROJECT = "The project you were looking for could not be found or you don't have permission to view it."
const NO_FETCH = 'You are not allowed to download code from this project.'
const NO_UPLOAD = 'You are not allowed to upload code for this project.'
const NO_PUSH = 'You are not allowed to push code to this project.'
const NO_WIKI = "You are not allowed to write to this project's wiki."
const ARCHIVED = "You can't push code to an archived project."

type Verb = Facts['verb']

async function answerTo(app: App, principal: Principal, path: string, verb: Verb, over: Facts['over'] = 'http') {
  const location = await findRepository(app, path)
  return denialOf(await learnFacts(app, principal, location!, { verb, over }))
}

const textFor = async (app: App, principal: Principal, path: string, verb: Verb, over?: Facts['over']) =>
  (await answerTo(app, principal, path, verb, over))?.reason ?? 'yes'

/** A blocked user has no valid credential, but the server may still know their key. */
async function principalOf(forge: TestForge, cast: Cast, who: (typeof CALLERS)[number]): Promise<Principal> {
  if (who === 'blocked') return asPerson(forge, cast.people.blocked)
  const authorization = authorizationOf(cast.callers[who])
  return authenticatePrincipal(forge.app, { authorization, address: '127.0.0.1' }, 'git')
}

const asPerson = async ({ app }: TestForge, { id }: Person): Promise<Principal> => ({
  user: await findUser(app.db, id),
  mayFetch: true,
  mayPush: true,
  via: 'ssh_key',
})

/** Anonymous, stranger, external, guest, reporter; then the allowed callers; then the blocked user. */
const row = (...first: string[]) => [...first, 'yes', 'yes', 'yes', 'yes', 'Your account has been blocked.']

const TABLE = {
  private: {
    fetch: row(CHALLENGE, NO_PROJECT, NO_PROJECT, NO_FETCH, 'yes'),
    push: row(CHALLENGE, NO_PROJECT, NO_PROJECT, NO_PUSH, NO_PUSH),
    wiki: row(CHALLENGE, NO_PROJECT, NO_PROJECT, NO_WIKI, NO_WIKI),
  },
  internal: {
    fetch: row(CHALLENGE, 'yes', NO_PROJECT, 'yes', 'yes'),
    push: row(CHALLENGE, NO_PUSH, NO_PROJECT, NO_PUSH, NO_PUSH),
    wiki: row(CHALLENGE, NO_WIKI, NO_PROJECT, NO_WIKI, NO_WIKI),
  },
  public: {
    fetch: row('yes', 'yes', 'yes', 'yes', 'yes'),
    push: row(CHALLENGE, NO_PUSH, NO_PUSH, NO_PUSH, NO_PUSH),
    wiki: row(CHALLENGE, NO_WIKI, NO_WIKI, NO_WIKI, NO_WIKI),
  },
} as const

test.each(['private', 'internal', 'public'] as const)(
  'security 37: who may what on a %s project',
  async (visibility) => {
    await using forge = await startForge()
    const cast = await castOf(forge, visibility)
    const { path_with_namespace: path } = await cast.project()
    const texts = async (at: string, verb: Verb) => {
      const answers: unknown[] = []
      for (const who of CALLERS) answers.push(await textFor(forge.app, await principalOf(forge, cast, who), at, verb))
      return answers
    }
    const { fetch, push, wiki } = TABLE[visibility]
    expect(await texts(path, 'fetch')).toEqual(fetch)
    expect(await texts(path, 'push')).toEqual(push)
    expect(await texts(`${path}.wiki`, 'fetch')).toEqual(fetch)
    expect(await texts(`${path}.wiki`, 'push')).toEqual(wiki)
  },
)

test('statuses are those a git client knows', async () => {
  await using forge = await startForge()
  const cast = await castOf(forge, 'private')
  const { path_with_namespace: path } = await cast.project()
  const kind = async (principal: Principal) => (await answerTo(forge.app, principal, path, 'fetch'))?.kind
  expect(await kind(NOBODY)).toBe('unauthenticated')
  expect(await kind(await asPerson(forge, cast.people.stranger))).toBe('not_found')
  expect(await kind(await asPerson(forge, cast.people.guest))).toBe('forbidden')
  expect(await kind(await asPerson(forge, cast.people.blocked))).toBe('forbidden')
})

test('a credential opens no more than its scopes', async () => {
  await using forge = await startForge()
  const cast = await castOf(forge, 'public')
  const { path_with_namespace: path } = await cast.project()
  const master = await asPerson(forge, cast.people.master)
  const ask = (principal: Principal, verb: Verb) => textFor(forge.app, principal, path, verb)
  expect(await ask({ ...master, mayPush: false }, 'fetch')).toBe('yes')
  expect(await ask({ ...master, mayPush: false }, 'push')).toBe(NO_UPLOAD)
  expect(await ask({ ...master, mayFetch: false }, 'fetch')).toBe(NO_FETCH)
})

test('switches of the project and of the instance', async () => {
  await using forge = await startForge()
  const { app } = forge
  const cast = await castOf(forge, 'public')
  const { id, path_with_namespace: path } = await cast.project()
  const owner = await asPerson(forge, cast.people.owner)
  const stranger = await asPerson(forge, cast.people.stranger)
  const set = (input: Record<string, unknown>) => cast.people.owner.put(`/projects/${id}`, input)
  const texts = (principal: Principal, at: string) =>
    Promise.all((['fetch', 'push'] as const).map((verb) => textFor(app, principal, at, verb)))

  await set({ repository_access_level: 'disabled' })
  expect(await texts(owner, path)).toEqual([NO_FETCH, NO_PUSH])
  expect(await texts(NOBODY, path)).toEqual([CHALLENGE, CHALLENGE])
  expect(await texts(owner, `${path}.wiki`)).toEqual(['yes', 'yes'])
  await set({ repository_access_level: 'private', wiki_access_level: 'disabled' })
  expect(await texts(owner, path)).toEqual(['yes', 'yes'])
  expect(await texts(stranger, path)).toEqual([NO_FETCH, NO_PUSH])
  expect(await texts(owner, `${path}.wiki`)).toEqual([NO_FETCH, NO_WIKI])
  await set({ repository_access_level: 'enabled', wiki_access_level: 'private' })
  expect(await texts(stranger, `${path}.wiki`)).toEqual([NO_FETCH, NO_WIKI])
  expect(await texts(owner, `${path}.wiki`)).toEqual(['yes', 'yes'])

  await cast.people.owner.post(`/projects/${id}/archive`)
  expect(await texts(owner, path)).toEqual(['yes', ARCHIVED])
  expect(await texts(owner, `${path}.wiki`)).toEqual(['yes', ARCHIVED])
  expect(await texts(stranger, path)).toEqual(['yes', NO_PUSH])

  await forge.administrator.put('/application/settings', { enabled_git_access_protocol: 'ssh' })
  expect(await textFor(app, owner, path, 'fetch', 'http')).toBe('Git access over HTTP is not allowed')
  expect(await textFor(app, owner, path, 'fetch', 'ssh')).toBe('yes')
  // LFS after SSH authentication uses HTTP.
  expect(await textFor(app, owner, path, 'fetch', 'lfs')).toBe('yes')
  await forge.administrator.put('/application/settings', { enabled_git_access_protocol: 'http' })
  expect(await textFor(app, owner, path, 'fetch', 'ssh')).toBe('Git access over SSH is not allowed')
})

test('a deploy key opens the projects that enabled it, regardless of its creator', async () => {
  await using forge = await startForge()
  const { app, clock } = forge
  const cast = await castOf(forge, 'private')
  const readable = await cast.project()
  const writable = await cast.project()
  const other = await cast.project()
  const open = await cast.project({ visibility: 'private' })
  const now = timestamp(clock)
  const { id: key_id } = await app.db
    .insertInto('keys')
    .values({
      user_id: null,
      kind: 'deploy',
      title: 'ci',
      key: 'ssh-ed25519 x',
      fingerprint: 'x',
      fingerprint_sha256: 'x',
      usage_type: 'auth',
      creator_id: cast.people.owner.id,
      expires_at: null,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const [{ id: project_id }, can_push] of [
    [readable, false],
    [writable, true],
  ] as const) {
    await app.db
      .insertInto('deploy_key_projects')
      .values({ key_id, project_id, can_push, created_at: now, updated_at: now })
      .execute()
  }
  const key: Principal = { ...(await asPerson(forge, cast.people.owner)), deployKeyId: key_id }
  const texts = ({ path_with_namespace: path }: { path_with_namespace: string }, ending = '') =>
    Promise.all((['fetch', 'push'] as const).map((verb) => textFor(app, key, path + ending, verb, 'ssh')))
  expect(await texts(readable)).toEqual(['yes', 'This deploy key does not have write access to this project.'])
  expect(await texts(writable)).toEqual(['yes', 'yes'])
  expect(await texts(other)).toEqual([NO_PROJECT, NO_PROJECT])
  expect(await texts(writable, '.wiki')).toEqual(['yes', NO_WIKI])
  expect(await texts(other, '.wiki')).toEqual([NO_PROJECT, NO_PROJECT])
  await cast.people.owner.post(`/projects/${writable.id}/archive`)
  expect(await texts(writable)).toEqual(['yes', ARCHIVED])
  await app.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', open.id).execute()
  expect(await texts(open)).toEqual(['yes', 'This deploy key does not have write access to this project.'])
})

test('a deploy token opens the code of its project, not the wiki', async () => {
  await using forge = await startForge()
  const { app } = forge
  const owner = await forge.user()
  const { id, path_with_namespace: path } = await forge.project({ visibility: 'private' }, owner)
  const input = { name: 'ci', username: 'ci', scopes: ['read_repository'] }
  const { token } = (await owner.post(`/projects/${id}/deploy_tokens`, input)).body
  const authorization = `Basic ${Buffer.from(`ci:${token}`).toString('base64')}`
  const bearer = await authenticatePrincipal(app, { authorization, address: '127.0.0.1' }, 'git')
  expect(await textFor(app, bearer, path, 'fetch')).toBe('yes')
  expect(await textFor(app, bearer, `${path}.wiki`, 'fetch')).toBe(NO_FETCH)
})
