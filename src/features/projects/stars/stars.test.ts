import { expect, test } from 'vitest'
import { callersOf, openSource, statusesOf } from '../../../../test/sources.ts'
import { startForge } from '../../../forge.ts'
import { forgetStarsOf } from './service.ts'

test('a star is given once and taken back once', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id, ...created } = (await jane.post('/projects', { name: 'Diaspora', visibility: 'public' })).body
  const john = await forge.user()
  const events = await forge.events()
  const { runners_token: _token, import_error: _error, ...shown } = created

  const starred = await john.post(`/projects/${id}/star`)
  expect(starred).toMatchObject({ status: 200, body: { ...shown, id, star_count: 1 } })
  expect(Object.keys(starred.body).toSorted()).toEqual(['id', ...Object.keys(shown)].toSorted())
  expect(await john.post(`/projects/${id}/star`)).toMatchObject({ status: 304, body: '' })
  expect((await jane.post(`/projects/${id}/star`)).body).toMatchObject({ star_count: 2 })
  expect((await jane.post(`/projects/${id}/star`)).body).not.toHaveProperty('runners_token')
  expect((await john.get('/projects', { starred: true })).body).toMatchObject([{ id, star_count: 2 }])

  expect(await john.post(`/projects/${id}/unstar`)).toMatchObject({ status: 200, body: { id, star_count: 1 } })
  expect(await john.post(`/projects/${id}/unstar`)).toMatchObject({ status: 304, body: '' })
  expect((await john.get('/projects', { starred: true })).body).toEqual([])
  expect(await forge.events()).toEqual(events)
})

test('the count is true however many press at once', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const { id } = (await jane.post('/projects', { name: 'Diaspora', visibility: 'public' })).body
  const people = await Promise.all(Array.from({ length: 4 }, () => forge.user()))
  const press = async (verb: string) => {
    const answers = await Promise.all(people.flatMap((one) => [1, 2, 3].map(() => one.post(`/projects/${id}/${verb}`))))
    return answers.map(({ status }) => status).toSorted((a, b) => a - b)
  }
  expect(await press('star')).toEqual([...Array(4).fill(200), ...Array(8).fill(304)])
  expect((await jane.get(`/projects/${id}`)).body.star_count).toBe(4)
  expect(await press('unstar')).toEqual([...Array(4).fill(200), ...Array(8).fill(304)])
  expect((await jane.get(`/projects/${id}`)).body.star_count).toBe(0)
})

test('readers of a project can star it', async () => {
  await using forge = await startForge()
  const secret = await openSource(forge, 'projects')
  const open = await openSource(forge, 'projects', { visibility: 'public' })
  const [ofSecret, ofOpen] = [await callersOf(forge, secret), await callersOf(forge, open)]
  // Anonymous, stranger, external, guest, reporter, developer, master, owner, administrator, blocked.
  const hidden = [401, 404, 404, 200, 200, 200, 200, 200, 200, 401]
  const shown = [401, 200, 200, 200, 200, 200, 200, 200, 200, 401]
  for (const verb of ['star', 'unstar']) {
    expect(await statusesOf(ofSecret, (caller) => caller.post(`${secret.url}/${verb}`))).toEqual(hidden)
    expect(await statusesOf(ofOpen, (caller) => caller.post(`${open.url}/${verb}`))).toEqual(shown)
  }
  expect(await statusesOf(ofSecret, (caller) => caller.get(`${secret.url}/starrers`))).toEqual(hidden)
  expect(await statusesOf(ofOpen, (caller) => caller.get(`${open.url}/starrers`))).toEqual(shown)
})

test('starrers are listed with their day, newest account first, and found by name', async () => {
  await using forge = await startForge()
  const jane = await forge.user({ name: 'Jane Doe' })
  const { id } = (await jane.post('/projects', { name: 'Diaspora', visibility: 'public' })).body
  await jane.post(`/projects/${id}/star`)
  const john = await forge.user({ name: 'John Ångström Smith' })
  await john.post(`/projects/${id}/star`)

  const all = await john.get(`/projects/${id}/starrers`)
  expect(all.body).toEqual([
    { starred_since: expect.stringMatching(/^\d{4}-.*Z$/), user: expect.objectContaining({ id: john.id }) },
    { starred_since: expect.any(String), user: expect.objectContaining({ id: jane.id, name: 'Jane Doe' }) },
  ])
  expect(all.headers.get('x-total')).toBe('2')
  expect(all.body[0].user).not.toHaveProperty('email')
  const found = async (search: string) => (await john.get(`/projects/${id}/starrers`, { search })).body.length
  expect([await found('SMITH'), await found('Ångstr')]).toEqual([1, 1])
  expect([await found(jane.username), await found('example.com'), await found('%')]).toEqual([1, 0, 0])
  const queriesAfter = async (newcomers: number) => {
    for (let n = 0; n < newcomers; n++) await (await forge.user()).post(`/projects/${id}/star`)
    return forge.queries(() => john.get(`/projects/${id}/starrers`))
  }
  expect(await queriesAfter(1)).toBe(await queriesAfter(9))
  const page = await john.get(`/projects/${id}/starrers`, { per_page: 5, page: 2 })
  expect([page.body.length, page.headers.get('x-total-pages'), page.headers.get('x-next-page')]).toEqual([5, '3', '3'])
})

test("a user's stars are listed as far as the viewer sees the projects", async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const john = await forge.user()
  const open = (await jane.post('/projects', { name: 'Open', visibility: 'public' })).body
  const secret = (await jane.post('/projects', { name: 'Secret' })).body
  for (const { id } of [open, secret]) await jane.post(`/projects/${id}/star`)
  const seen = async (caller: typeof forge.visitor, user: string | number) => {
    const { body } = await caller.get(`/users/${user}/starred_projects`)
    return body.map(({ id }: { id: number }) => id)
  }
  expect(await seen(jane, jane.id)).toEqual([secret.id, open.id])
  expect(await seen(john, jane.username)).toEqual([open.id])
  expect(await seen(forge.visitor, jane.id)).toEqual([open.id])
  expect(await seen(jane, john.id)).toEqual([])
  expect(await john.get('/users/nobody/starred_projects')).toMatchObject({
    status: 404,
    body: { message: '404 User Not Found' },
  })
})

test('the stars of a deleted user are deleted', async () => {
  await using forge = await startForge()
  const [jane, john] = [await forge.user(), await forge.user()]
  const one = (await jane.post('/projects', { name: 'One', visibility: 'public' })).body
  const two = (await jane.post('/projects', { name: 'Two', visibility: 'public' })).body
  for (const { id } of [one, two]) await john.post(`/projects/${id}/star`)
  await jane.post(`/projects/${one.id}/star`)

  await forgetStarsOf(forge.app, john.id)
  await forgetStarsOf(forge.app, john.id)
  const counts = await Promise.all(
    [one, two].map(async ({ id }) => (await jane.get(`/projects/${id}`)).body.star_count),
  )
  expect(counts).toEqual([1, 0])
  expect((await jane.get(`/projects/${one.id}/starrers`)).body).toHaveLength(1)
})
