import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

const INPUT = { name: 'App', redirect_uri: 'https://app.example/callback', scopes: 'api read_user' }

test('an administrator registers, lists, renews and deletes applications', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const created = await administrator.post('/applications', INPUT)
  const record = {
    id: 1,
    application_id: expect.stringMatching(/^[0-9a-f]{64}$/),
    application_name: 'App',
    callback_url: 'https://app.example/callback',
    confidential: true,
  }
  const secret = expect.stringMatching(/^[0-9a-f]{64}$/)
  expect([created.status, created.body]).toEqual([201, { ...record, secret }])

  const lines = ' https://a.example \r\n\r\nmyapp://callback\ncom.example.app:/back'
  const second = await administrator.post('/applications', { ...INPUT, redirect_uri: lines, confidential: false })
  expect(second.body).toMatchObject({
    confidential: false,
    callback_url: 'https://a.example\nmyapp://callback\ncom.example.app:/back',
  })
  const list = await administrator.get('/applications')
  expect([list.status, list.body]).toEqual([200, [record, expect.objectContaining({ id: 2 })]])
  expect(JSON.stringify(list.body)).not.toContain('secret')

  const renewed = await administrator.post('/applications/1/renew-secret')
  expect([renewed.status, renewed.body]).toEqual([201, { ...record, secret }])
  expect(renewed.body.secret).not.toBe(created.body.secret)
  expect(renewed.body.application_id).toBe(created.body.application_id)
  const stored = await forge.app.db.selectFrom('oauth_applications').selectAll().execute()
  for (const { body } of [created, second, renewed]) expect(JSON.stringify(stored)).not.toContain(body.secret)

  const since = (moment: string) => ({ 'If-Unmodified-Since': moment })
  const early = await administrator.delete('/applications/1', undefined, since('Thu, 01 Jan 2015 00:00:00 GMT'))
  expect(early).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  const gone = await administrator.delete('/applications/1', undefined, since('Thu, 01 Jan 2999 00:00:00 GMT'))
  expect([gone.status, gone.body]).toEqual([204, ''])
  expect((await administrator.get('/applications')).body).toMatchObject([{ id: 2 }])
  expect(await administrator.delete('/applications/1')).toMatchObject({
    status: 404,
    body: { message: '404 Not found' },
  })
})

test('refused applications leave nothing behind', async () => {
  await using forge = await startForge()
  const absolute = { redirect_uri: ['must be an absolute URI.'] }
  const banned = { redirect_uri: ['is forbidden by the server.'] }
  const both = (text: string) => ({ message: text, error: text })
  const table: [object, unknown][] = [
    [{ name: ' ' }, { message: { name: ["can't be blank"] } }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [{ redirect_uri: '' }, { message: { redirect_uri: ["can't be blank"] } }],
    [{ redirect_uri: '/callback' }, { message: absolute }],
    [{ redirect_uri: 'app.example/callback' }, { message: absolute }],
    [{ redirect_uri: 'https:app.example' }, { message: absolute }],
    [{ redirect_uri: 'https:///callback' }, { message: absolute }],
    [{ redirect_uri: 'https://a.example/ b' }, { message: absolute }],
    [{ redirect_uri: 'https://a.example/#x' }, { message: { redirect_uri: ['cannot contain a fragment.'] } }],
    [{ redirect_uri: 'javascript:alert(1)' }, { message: banned }],
    [{ redirect_uri: 'https://a.example\nJavaScript://a.example/%0aalert(1)' }, { message: banned }],
    [{ redirect_uri: 'data:text/html,x' }, { message: banned }],
    [{ scopes: '' }, { message: { scopes: ["can't be blank"] } }],
    [{ scopes: 'api everything' }, { message: { scopes: ["doesn't match configured on the server."] } }],
    [{ confidential: 'perhaps' }, both('confidential is invalid')],
    [{ name: undefined }, { message: '400 (Bad request) name not given', error: 'name is missing' }],
    [
      { redirect_uri: undefined, scopes: undefined },
      {
        message: '400 (Bad request) redirect_uri, scopes not given',
        error: 'redirect_uri is missing, scopes is missing',
      },
    ],
  ]
  for (const [change, body] of table) {
    const answer = await forge.administrator.post('/applications', { ...INPUT, ...change })
    expect([change, answer.status, answer.body]).toEqual([change, 400, body])
  }
  expect((await forge.administrator.get('/applications')).body).toEqual([])
})

test('only administrators reach them, whatever they ask for', async () => {
  await using forge = await startForge()
  const made = await forge.administrator.post('/applications', INPUT)
  const callers = [
    ['a visitor', forge.visitor, 401, '401 Unauthorized'],
    ['a user', await forge.user(), 403, '403 Forbidden'],
    ['an external user', await forge.user({ external: true }), 403, '403 Forbidden'],
    ['a blocked administrator', await forge.user({ admin: true, blocked: true }), 401, '401 Unauthorized'],
  ] as const
  const calls = [
    ['GET', '/applications'],
    ['POST', '/applications'],
    ['DELETE', `/applications/${made.body.id}`],
    ['POST', `/applications/${made.body.id}/renew-secret`],
    ['DELETE', '/applications/99'],
  ] as const
  for (const [who, caller, status, message] of callers) {
    for (const [method, path] of calls) {
      const answer = await caller.request(method, path)
      expect([who, method, path, answer.status, answer.body]).toEqual([who, method, path, status, { message }])
    }
  }
  expect((await forge.administrator.get('/applications')).body).toHaveLength(1)
})

test('the list costs the same for two applications and for twelve', async () => {
  await using forge = await startForge()
  const add = async (count: number) => {
    for (let n = 0; n < count; n++) await forge.administrator.post('/applications', INPUT)
  }
  const list = () => forge.administrator.get('/applications')
  await add(2)
  await list()
  const few = await forge.queries(list)
  await add(10)
  expect(await forge.queries(list)).toBe(few)
  expect((await list()).body).toHaveLength(12)
})
