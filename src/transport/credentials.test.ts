import { expect, test } from 'vitest'
import { LfsClient, authorizationOf, basic, objectOf } from '../../test/lfs.ts'
import { oauthPost } from '../../test/oauth.ts'
import { HOUR, MINUTE } from '../clock.ts'
import { Refusal } from '../errors.ts'
import { createDeployToken } from '../features/repository/deploy-tokens/service.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'
import { findUser } from '../features/identity/users/queries.ts'
import { authenticatePrincipal } from './credentials.ts'
import type { Principal } from './principal.ts'

const PASSWORD = 'correct horse'
const ADDRESS = '192.0.2.7'
const DENIED = 'HTTP Basic: Access denied'

/** The principal in short: name, method, may fetch, may push. Or the kind and text of the rejection. */
async function comes(forge: TestForge, authorization?: string, at: 'git' | 'lfs' = 'git', address = ADDRESS) {
  try {
    return inShort(await authenticatePrincipal(forge.app, { authorization, address }, at))
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return [error.kind, error.reason]
  }
}

const inShort = ({ user, deployToken, via, mayFetch, mayPush }: Principal) => [
  user?.username ?? deployToken?.username ?? null,
  via,
  mayFetch,
  mayPush,
]

const jane = (forge: TestForge) => forge.user({ username: 'jane', password: PASSWORD })
const tokenOf = async (person: Person, scopes: string[], more = {}): Promise<string> =>
  (await person.post('/user/personal_access_tokens', { name: 'git', scopes, ...more })).body.token

test('no credential is nobody; a wrong one is refused', async () => {
  await using forge = await startForge()
  const person = await jane(forge)
  expect(await comes(forge)).toEqual([null, 'nothing', true, true])
  const wrong = [
    basic('jane', 'wrong'),
    basic('jane', ''),
    basic('', ''),
    basic('', PASSWORD),
    basic('jane\0', PASSWORD),
    basic('gitlab-ci-token', 'nothing yet'),
    'Basic !!!',
    'Basic',
    `Basic ${Buffer.from(person.token).toString('base64')}`,
    'Bearer x',
    `Digest ${person.token}`,
    '',
  ]
  for (const authorization of wrong) {
    // Each from a separate address, so that the failure count does not matter.
    const address = `192.0.2.${wrong.indexOf(authorization)}`
    expect(await comes(forge, authorization, 'git', address), authorization).toEqual(['unauthenticated', DENIED])
  }
  const refusal = await authenticatePrincipal(forge.app, { authorization: 'x', address: ADDRESS }, 'git').catch(
    (e) => e,
  )
  expect(refusal.facts).toEqual({ headers: { 'WWW-Authenticate': 'Basic realm="Mortise"' } })
})

test('tokens come with any name or none, and open what their scopes say', async () => {
  await using forge = await startForge()
  const person = await jane(forge)
  for (const name of ['jane', 'oauth2', 'private-token', 'gitlab-ci-token', '', 'any']) {
    expect(await comes(forge, basic(name, person.token))).toEqual(['jane', 'token', true, true])
  }
  expect(await comes(forge, `bearer ${person.token}`)).toEqual(['jane', 'token', true, true])
  for (const [scope, mayFetch, mayPush] of [
    ['api', true, true],
    ['read_api', true, false],
    ['read_repository', true, false],
    ['write_repository', true, true],
    ['read_user', false, false],
    ['read_registry', false, false],
  ] as const) {
    const token = await tokenOf(person, [scope])
    expect(await comes(forge, basic('jane', token)), scope).toEqual(['jane', 'token', mayFetch, mayPush])
  }
  const { body: impersonation } = await forge.administrator.post(`/users/${person.id}/impersonation_tokens`, {
    name: 'x',
    scopes: ['api'],
  })
  expect(await comes(forge, basic('x', impersonation.token))).toEqual(['jane', 'token', true, true])
  await forge.administrator.delete(`/users/${person.id}/impersonation_tokens/${impersonation.id}`)
  expect(await comes(forge, basic('x', impersonation.token))).toEqual(['unauthenticated', DENIED])
})

