import { expect, test } from 'vitest'
import { addMember } from '../../../../test/cast.ts'
import { fillProject } from '../../../../test/contents.ts'
import { startForge, type Client, type TestForge } from '../../../forge.ts'
import { Guest } from '../../../lib/levels.ts'

const FILES = {
  '.gitlab/issue_templates/Bug.md': '## What happens\n',
  '.gitlab/issue_templates/A wish.md': '## What is missing\n',
  '.gitlab/issue_templates/notes.txt': 'no template\n',
  '.gitlab/issue_templates/Deep/er.md': 'too deep\n',
  '.gitlab/issue_templates/Link.md': { mode: '120000', content: '/etc/passwd' },
  '.gitlab/issue_templates/Huge.md': 'x'.repeat(2 ** 20 + 1),
  '.gitlab/merge_request_templates/Default.md': '',
  'secret.md': 'not to be read\n',
}

async function filled(forge: TestForge, request: Record<string, unknown> = { visibility: 'public' }) {
  const project = await forge.project(request)
  await fillProject(forge, project.id, { files: FILES })
  return { ...project, url: `/projects/${project.id}/templates` }
}

const namesOf = async (caller: Client, url: string) =>
  (await caller.get(url, { per_page: 100 })).body.map(({ key, name }: { key: string; name: string }) => {
    expect(typeof key).toBe('string')
    return name
  })

test('what the instance has is offered by every project', async () => {
  await using forge = await startForge()
  const { url } = await filled(forge)
  const empty = `/projects/${(await forge.project({ visibility: 'public' })).id}/templates`
  for (const kind of ['dockerfiles', 'gitignores', 'gitlab_ci_ymls']) {
    const shipped = await forge.visitor.get(`/templates/${kind}`, { per_page: 3, page: 2 })
    for (const at of [url, empty]) {
      const { body, headers } = await forge.visitor.get(`${at}/${kind}`, { per_page: 3, page: 2 })
      expect([kind, body, headers.get('x-total')]).toEqual([kind, shipped.body, shipped.headers.get('x-total')])
    }
    const name = encodeURIComponent(shipped.body[0].name)
    expect((await forge.visitor.get(`${url}/${kind}/${name}`)).body).toEqual(
      (await forge.visitor.get(`/templates/${kind}/${name}`)).body,
    )
  }
  expect((await forge.visitor.get(`${url}/gitlab_ci_ymls/Pages%2FHugo`)).body.name).toBe('Pages/Hugo')
})

test('licenses are filled in with what is known', async () => {
  await using forge = await startForge()
  const { url } = await filled(forge, { name: 'Sky', visibility: 'public' })
  const { body } = await forge.visitor.get(`${url}/licenses`)
  expect(body).toContainEqual({ key: 'mit', name: 'MIT License' })
  const jane = await forge.user({ name: 'Jane' })
  const year = forge.clock.now().getUTCFullYear()
  const textFor = async (caller: Client, key: string, input = {}) =>
    (await caller.get(`${url}/licenses/${key}`, input)).body.content
  expect(await textFor(jane, 'mit')).toContain(`Copyright (c) ${year} Jane\n`)
  expect(await textFor(jane, 'mit', { fullname: 'Ada' })).toContain(`Copyright (c) ${year} Ada\n`)
  expect(await textFor(forge.visitor, 'mit')).toContain(`Copyright (c) ${year} [fullname]\n`)
  expect(await textFor(jane, 'gpl-3.0')).toMatch(/^ *Sky\n/m)
  expect(await textFor(jane, 'gpl-3.0', { project: 'Sea' })).toMatch(/^ *Sea\n/m)
  expect((await jane.get(`${url}/licenses/mit`)).body).toEqual({
    ...(await jane.get('/templates/licenses/mit')).body,
  })
})

test('a project keeps its own for issues and merge requests', async () => {
  await using forge = await startForge()
  const { url } = await filled(forge)
  expect((await forge.visitor.get(`${url}/issues`)).body).toEqual([
    { key: 'A wish', name: 'A wish' },
    { key: 'Bug', name: 'Bug' },
  ])
  expect((await forge.visitor.get(`${url}/issues/A%20wish`)).body).toEqual({
    key: 'A wish',
    name: 'A wish',
    content: '## What is missing\n',
  })
  expect((await forge.visitor.get(`${url}/merge_requests/Default`)).body).toEqual({
    key: 'Default',
    name: 'Default',
    content: '',
  })
  const paged = await forge.visitor.get(`${url}/issues`, { per_page: 1, page: 2 })
  expect([paged.body, paged.headers.get('x-total')]).toEqual([[{ key: 'Bug', name: 'Bug' }], '2'])
  const empty = await forge.project({ visibility: 'public' })
  expect((await forge.visitor.get(`/projects/${empty.id}/templates/issues`)).body).toEqual([])
})

test('a template of another project is for who may read that project', async () => {
  await using forge = await startForge()
  const hidden = await filled(forge, { visibility: 'private' })
  const { id } = await forge.project({ visibility: 'public' })
  const ask = (caller: Client) =>
    caller.get(`/projects/${id}/templates/issues/Bug`, { source_template_project_id: hidden.id })
  expect((await ask(forge.administrator)).body.content).toBe('## What happens\n')
  const guest = await forge.user()
  expect(await ask(guest)).toMatchObject({ status: 404, body: { message: '404 Project Not Found' } })
  await addMember(forge, { project_id: hidden.id }, guest.id, Guest)
  expect((await ask(guest)).status).toBe(200)
  expect(await namesOf(guest, `${hidden.url}/issues`)).toContain('Bug')
})

test('a repository that is switched off offers nothing of its own', async () => {
  await using forge = await startForge()
  const { id, url } = await filled(forge)
  await forge.administrator.put(`/projects/${id}`, { repository_access_level: 'disabled' })
  for (const caller of [forge.visitor, forge.administrator]) {
    expect(await namesOf(caller, `${url}/issues`)).toEqual([])
    expect((await caller.get(`${url}/issues/Bug`)).status).toBe(404)
    expect((await caller.get(`${url}/licenses/mit`)).status).toBe(200)
  }
})

test('security 8: no name leads to what is no template', async () => {
  await using forge = await startForge()
  const { url } = await filled(forge)
  const names = ['Bug.md', 'bug', 'notes', 'Link', 'Huge', 'Deep/er', '../../secret', '../issue_templates/Bug', '-x']
  for (const type of ['issues', 'merge_requests', 'licenses', 'dockerfiles', 'gitignores', 'gitlab_ci_ymls']) {
    for (const name of names) {
      const { status, body } = await forge.visitor.get(`${url}/${type}/${encodeURIComponent(name)}`)
      expect([type, name, status, body]).toEqual([type, name, 404, { message: '404 Template Not Found' }])
    }
  }
  expect(await forge.visitor.get(`${url}/secrets`)).toMatchObject({
    status: 400,
    body: { error: 'type does not have a valid value' },
  })
  expect((await forge.visitor.get('/projects/0/templates/secrets')).status).toBe(404)
})
