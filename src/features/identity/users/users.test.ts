import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'

test('an administrator creates a user, who then finds themselves', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const answer = await administrator.post('/users', {
    email: 'Jane@Example.com',
    username: 'jane',
    name: 'Jane Doe',
    password: 'correct horse',
  })
  expect(answer).toMatchObject({ status: 201, body: { username: 'jane', email: 'jane@example.com', is_admin: false } })
  expect(await administrator.get('/users', { search: 'jan' })).toMatchObject({
    status: 200,
    body: [{ username: 'jane' }],
  })
  expect(await forge.visitor.get('/user')).toMatchObject({ status: 401, body: { message: '401 Unauthorized' } })
  expect(await administrator.get('/user')).toMatchObject({ status: 200, body: { username: 'root', is_admin: true } })
  expect(await forge.events()).toEqual(['user.created'])
})
