import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { PIXEL } from '../../../../test/samples.ts'
import { startForge } from '../../../forge.ts'

const gravatar = (email: string, size = 80) =>
  `https://secure.gravatar.com/avatar/${createHash('md5').update(email).digest('hex')}?s=${size}&d=identicon`

test('an address leads to its picture, and to whose it is only for administrators and themselves', async () => {
  await using forge = await startForge()
  await forge.administrator.put('/application/settings', { gravatar_enabled: true })
  const jane = await forge.user({ email: 'jane@example.com' })
  const form = new FormData()
  form.set('avatar', new File([PIXEL], 'face.png', { type: 'image/png' }))
  const { body: user } = await forge.administrator.put(`/users/${jane.id}`, form)
  const asked = { email: 'Jane@Example.com', size: 32 }
  const url = async (who: Pick<typeof jane, 'get'>, query: Record<string, unknown> = asked) =>
    (await who.get('/avatar', query)).body.avatar_url

  expect(user.avatar_url).toContain('/uploads/-/system/user/avatar/')
  expect(await url(forge.administrator)).toBe(user.avatar_url)
  expect(await url(jane)).toBe(user.avatar_url)
  expect(await url(await forge.user())).toBe(gravatar('jane@example.com', 32))
  expect(await url(forge.visitor)).toBe(gravatar('jane@example.com', 32))
  expect(await url(forge.visitor, { email: 'who@example.com' })).toBe(gravatar('who@example.com'))
})

test('without gravatar there is none, and visitors of a closed instance are not answered', async () => {
  await using forge = await startForge()
  const asked = { email: 'who@example.com' }
  for (const wrong of [{}, { email: ' ' }, { ...asked, size: 'big' }, { ...asked, size: 0 }]) {
    expect((await forge.visitor.get('/avatar', wrong)).status, JSON.stringify(wrong)).toBe(400)
  }
  const switchTo = (gravatar_enabled: boolean) => forge.administrator.put('/application/settings', { gravatar_enabled })
  await switchTo(true)
  expect((await forge.visitor.get('/avatar', asked)).body).toEqual({ avatar_url: gravatar(asked.email) })
  await switchTo(false)
  expect((await forge.visitor.get('/avatar', asked)).body).toEqual({ avatar_url: null })
  await forge.administrator.put('/application/settings', { restricted_visibility_levels: ['public'] })
  expect((await forge.visitor.get('/avatar', asked)).status).toBe(403)
  expect((await forge.administrator.get('/avatar', asked)).status).toBe(200)
})
