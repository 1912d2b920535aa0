import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import { findLicense } from '../../instance/templates/queries.ts'

const textOf = async (key: string) => (await findLicense(key))!.content

async function filled(forge: TestForge, files: Record<string, string | { mode: string; content: string }>) {
  const project = await forge.project({ visibility: 'public' })
  await fillProject(forge, project.id, { files })
  return project
}

async function licenseFor(caller: Client, { id }: { id: number }) {
  const { status, body } = await caller.get(`/projects/${id}`, { license: true })
  expect(status).toBe(200)
  return [body.license, body.license_url]
}

const MIT = {
  key: 'mit',
  name: 'MIT License',
  nickname: null,
  html_url: 'https://choosealicense.com/licenses/mit/',
  source_url: 'https://opensource.org/licenses/MIT',
}
const OTHER = { key: 'other', name: 'Other', nickname: 'LICENSE', html_url: null, source_url: null }

test('the license of a repository is told to who asks for it', async () => {
  await using forge = await startForge()
  const project = await filled(forge, { 'LICENSE.md': await textOf('mit'), COPYING: await textOf('gpl-3.0') })
  for (const caller of [forge.visitor, await forge.user(), forge.administrator]) {
    expect(await licenseFor(caller, project)).toEqual([MIT, `${project.web_url}/-/blob/master/LICENSE.md`])
    for (const input of [{}, { license: false }]) {
      const { body } = await caller.get(`/projects/${project.id}`, input)
      expect([Object.hasOwn(body, 'license'), Object.hasOwn(body, 'license_url')]).toEqual([false, false])
    }
  }
  const { administrator } = forge
  const change = { branch: 'master', content: 'Ask Ada.\n', commit_message: 'x' }
  await administrator.put(`/projects/${project.id}/repository/files/LICENSE.md`, change)
  expect(await licenseFor(administrator, project)).toEqual([OTHER, `${project.web_url}/-/blob/master/LICENSE.md`])
})

test('addresses of files are whole, whatever the branch is called', async () => {
  await using forge = await startForge()
  const project = await forge.project({ visibility: 'public', default_branch: 'fix/#1&50%' })
  const url = `/projects/${project.id}/repository/files`
  for (const name of ['LICENSE', 'README.md']) {
    const request = { branch: 'fix/#1&50%', content: 'x', commit_message: 'x' }
    expect((await forge.administrator.post(`${url}/${name}`, request)).status).toBe(201)
  }
  forge.clock.advance(10_000)
  await forge.settle()
  const at = `${project.web_url}/-/blob/fix/%231%2650%25`
  expect(await licenseFor(forge.visitor, project)).toEqual([OTHER, `${at}/LICENSE`])
  expect((await forge.visitor.get(`/projects/${project.id}`)).body.readme_url).toBe(`${at}/README.md`)
})

test.each([
  [{ COPYING: 'x' }, 'COPYING'],
  [{ 'Unlicense.txt': 'x', copying: 'x' }, 'Unlicense.txt'],
  [{ LICENCE: 'x', 'copying.txt': 'x' }, 'LICENCE'],
  [{ 'license.rst': '' }, 'license.rst'],
  [{ LICENSE: 'x'.repeat(300 * 1024) }, 'LICENSE'],
])('the file of %# is %s', async (files, name) => {
  await using forge = await startForge()
  const project = await filled(forge, files as Record<string, string>)
  expect(await licenseFor(forge.visitor, project)).toEqual([OTHER, `${project.web_url}/-/blob/master/${name}`])
})

test('nothing is told where there is nothing, or nothing to be read', async () => {
  await using forge = await startForge()
  const none = await filled(forge, { 'LICENSE/mit': 'x', 'doc/LICENSE': 'x', LICENSES: 'x', 'LICENSE.c': 'x' })
  const linked = await filled(forge, { LICENSE: { mode: '120000', content: '/etc/passwd' } })
  const empty = await forge.project({ visibility: 'public' })
  for (const project of [none, linked, empty]) expect(await licenseFor(forge.visitor, project)).toEqual([null, null])

  const project = await filled(forge, { LICENSE: await textOf('mit') })
  const [guest, reporter, stranger] = [await forge.user(), await forge.user(), await forge.user()]
  await addMember(forge, { project_id: project.id }, guest.id, Guest)
  await addMember(forge, { project_id: project.id }, reporter.id, Reporter)
  await forge.administrator.put(`/projects/${project.id}`, { repository_access_level: 'private' })
  for (const caller of [forge.visitor, stranger]) expect(await licenseFor(caller, project)).toEqual([null, null])
  expect(await licenseFor(guest, project)).toEqual([MIT, expect.any(String)])
  await forge.administrator.put(`/projects/${project.id}`, { visibility: 'private' })
  expect(await licenseFor(guest, project)).toEqual([null, null])
  expect(await licenseFor(reporter, project)).toEqual([MIT, expect.any(String)])
  expect((await stranger.get(`/projects/${project.id}`, { license: true })).status).toBe(404)
})
