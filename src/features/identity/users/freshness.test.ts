/** Cached records of users: a change of any field is visible at once, whichever process wrote it. */
import { expect, test } from 'vitest'
import { changeEach, openSecondStore } from '../../../../test/freshness.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import {
  presentAccount,
  presentAdministeredUser,
  presentOwnUser,
  presentUser,
  presentUserSummary,
  type Surroundings,
} from './entity.ts'

/** All records of a user, each with its expected value. */
async function recordsOf(
  forge: TestForge,
  id: number,
  own: { get: TestForge['visitor']['get'] },
  around: Surroundings,
) {
  const { db } = forge.app
  const row = await db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const identities = await db.selectFrom('identities').selectAll().where('user_id', '=', id).orderBy('id').execute()
  const space = await db.selectFrom('namespaces').select('id').where('owner_id', '=', id).executeTakeFirstOrThrow()
  const user = { ...row, identities, isFull: false, namespace_id: space.id }
  const filter = { username: row.username }
  const [other, { administrator }] = [forge.visitor, forge]
  const members = await own.get('/users', filter)
  return {
    asked: [
      (await own.get(`/users/${id}`)).body,
      members.body,
      (await other.get('/users', filter)).body,
      (await administrator.get(`/users/${id}`)).body,
      (await administrator.get('/users', filter)).body,
      (await own.get('/user')).body,
    ],
    expected: [
      presentUser(user, around),
      [presentUserSummary(user, around)],
      [presentUserSummary(user, around)],
      presentAdministeredUser(user, around),
      [presentAccount(user, around)],
      presentOwnUser(user, around, null),
    ],
  }
}

test('every column of a user, their identities and the settings, changed by another process', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const store = await openSecondStore(forge)
  const around = { url: forge.url, gravatar: false }
  const shown: string[] = []
  let last = ''
  const look = async (what: string) => {
    const { asked, expected } = await recordsOf(forge, ann.id, ann, around)
    expect(asked, what).toEqual(expected)
    const text = JSON.stringify(asked)
    if (text !== last) shown.push(what)
    last = text
  }
  await look('at first')

  const moment = '2020-01-02T03:04:05.678Z'
  const others = {
    last_activity_on: '2020-01-02',
    confirm_by: moment,
    last_sign_in_at: moment,
    current_sign_in_at: moment,
    locked_until: moment,
    password_expires_at: moment,
    shared_runners_minutes_limit: 7,
  }
  const except = ['state', 'admin', 'external', 'ghost', 'password_expires_at']
  await changeEach(store, 'users', ann.id, { others, except }, look)
  await store.db.insertInto('identities').values({ user_id: ann.id, provider: 'ldap', extern_uid: 'a' }).execute()
  await look('an identity')
  await store.db.updateTable('identities').set({ extern_uid: 'b' }).execute()
  await look('another identity')
  await store.db.deleteFrom('identities').execute()
  await look('no identity')
  await forge.app.db.updateTable('users').set({ external: true }).where('id', '=', ann.id).execute()
  await look('external')
  await store.db.updateTable('users').set({ avatar_filename: null }).where('id', '=', ann.id).execute()
  await look('no avatar')
  await forge.administrator.put('/application/settings', { gravatar_enabled: true })
  around.gravatar = true
  await look('pictures from elsewhere')
  await forge.app.db.updateTable('users').set({ admin: true }).where('id', '=', ann.id).execute()
  await store.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', ann.id).execute()
  expect((await forge.administrator.get(`/users/${ann.id}`)).body).toMatchObject({ state: 'blocked', is_admin: true })
  expect((await ann.get('/user')).status).toBe(401)
  await store.close()

  expect(shown).toMatchInlineSnapshot(`
    [
      "at first",
      "avatar_filename",
      "bio",
      "bot",
      "can_create_group",
      "color_scheme_id",
      "confirmed_at",
      "created_at",
      "current_sign_in_at",
      "email",
      "job_title",
      "last_activity_on",
      "last_sign_in_at",
      "location",
      "messenger",
      "microblog",
      "name",
      "note",
      "organization",
      "professional_network",
      "projects_limit",
      "pronouns",
      "public_email",
      "shared_runners_minutes_limit",
      "theme_id",
      "two_factor_enabled",
      "username",
      "website_url",
      "an identity",
      "another identity",
      "no identity",
      "external",
      "no avatar",
      "pictures from elsewhere",
    ]
  `)
}, 60_000)

test('the private token is shown to a whole account alone, and as it is now', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const input = { name: 'narrow', scopes: ['read_user'], expires_at: '2999-01-01' }
  const { token } = (await administrator.post('/user/personal_access_tokens', input)).body
  const narrow = forge.as({ 'PRIVATE-TOKEN': token })
  for (let i = 0; i < 2; i++) {
    expect((await administrator.get('/user')).body.private_token).toBe(administrator.token)
    expect((await narrow.get('/user')).body).not.toHaveProperty('private_token')
  }
  await forge.app.db
    .updateTable('access_tokens')
    .set({ sealed: forge.app.vault.seal('another') })
    .where('kind', '=', 'private')
    .execute()
  expect((await administrator.get('/user')).body.private_token).toBe('another')
})
