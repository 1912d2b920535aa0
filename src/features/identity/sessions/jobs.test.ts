import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { purge } from './jobs.ts'

const DAY = 86_400_000

test('the purge removes what has run out and keeps what has not', async () => {
  await using forge = await startForge()
  const { app } = forge
  const jane = await forge.user()
  await forge.settle()
  const at = (days: number) => new Date(forge.clock.now().getTime() + days * DAY).toISOString()
  const { id: application_id } = (
    await forge.administrator.post('/applications', { name: 'a', redirect_uri: 'https://a.example', scopes: 'api' })
  ).body
  const common = { user_id: jane.id, created_at: at(-50) }
  for (const [name, days] of [
    ['past', -1],
    ['future', 1],
  ] as const) {
    const expiring = { ...common, digest: name, expires_at: at(days) }
    await app.db.insertInto('sessions').values(expiring).execute()
    await app.db
      .insertInto('mailed_links')
      .values({ ...expiring, purpose: 'confirm', email: jane.email })
      .execute()
    await app.db
      .insertInto('throttles')
      .values({ key: name, count: 1, until: at(days) })
      .execute()
    await app.db
      .insertInto('events')
      .values({ name, payload: '{}', created_at: at(-50), dispatched_at: at(days * 8) })
      .execute()
  }
  const grant = { ...common, application_id, redirect_uri: '', scopes: 'api' }
  const noChallenge = { code_challenge: null, code_challenge_method: null, nonce: null, used_at: null }
  for (const digest of ['unused', 'holding', 'open']) {
    await app.db
      .insertInto('oauth_grants')
      .values({ ...grant, ...noChallenge, digest, expires_at: at(digest === 'open' ? 1 : -1) })
      .execute()
  }
  const { id: grant_id } = await app.db
    .selectFrom('oauth_grants')
    .select('id')
    .where('digest', '=', 'holding')
    .executeTakeFirstOrThrow()
  for (const [digest, revoked_at, chained] of [
    ['active', null, true],
    ['revoked lately', at(-29), true],
    ['revoked long ago', at(-31), false],
  ] as const) {
    await app.db
      .insertInto('oauth_tokens')
      .values({
        ...common,
        application_id,
        digest,
        revoked_at,
        grant_id: chained ? grant_id : null,
        refresh_digest: null,
        scopes: 'api',
        expires_at: null,
      })
      .execute()
  }

  await purge.handle(app, {})
  await purge.handle(app, {})

  const digests = async (table: 'sessions' | 'mailed_links' | 'oauth_grants' | 'oauth_tokens') =>
    (await app.db.selectFrom(table).select('digest').orderBy('id').execute()).map((row) => row.digest)
  expect(await digests('sessions')).toEqual(['future'])
  expect(await digests('mailed_links')).toEqual(['future'])
  expect(await digests('oauth_grants')).toEqual(['holding', 'open'])
  expect(await digests('oauth_tokens')).toEqual(['active', 'revoked lately'])
  expect(await app.db.selectFrom('throttles').select('key').execute()).toEqual([{ key: 'future' }])
  expect(await forge.events()).toEqual(['user.created', 'future'])
})

test('the purge runs every day on its own', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  await forge.settle()
  const now = forge.clock.now().toISOString()
  await forge.app.db
    .insertInto('sessions')
    .values({ user_id: jane.id, digest: 'past', expires_at: now, created_at: now })
    .execute()
  forge.clock.advance(DAY + 60_000)
  await forge.settle()
  expect(await forge.app.db.selectFrom('sessions').select('id').execute()).toEqual([])
})
