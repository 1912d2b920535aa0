import { expect, test } from 'vitest'
import { mailsOf, type SentMail } from '../../../../test/mailbox.ts'
import { openSource } from '../../../../test/sources.ts'
import { startForge, type Person } from '../../../forge.ts'

const addressIn = ({ headers }: SentMail) => /^<(.*)>$/.exec(headers['list-unsubscribe']!)![1]!
const lastOf = async (forge: Parameters<typeof mailsOf>[0], { username }: Person, subject: string) =>
  (await mailsOf(forge)).find((mail) => mail.to === `${username}@example.com` && mail.subject.includes(subject))!

test('a link ends mail about an issue without signing in: opening it asks, posting to it does it', async () => {
  await using forge = await startForge()
  const { url, owner } = await openSource(forge, 'projects')
  const jane = await forge.user()
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
  await jane.put(`${url}/notification_settings`, { level: 'watch' })
  await owner.post(`${url}/issues`, { title: 'First', assignee_ids: [jane.id] })
  const address = addressIn(await lastOf(forge, jane, 'First'))
  const rows = () => forge.app.db.selectFrom('subscriptions').select(['user_id', 'subscribed']).execute()

  const page = await fetch(address)
  expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(await page.text()).toContain(`${jane.username} about this issue?`)
  expect(await rows()).toEqual([])
  for (const wrong of [
    address.slice(0, -1),
    `${address}.x`,
    address.replace(/(unsubscribe\/.)./, '$1X'),
    `${address}x`,
    `${forge.url}/-/unsubscribe/x`,
  ]) {
    for (const method of ['GET', 'POST']) expect([wrong, (await fetch(wrong, { method })).status]).toEqual([wrong, 404])
  }
  expect(await rows()).toEqual([])

  // As mail programs do, with either kind of body, and repeatedly.
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://mail.example' }
  const form = new FormData()
  form.set('List-Unsubscribe', 'One-Click')
  for (const [body, more] of [
    ['List-Unsubscribe=One-Click', { headers }],
    [form, {}],
    [undefined, {}],
  ] as const)
    expect((await fetch(address, { method: 'POST', ...(body && { body }), ...more })).status).toBe(200)
  expect(await rows()).toEqual([{ user_id: jane.id, subscribed: false }])
  const before = (await mailsOf(forge)).length
  await owner.post(`${url}/issues/1/notes`, { body: `hello @${jane.username}` })
  expect(await mailsOf(forge)).toHaveLength(before)
  await owner.post(`${url}/issues`, { title: 'Second' })
  expect(await lastOf(forge, jane, 'Second')).toBeDefined()
  await owner.delete(`${url}/issues/1`)
  expect((await fetch(address, { method: 'POST' })).status).toBe(404)
})

test('where there is nothing to subscribe to a link turns down the level of the project, and never up', async () => {
  await using forge = await startForge()
  const { url, owner, id } = await openSource(forge, 'projects')
  const jane = await forge.user()
  await owner.post(`${url}/members`, { user_id: jane.id, access_level: 30 })
  const settings = `${url}/notification_settings`
  const level = async () => (await jane.get(settings)).body.level
  await jane.put(settings, { level: 'watch' })
  const { id: sha } = await forge.seed({ id }, { 'a.txt': 'a' }, { as: owner })
  await owner.post(`${url}/releases`, { tag_name: 'v1', ref: 'master' })
  const watching = addressIn(await lastOf(forge, jane, 'New release'))
  await owner.post(`${url}/repository/commits/${sha}/comments`, { note: `see @${jane.username}` })
  const named = addressIn(await lastOf(forge, jane, sha.slice(0, 8)))
  const steps = [
    [watching, 'participating'],
    [watching, 'participating'],
    [named, 'disabled'],
    [watching, 'disabled'],
  ] as const
  for (const [address, after] of steps) {
    expect((await fetch(address, { method: 'POST' })).status).toBe(200)
    expect(await level()).toBe(after)
  }
  await forge.administrator.delete(`/users/${jane.id}`)
  await forge.settle()
  expect((await fetch(watching)).status).toBe(404)
})
