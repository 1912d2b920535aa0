import { expect, test } from 'vitest'
import { LfsClient, authorizationOf, objectOf } from '../../../test/lfs.ts'
import { HOUR, timestamp } from '../../clock.ts'
import { findUser } from '../../features/identity/users/queries.ts'
import { startForge } from '../../forge.ts'
import { NOBODY, type Principal } from '../principal.ts'
import { findRepository } from '../locations.ts'
import { lfsTokenFor } from './batch.ts'

const OBJECT = objectOf('content')

test('what SSH hands over opens LFS for a person and for a deploy key', async () => {
  await using forge = await startForge()
  const { app } = forge
  const jane = await forge.user({ username: 'jane' })
  const { id: project_id, path_with_namespace: path } = await forge.project({ path: 'saw' }, jane)
  const location = (await findRepository(app, path))!
  const person: Principal = { user: await findUser(app.db, jane.id), mayFetch: true, mayPush: true, via: 'ssh_key' }
  const given = lfsTokenFor(app, person, location, 'upload')!
  expect(given).toEqual({
    header: { Authorization: expect.stringMatching(/^Basic /) },
    href: `${forge.url}/jane/saw.git/info/lfs/`,
    expires_in: 7200,
  })
  expect((await new LfsClient(forge, path, given.header.Authorization).put(OBJECT)).status).toBe(200)
  const other = await forge.project({ path: 'other' }, jane)
  const elsewhere = new LfsClient(forge, other.path_with_namespace, given.header.Authorization)
  const answers = [
    await elsewhere.batch('download', OBJECT),
    await elsewhere.put(OBJECT),
    await elsewhere.get('info/lfs/locks'),
  ]
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404])
  expect(lfsTokenFor(app, NOBODY, location, 'download')).toBeNull()
  // An LFS token does not outlive the token it was issued for.
  const passing = lfsTokenFor(app, person, location, 'download')!
  forge.clock.advance(HOUR)
  const { body } = await new LfsClient(forge, path, passing.header.Authorization).batch('download', OBJECT)
  const { header: exchanged, expires_in } = body.objects[0].actions.download
  expect(expires_in).toBe(3600)
  const later = new LfsClient(forge, path, exchanged.Authorization)
  expect((await later.content(OBJECT)).status).toBe(200)
  forge.clock.advance(HOUR)
  expect((await later.content(OBJECT)).status).toBe(401)

  const now = timestamp(forge.clock)
  const times = { created_at: now, updated_at: now }
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
      creator_id: jane.id,
      expires_at: null,
      last_used_at: null,
      ...times,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await app.db
    .insertInto('deploy_key_projects')
    .values({ key_id, project_id, can_push: false, ...times })
    .execute()
  const { header } = lfsTokenFor(app, { ...person, deployKeyId: key_id }, location, 'download')!
  expect(Buffer.from(header.Authorization.slice(6), 'base64').toString()).toMatch(`lfs+deploy-key-${key_id}:lfs.`)
  const client = new LfsClient(forge, path, header.Authorization)
  expect((await client.content(OBJECT)).status).toBe(200)
  expect((await client.put(OBJECT)).status).toBe(403)
  // A key with an upload token still may not upload if the project does not allow it.
  const pushing = lfsTokenFor(app, { ...person, deployKeyId: key_id }, location, 'upload')!
  expect((await new LfsClient(forge, path, pushing.header.Authorization).put(OBJECT)).status).toBe(403)
  await app.db.updateTable('deploy_key_projects').set({ can_push: true }).where('key_id', '=', key_id).execute()
  expect((await new LfsClient(forge, path, pushing.header.Authorization).put(OBJECT)).status).toBe(200)
  // Its creator cannot lock through the key either.
  const lock = await new LfsClient(forge, path, pushing.header.Authorization).post('info/lfs/locks', { path: 'a' })
  expect(lock.status).toBe(403)
  const expire = (expires_at: string | null) =>
    app.db.updateTable('keys').set({ expires_at }).where('id', '=', key_id).execute()
  await expire(now)
  expect((await client.content(OBJECT)).status).toBe(401)
  await expire(null)
  expect((await client.content(OBJECT)).status).toBe(200)
  await app.db.deleteFrom('keys').where('id', '=', key_id).execute()
  expect((await client.content(OBJECT)).status).toBe(401)
  expect((await new LfsClient(forge, path, authorizationOf(jane)).content(OBJECT)).status).toBe(200)
})