test('OAuth tokens, under the name oauth2 and any other', async () => {
  await using forge = await startForge()
  await jane(forge)
  const granted = async (scope: string) =>
    (await oauthPost(forge, 'token', { grant_type: 'password', username: 'jane', password: PASSWORD, scope })).body
      .access_token as string
  const token = await granted('api')
  expect(await comes(forge, basic('oauth2', token))).toEqual(['jane', 'oauth', true, true])
  expect(await comes(forge, `Bearer ${token}`)).toEqual(['jane', 'oauth', true, true])
  expect(await comes(forge, basic('jane', await granted('read_user')))).toEqual(['jane', 'oauth', false, false])
  await oauthPost(forge, 'revoke', { token })
  expect(await comes(forge, basic('oauth2', token))).toEqual(['unauthenticated', DENIED])
})

test('deploy tokens come under their own name and only fetch', async () => {
  await using forge = await startForge()
  const person = await jane(forge)
  const actor = (await findUser(forge.app.db, person.id))!
  const { id: project_id, path_with_namespace: path } = await forge.project({}, person)
  const { path_with_namespace: elsewhere } = await forge.project({}, person)
  const expires_at = new Date(forge.clock.now().getTime() + HOUR).toISOString()
  const at = { group_id: null, project_id }
  const make = (scope: 'read_repository' | 'read_registry') =>
    createDeployToken(forge.app, actor, at, { name: 'ci', scopes: [scope], expires_at })
  const { token, secret } = await make('read_repository')
  expect(await comes(forge, basic(token.username, secret))).toEqual([token.username, 'deploy_token', true, false])
  expect(await comes(forge, basic('jane', secret))).toEqual(['unauthenticated', DENIED])
  const other = await make('read_registry')
  expect((await comes(forge, basic(other.token.username, other.secret))).slice(1)).toEqual([
    'deploy_token',
    false,
    false,
  ])

  const object = objectOf('content')
  await new LfsClient(forge, path, authorizationOf(person)).put(object)
  const client = new LfsClient(forge, path, basic(token.username, secret))
  expect((await client.content(object)).status).toBe(200)
  const { header } = (await client.batch('download', object)).body.objects[0].actions.download
  expect((await new LfsClient(forge, path, header.Authorization).content(object)).status).toBe(200)
  expect((await client.batch('upload', object)).status).toBe(403)
  expect((await client.post('info/lfs/locks', { path: 'x' })).status).toBe(403)
  expect((await new LfsClient(forge, elsewhere, basic(token.username, secret)).batch('download', object)).status).toBe(
    404,
  )
  forge.clock.advance(HOUR)
  expect((await client.content(object)).status).toBe(401)
  expect((await new LfsClient(forge, path, header.Authorization).content(object)).status).toBe(401)
})

test('passwords, by username or email, of users who may use one', async () => {
  await using forge = await startForge()
  const person = await jane(forge)
  expect(await comes(forge, basic('jane', PASSWORD))).toEqual(['jane', 'password', true, true])
  expect(await comes(forge, basic('JANE@example.com', PASSWORD))).toEqual(['jane', 'password', true, true])

  const hint = [
    DENIED,
    "You must use a personal access token with 'api' scope for Git over HTTP.",
    `You can generate one at ${forge.url}/profile/personal_access_tokens`,
  ].join('\n')
  const setTwoFactor = (two_factor_enabled: boolean) =>
    forge.app.db.updateTable('users').set({ two_factor_enabled }).where('id', '=', person.id).execute()
  await setTwoFactor(true)
  expect(await comes(forge, basic('jane', PASSWORD))).toEqual(['unauthenticated', hint])
  // A caller without the password learns nothing about the account.
  expect(await comes(forge, basic('jane', 'wrong'))).toEqual(['unauthenticated', DENIED])
  expect(await comes(forge, basic('jane', person.token))).toEqual(['jane', 'token', true, true])
  await setTwoFactor(false)

  await forge.administrator.put('/application/settings', { password_authentication_enabled_for_git: false })
  expect(await comes(forge, basic('jane', PASSWORD))).toEqual(['unauthenticated', hint])
  expect(await comes(forge, basic('jane', person.token))).toEqual(['jane', 'token', true, true])
  await forge.administrator.put('/application/settings', { password_authentication_enabled_for_git: true })

  const grant = { grant_type: 'password', username: 'jane', password: PASSWORD }
  const { body: oauth } = await oauthPost(forge, 'token', grant)
  await forge.administrator.post(`/users/${person.id}/block`)
  expect(await comes(forge, basic('jane', PASSWORD))).toEqual(['unauthenticated', DENIED])
  const blocked = ['forbidden', 'Your account has been blocked.']
  expect(await comes(forge, basic('jane', person.token))).toEqual(blocked)
  expect(await comes(forge, basic('oauth2', oauth.access_token))).toEqual(blocked)
  const headers = { Authorization: basic('jane', person.token) }
  const answer = await fetch(`${forge.url}/no/such.git/info/refs?service=git-upload-pack`, { headers })
  expect([answer.status, await answer.text()]).toEqual([403, 'Your account has been blocked.\n'])
})

