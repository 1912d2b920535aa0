import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { processesOf } from '../../../../test/git-builder.ts'
import { PIXEL, pngOf } from '../../../../test/samples.ts'
import { CALLERS, KINDS, callersOf, openSource } from '../../../../test/sources.ts'
import { HOUR, MINUTE } from '../../../clock.ts'
import { startForge, type Person } from '../../../forge.ts'
import { Guest } from '../../../lib/levels.ts'

function formOf(bytes: Uint8Array): FormData {
  const form = new FormData()
  form.set('avatar', new Blob([Buffer.from(bytes)], { type: 'text/html' }), 'my face.html')
  return form
}

test('an avatar is visible like its owner, as an image and nothing else', async () => {
  await using forge = await startForge()
  // Anonymous, stranger, external, guest, reporter, guest, master, owner, administrator, blocked.
  const expected = {
    private: [404, 404, 404, 200, 200, 200, 200, 200, 200, 401],
    internal: [404, 200, 404, 200, 200, 200, 200, 200, 200, 401],
    public: [200, 200, 200, 200, 200, 200, 200, 200, 200, 401],
  }
  for (const kind of KINDS) {
    for (const visibility of ['private', 'internal', 'public'] as const) {
      const source = await openSource(forge, kind, { visibility })
      const callers = await callersOf(forge, source)
      const { body } = await source.owner.put(source.url, formOf(PIXEL))
      const place = `${forge.url}/uploads/-/system/${kind.slice(0, -1)}/avatar/${source.id}`
      expect(body.avatar_url).toBe(`${place}/my_face.png`)

      const statuses: number[] = []
      for (const name of CALLERS) {
        statuses.push((await fetch(body.avatar_url, { headers: callers[name].headers })).status)
      }
      expect([kind, visibility, statuses]).toEqual([kind, visibility, expected[visibility]])

      const { headers } = source.owner
      const image = await fetch(body.avatar_url, { headers })
      expect(Buffer.from(await image.arrayBuffer())).toEqual(PIXEL)
      expect(Object.fromEntries(image.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(PIXEL.length),
        'content-security-policy': "default-src 'none'; sandbox",
        'x-content-type-options': 'nosniff',
        'cache-control': 'max-age=300, private',
      })
      for (const other of [`${place}/other.png`, `${place}0/my_face.png`, `${place}/..%2fmy_face.png`, place]) {
        expect([other, (await fetch(other, { headers })).status]).toEqual([other, 404])
      }
    }
  }
})

test('one picture worn by a person, a group and a project goes when the last has left it', async () => {
  await using forge = await startForge()
  const group = await openSource(forge, 'groups')
  const project = await openSource(forge, 'projects')
  const wearers = [`/users/${project.owner.id}`, group.url, project.url]
  for (const url of wearers) {
    expect((await forge.administrator.put(url, formOf(PIXEL))).body.avatar_url).toMatch(/my_face\.png$/)
  }
  const form = new FormData()
  form.set('file', new Blob([Buffer.from(PIXEL)]), 'a.png')
  const { body: upload } = await project.owner.post(`${project.url}/uploads`, form)
  const { digest } = await forge.app.db.selectFrom('uploads').select('digest').executeTakeFirstOrThrow()
  const isKept = async () => {
    forge.clock.advance(2 * HOUR)
    await forge.settle()
    return forge.app.blobs.has(digest)
  }
  expect(await isKept()).toBe(true)
  for (const url of wearers) {
    expect((await forge.administrator.put(url, formOf(pngOf(2, 2)))).status).toBe(200)
    expect([url, await isKept()]).toEqual([url, true])
  }
  await project.owner.delete(`${project.url}/uploads/${upload.id}`)
  expect(await isKept()).toBe(false)
})

test('a project without an avatar shows the logo of its repository', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public' })
  const url = `/projects/${project.id}`
  const guest = await forge.user()
  await addMember(forge, { project_id: project.id }, guest.id, Guest)
  const stranger = await forge.user()
  const logo = Buffer.from(pngOf(3, 3)).toString('base64')
  const action = { action: 'create', file_path: 'logo.png', content: logo, encoding: 'base64' }
  const input = { branch: 'master', commit_message: 'x', actions: [action] }
  expect((await forge.administrator.post(`${url}/repository/commits`, input)).status).toBe(201)
  forge.clock.advance(MINUTE)
  await forge.settle()

  const place = `${forge.url}/uploads/-/system/project/avatar/${project.id}`
  const shownTo = async (person: Person) => (await person.get(url)).body.avatar_url
  expect(await shownTo(stranger)).toBe(`${place}/logo.png`)
  const listed: string[][] = []
  const started = await processesOf(async () => {
    const { body } = await stranger.get('/projects')
    listed.push(body.map(({ avatar_url }: { avatar_url: string }) => avatar_url))
  })
  expect([started, listed]).toEqual([[], [[`${place}/logo.png`]]])

  const image = await fetch(`${place}/logo.png`)
  expect(Buffer.from(await image.arrayBuffer()).toString('base64')).toBe(logo)
  expect(Object.fromEntries(image.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': String(pngOf(3, 3).length),
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'max-age=300, private',
  })
  const statusFor = async (headers: Record<string, string>, file = 'logo.png') =>
    (await fetch(`${place}/${file}`, { headers })).status
  for (const other of ['logo.jpg', 'README.md', '..%2flogo.png', 'LOGO.png']) {
    expect([other, await statusFor({}, other)]).toEqual([other, 404])
  }

  // A repository for members only shows its logo only to members. A private project is visible to nobody else.
  for (const change of [{ repository_access_level: 'private' }, { visibility: 'private' }]) {
    expect((await forge.administrator.put(url, change)).status).toBe(200)
    expect([change, await statusFor({}), await statusFor(stranger.headers)]).toEqual([change, 404, 404])
    expect([change, await statusFor(guest.headers)]).toEqual([change, 200])
    expect([change, await shownTo(guest)]).toEqual([change, `${place}/logo.png`])
    expect([change, (await shownTo(stranger)) ?? null]).toEqual([change, null])
  }

  await forge.administrator.put(url, formOf(PIXEL))
  expect(await shownTo(guest)).toBe(`${place}/my_face.png`)
  expect(await statusFor(guest.headers)).toBe(404)
})
