import { expect, test } from 'vitest'
import { openSource } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'
import { findUser } from '../../identity/users/queries.ts'
import { subscribersOf, subscriptionOf } from './queries.ts'
import { setSubscription } from './service.ts'

test('what a user said of an issue stands beside what is usual for them', async () => {
  await using forge = await startForge()
  const { id, owner } = await openSource(forge, 'projects')
  const { app } = forge
  const { id: issue_id } = await forge.issue({ id })
  const user = (await findUser(app.db, owner.id))!
  const unchanged = { kind: 'not_modified' }
  expect(await subscriptionOf(app.db, owner.id, { issue_id })).toBeNull()
  await expect(setSubscription(app, user, { issue_id }, false)).rejects.toMatchObject(unchanged)
  await expect(setSubscription(app, user, { issue_id }, true, { usual: true })).rejects.toMatchObject(unchanged)
  await setSubscription(app, user, { issue_id }, false, { usual: true })
  expect(await subscriptionOf(app.db, owner.id, { issue_id })).toBe(false)
  await setSubscription(app, user, { issue_id }, true, { usual: true })
  await expect(setSubscription(app, user, { issue_id }, true)).rejects.toMatchObject(unchanged)
  expect(await subscribersOf(app.db, 'issue_id', [issue_id, issue_id + 1])).toEqual(
    new Map([[issue_id, [{ target: issue_id, user_id: owner.id, project_id: null, subscribed: true }]]]),
  )
  await expect(setSubscription(app, user, { issue_id: 4_000_000 }, true)).rejects.toMatchObject({ kind: 'not_found' })
})

test('a former member of a private project loses the subscriptions there, and only there', async () => {
  await using forge = await startForge()
  const [left, kept, open] = [
    await openSource(forge, 'projects'),
    await openSource(forge, 'projects'),
    await openSource(forge, 'projects', { visibility: 'public' }),
  ]
  const jane = await forge.user()
  const user = (await findUser(forge.app.db, jane.id))!
  for (const { id, url, owner, group } of [left, kept, open]) {
    await owner.post(`${url}/members`, { user_id: jane.id, access_level: 20 })
    await owner.post(`${group.url}/labels`, { name: 'bug', color: 'red' })
    await jane.post(`${url}/labels/bug/subscribe`)
    await setSubscription(forge.app, user, { issue_id: (await forge.issue({ id })).id }, true)
  }
  for (const { url } of [left, open]) expect((await jane.delete(`${url}/members/${jane.id}`)).status).toBe(204)
  await forge.settle()
  const rows = await forge.app.db
    .selectFrom('subscriptions as s')
    .leftJoin('issues as i', 'i.id', 's.issue_id')
    .select(['s.project_id', 'i.project_id as of_issue'])
    .orderBy('s.id')
    .execute()
  expect(rows.map(({ project_id, of_issue }) => project_id ?? of_issue)).toEqual([kept.id, kept.id, open.id, open.id])

  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.settle()
  expect(await forge.app.db.selectFrom('subscriptions').select('id').execute()).toEqual([])
})