test('an LFS token opens LFS and no git', async () => {
  await using forge = await startForge()
  const person = await jane(forge)
  const { path_with_namespace: path } = await forge.project({}, person)
  const lfs = new LfsClient(forge, path, authorizationOf(person))
  const { Authorization } = (await lfs.batch('upload', objectOf('x'))).body.objects[0].actions.upload.header
  expect(await comes(forge, Authorization, 'lfs')).toEqual(['jane', 'lfs_token', true, true])
  expect(await comes(forge, Authorization, 'git')).toEqual(['unauthenticated', DENIED])
})

test('ten failures a minute ban an address for an hour, but for tokens and visitors', async () => {
  await using forge = await startForge({ settings: { TRUSTED_PROXIES: '127.0.0.1' } })
  const person = await jane(forge)
  const { path_with_namespace: path } = await forge.project({ visibility: 'public' }, person)
  const statusFrom = async (address: string | null, authorization?: string) => {
    const client = new LfsClient(forge, path, authorization)
    return (await client.get('info/lfs/locks', address === null ? {} : { 'X-Forwarded-For': address })).status
  }
  const right = basic('jane', person.token)
  const failing = async (address: string | null, times: number) => {
    for (let n = 0; n < times; n++) expect(await statusFrom(address, basic('', 'wrong'))).toBe(401)
  }
  await failing(ADDRESS, 9)
  expect(await statusFrom(ADDRESS, right)).toBe(200)
  await failing(ADDRESS, 9)
  forge.clock.advance(MINUTE)
  await failing(ADDRESS, 10)
  const password = basic('jane', PASSWORD)
  expect(await statusFrom(ADDRESS, password)).toBe(403)
  expect(await statusFrom(ADDRESS, basic('', 'wrong'))).toBe(403)
  expect(await statusFrom(ADDRESS, right)).toBe(200)
  expect(await statusFrom(ADDRESS)).toBe(200)
  expect(await statusFrom('192.0.2.8', password)).toBe(200)
  // A valid token does not end the ban.
  expect(await statusFrom(ADDRESS, password)).toBe(403)
  forge.clock.advance(HOUR - MINUTE)
  expect(await statusFrom(ADDRESS, password)).toBe(403)
  forge.clock.advance(MINUTE)
  expect(await statusFrom(ADDRESS, password)).toBe(200)

  await failing(null, 15)
  expect(await statusFrom(null, right)).toBe(200)
})

test('security 31: no credential of git or LFS reaches the log', async () => {
  let lines = ''
  await using forge = await startForge({ logTo: { write: (line) => void (lines += line) }, settings: { LOG: 'debug' } })
  const person = await jane(forge)
  const { path_with_namespace: path } = await forge.project({}, person)
  const object = objectOf('x')
  const lfs = new LfsClient(forge, path, basic('jane', person.token))
  const { href, header } = (await lfs.batch('upload', object)).body.objects[0].actions.upload
  await lfs.request('PUT', href, object.content, header)
  await new LfsClient(forge, path, basic('jane', 'a wrong secret')).content(object)
  expect(lines).toContain('"status":401')
  for (const secret of [person.token, basic('jane', person.token), header.Authorization, 'a wrong secret']) {
    expect(lines).not.toContain(secret)
    expect(lines).not.toContain(secret.replace(/^Basic /, ''))
  }
})
