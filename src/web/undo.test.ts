/** Undo on pages, in a browser without scripts. */
import { expect, test } from 'vitest'
import { Browser, hiddenFields, type Page } from '../../test/browser.ts'
import { DAY } from '../clock.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'

const PASSWORD = 'correct-horse-battery'
const HTML = { Accept: 'text/html' }

async function browserOf(forge: TestForge, { username }: Person) {
  const browser = new Browser(forge.url)
  await browser.signIn(username, PASSWORD)
  const get = (address: string) => browser.get(address, HTML)
  /** Submits a form of a page, and opens the page that follows. */
  async function send(address: string, fields: Record<string, string>): Promise<Page> {
    const { authenticity_token } = hiddenFields(await get(address)) as { authenticity_token: string }
    const answer = await browser.post(address, { ...fields, authenticity_token }, HTML)
    return answer.location === null ? answer : get(answer.location)
  }
  return { browser, get, send }
}

const flashOf = ({ body }: Page) => /<div class="undo-line"[^>]*>(.*?)<\/div>/s.exec(body)?.[1] ?? ''
const valueOf = (html: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]

async function stage(days = 7) {
  const forge = await startForge()
  await forge.administrator.put('/application/settings', { deletion_adjourned_period: days })
  const jane = await forge.user({ username: 'jane', password: PASSWORD })
  return { forge, jane, ...(await browserOf(forge, jane)) }
}

test('a deleted or edited wiki page comes back from the message and from the history', async () => {
  const { forge, jane, get, send } = await stage()
  await using _ = forge
  const { id } = await forge.project({ path: 'mill' }, jane)
  const wikis = `/projects/${id}/wikis`
  await jane.post(wikis, { title: 'home', content: 'Welcome' })
  await jane.post(wikis, { title: 'Saw guide', content: 'Sharp' })
  const home = '/jane/mill/-/wikis'
  const content = async () => (await jane.get(`${wikis}/Saw-guide`)).body.content

  const deleted = await send(`${home}/Saw-guide?view=edit`, { _action: 'destroy' })
  expect(flashOf(deleted)).toContain('Page Saw guide deleted')
  expect(await content()).toBeUndefined()
  // Shown once.
  expect(flashOf(await get(`${home}/home`))).toBe('')
  await send(`${home}/home`, { _action: 'undo', change: valueOf(flashOf(deleted), 'change')! })
  expect(await content()).toBe('Sharp')

  const edit = { _action: 'change', title: 'Saw guide', content: 'Blunt' }
  const edited = await send(`${home}/Saw-guide?view=edit`, edit)
  expect(flashOf(edited)).toContain('Page Saw guide saved')
  expect(await content()).toBe('Blunt')
  await send(`${home}/Saw-guide`, { _action: 'undo', change: valueOf(flashOf(edited), 'change')! })
  expect(await content()).toBe('Sharp')

  await send(`${home}/Saw-guide?view=edit`, { _action: 'destroy' })
  await jane.put(`${wikis}/home`, { content: 'Hello' })
  const history = await get(`${home}/pages?view=history`)
  const row = /<li class="item"(?:(?!<li).)*jane deleted page: Saw guide.*?<\/li>/s.exec(history.body)![0]
  await send(`${home}/pages?view=history`, { _action: 'undo', change: valueOf(row, 'change')! })
  expect(await content()).toBe('Sharp')
  expect((await jane.get(`${wikis}/home`)).body.content).toBe('Hello')
})

test('strangers read the history of a wiki, and undo nothing', async () => {
  const { forge, jane, get, send } = await stage()
  await using _ = forge
  const { id } = await forge.project({ path: 'mill', visibility: 'public' }, jane)
  await jane.post(`/projects/${id}/wikis`, { title: 'home', content: 'Welcome' })
  const stranger = await forge.user({ username: 'stranger', password: PASSWORD })
  const other = await browserOf(forge, stranger)
  const history = await other.get('/jane/mill/-/wikis/pages?view=history')
  expect(history.body).toContain('jane created page: home')
  expect(history.body).not.toContain('Undo')
  const change = valueOf((await get('/jane/mill/-/wikis/pages?view=history')).body, 'change')!
  expect((await other.send('/jane/mill/-/wikis/home', { _action: 'undo', change })).status).toBe(422)
  expect((await jane.get(`/projects/${id}/wikis/home`)).status).toBe(200)
  const edit = { _action: 'change', title: 'home', content: 'x' }
  expect((await other.send('/jane/mill/-/wikis/home', edit)).status).toBe(422)
  // The message is for one page and one session.
  await send('/jane/mill/-/wikis/home', edit)
  expect(flashOf(await other.get('/jane/mill/-/wikis/home'))).toBe('')
})

test('the deletion of a project or group names the last day, before and after', async () => {
  const { forge, jane, get, send } = await stage()
  await using _ = forge
  // Also at midnight.
  using _held = forge.clock.hold()
  await jane.post('/projects', { path: 'mill' })
  await jane.post('/groups', { name: 'tools', path: 'tools' })
  const day = new Date(forge.clock.now().getTime() + 7 * DAY).toISOString().slice(0, 10)
  expect((await get('/jane/mill/-/edit')).body).toContain(`Owners can restore the project until ${day}.`)
  const project = await send('/jane/mill/-/edit', { _action: 'remove', confirmation: 'jane/mill' })
  expect(flashOf(project)).toContain(`Project jane/mill deleted. Owners can restore the project until ${day}.`)
  expect(flashOf(project)).toContain('<a href="/dashboard/deleted">')
  expect((await get('/groups/tools/-/edit')).body).toContain(`Owners can restore the group until ${day}.`)
  const group = await send('/groups/tools/-/edit', { _action: 'remove', confirmation: 'tools' })
  expect(flashOf(group)).toContain(`Group tools deleted. Owners can restore the group until ${day}.`)

  const bin = await get('/dashboard/deleted')
  for (const text of ['jane/mill', 'tools', `Deleted on ${forge.clock.now().toISOString().slice(0, 10)} by`])
    expect(bin.body).toContain(text)
  const id = valueOf(/aria-label="Projects".*/s.exec(bin.body)![0], 'id')!
  const restored = await send('/dashboard/deleted', { _action: 'restore_project', id, name: 'mill', path: 'mill' })
  expect(restored.status).toBe(200)
  expect((await jane.get('/projects/jane%2Fmill')).status).toBe(200)
})

test('without a bin, the pages say that the deletion is permanent', async () => {
  const { forge, jane, get, send } = await stage(0)
  await using _ = forge
  await jane.post('/projects', { path: 'mill' })
  await jane.post('/groups', { name: 'tools', path: 'tools' })
  for (const [page, word, done] of [
    ['/jane/mill/-/edit', 'jane/mill', 'Project jane/mill deleted permanently'],
    ['/groups/tools/-/edit', 'tools', 'Group tools deleted permanently'],
  ] as const) {
    expect((await get(page)).body).toContain('The deletion is permanent.')
    const flash = flashOf(await send(page, { _action: 'remove', confirmation: word }))
    expect(flash).toContain(done)
    expect(flash).not.toContain('href')
  }
  expect((await get('/dashboard/deleted')).body).toContain('No deleted projects or groups')
})

test('the settings of a group list what was deleted below the group, for owners', async () => {
  const { forge, jane, get, send } = await stage()
  await using _ = forge
  const { id } = (await jane.post('/groups', { name: 'tools', path: 'tools' })).body
  const sub = (await jane.post('/groups', { name: 'saws', path: 'saws', parent_id: id })).body.id
  const project = (await jane.post('/projects', { path: 'mill', namespace_id: id })).body.id
  const elsewhere = (await jane.post('/projects', { path: 'elsewhere' })).body.id
  expect((await get('/groups/tools/-/edit')).body).not.toContain('Deleted projects and subgroups')
  for (const path of [`/groups/${sub}`, `/projects/${project}`, `/projects/${elsewhere}`]) await jane.delete(path)
  const { body } = await get('/groups/tools/-/edit')
  expect(body).toContain('Deleted projects and subgroups')
  expect(body).toContain('tools/saws')
  expect(body).toContain('tools/mill')
  expect(body).not.toContain('jane/elsewhere')

  const wrong = { _action: 'remove_project', id: String(project), full_path: 'tools/mill', confirmation: 'mill' }
  expect((await send('/groups/tools/-/edit', wrong)).status).toBe(422)
  const taken = await jane.post('/groups', { name: 'saws', path: 'saws', parent_id: id })
  expect(taken.status).toBe(201)
  const again = { _action: 'restore_group', id: String(sub), name: 'saws', path: 'saws' }
  expect((await send('/groups/tools/-/edit', again)).status).toBe(422)
  expect((await send('/groups/tools/-/edit', { ...again, name: 'old', path: 'old' })).status).toBe(200)
  expect((await jane.get('/groups/tools%2Fold')).body).toMatchObject({ id: sub })
  await send('/groups/tools/-/edit', { _action: 'restore_project', id: String(project), name: 'mill', path: 'mill' })
  expect((await jane.get(`/projects/${project}`)).status).toBe(200)
})

test('administrators see all deleted projects and groups with who and when', async () => {
  const { forge, jane, get } = await stage()
  await using _ = forge
  const root = await forge.user({ username: 'boss', password: PASSWORD, admin: true })
  const bob = await forge.user({ username: 'bob', name: 'Bob Burr' })
  const { id } = (await bob.post('/projects', { path: 'mill' })).body
  const group = (await bob.post('/groups', { name: 'tools', path: 'tools' })).body.id
  await bob.post('/projects', { path: 'living' })
  await bob.delete(`/projects/${id}`)
  await bob.delete(`/groups/${group}`)
  const admin = await browserOf(forge, root)
  const projects = await admin.get('/admin/projects?deleted=true')
  expect(projects.body).toContain('bob/mill')
  expect(projects.body).toContain('Bob Burr')
  expect(projects.body).not.toContain('bob/living')
  expect((await admin.get('/admin/projects')).body).not.toContain('bob/mill<')
  const groups = await admin.get('/admin/groups?deleted=true')
  expect(groups.body).toContain('Bob Burr')
  expect((await get('/admin/projects?deleted=true')).status).toBe(404)
  expect(await jane.get('/projects', { only_pending_delete: true })).toMatchObject({ body: [] })

  const purge = { _action: 'remove_group', id: String(group), full_path: 'tools' }
  expect((await admin.send('/admin/groups?deleted=true', { ...purge, confirmation: 'tool' })).status).toBe(422)
  await admin.send('/admin/groups?deleted=true', { ...purge, confirmation: 'tools' })
  expect((await bob.get(`/groups/${group}`, { include_pending_delete: true })).status).toBe(404)
  await admin.send('/admin/projects?deleted=true', { _action: 'restore_project', id, name: 'mill', path: 'mill' })
  expect((await bob.get(`/projects/${id}`)).status).toBe(200)
})

test('a removed member comes back from the message', async () => {
  const { forge, jane, send } = await stage()
  await using _ = forge
  const bob = await forge.user({ username: 'bob', name: 'Bob Burr' })
  const project = (await jane.post('/projects', { path: 'mill' })).body.id
  const group = (await jane.post('/groups', { name: 'tools', path: 'tools' })).body.id
  for (const [url, page] of [
    [`/projects/${project}`, '/jane/mill/-/project_members'],
    [`/groups/${group}`, '/groups/tools/-/group_members'],
  ] as const) {
    await jane.post(`${url}/members`, { user_id: bob.id, access_level: 20, expires_at: '2100-01-02' })
    const member = (await jane.get(`${url}/members/${bob.id}`)).body
    const removed = await send(page, { _action: 'remove', user: String(bob.id) })
    expect(flashOf(removed)).toContain('Bob Burr removed')
    expect((await jane.get(`${url}/members/${bob.id}`)).status).toBe(404)
    // A level in the form has no effect.
    await send(page, { _action: 'restore', user: valueOf(flashOf(removed), 'user')!, access_level: '40' })
    expect((await jane.get(`${url}/members/${bob.id}`)).body).toEqual(member)
    expect((await send(page, { _action: 'restore', user: String(bob.id) })).status).toBe(422)
  }
})

test('a deleted label or milestone comes back from the message', async () => {
  const { forge, jane, get, send } = await stage()
  await using _ = forge
  const group = (await jane.post('/groups', { name: 'tools', path: 'tools' })).body.id
  const project = (await jane.post('/projects', { path: 'mill', namespace_id: group })).body.id
  for (const [url, pages] of [
    [`/projects/${project}`, '/tools/mill/-'],
    [`/groups/${group}`, '/groups/tools/-'],
  ] as const) {
    const label = (await jane.post(`${url}/labels`, { name: `bug ${url}`, color: 'red' })).body
    const milestone = (await jane.post(`${url}/milestones`, { title: `v1 ${url}` })).body
    const issues = `/projects/${project}/issues`
    const input = { title: 'x', labels: label.name, milestone_id: milestone.id }
    const { iid } = (await jane.post(issues, input)).body
    const issue = async () => {
      const { labels, milestone: planned } = (await jane.get(`${issues}/${iid}`)).body
      return [labels, planned?.id]
    }
    const labels = await send(`${pages}/labels`, { _action: 'destroy', label_id: String(label.id) })
    expect(flashOf(labels)).toContain(`Label bug ${url} deleted`)
    const milestones = await send(`${pages}/milestones/${milestone.iid}`, { _action: 'destroy' })
    expect(flashOf(milestones)).toContain(`Milestone v1 ${url} deleted`)
    expect(await issue()).toEqual([[], undefined])
    await send(`${pages}/labels`, { _action: 'restore', item: valueOf(flashOf(labels), 'item')! })
    await send(`${pages}/milestones`, { _action: 'restore', item: valueOf(flashOf(milestones), 'item')! })
    expect(await issue()).toEqual([[label.name], milestone.id])
  }

  const taken = (await jane.post(`/projects/${project}/labels`, { name: 'taken', color: 'red' })).body
  const page = '/tools/mill/-/labels'
  const deleted = await send(page, { _action: 'destroy', label_id: String(taken.id) })
  await jane.post(`/projects/${project}/labels`, { name: 'taken', color: 'blue' })
  const refused = await send(page, { _action: 'restore', item: valueOf(flashOf(deleted), 'item')! })
  expect([refused.status, (await get(page)).status]).toEqual([422, 200])
  expect((await jane.get(`/projects/${project}/labels/taken`)).body.color).toBe('#0000FF')

  await forge.administrator.put('/application/settings', { deletion_adjourned_period: 0 })
  const last = (await jane.post(`/projects/${project}/labels`, { name: 'last', color: 'red' })).body
  const gone = await send(page, { _action: 'destroy', label_id: String(last.id) })
  expect(flashOf(gone)).toContain('Label last deleted')
  expect(flashOf(gone)).not.toContain('Undo')
})

test('a deleted issue or merge request comes back from the message', async () => {
  const { forge, jane, send } = await stage()
  await using _ = forge
  const project = await forge.project({ path: 'mill' }, jane)
  await forge.seed(project, { a: 'a' }, { as: jane })
  await forge.seed(project, { b: 'b' }, { branch: 'topic', as: jane })
  await forge.issue(project, { title: 'A wheel' }, jane)
  await forge.mergeRequest(project, { source_branch: 'topic', target_branch: 'master', title: 'A belt' }, jane)
  for (const [kind, page, action, done] of [
    ['issues', 'issues/1', 'destroy', 'Issue A wheel deleted'],
    ['merge_requests', 'merge_requests/1/edit', 'remove', 'Merge request A belt deleted'],
  ] as const) {
    const one = `/projects/${project.id}/${kind}/1`
    const list = await send(`/jane/mill/-/${page}`, { _action: action })
    expect(flashOf(list)).toContain(done)
    expect((await jane.get(one)).status).toBe(404)
    await send(`/jane/mill/-/${kind}`, { _action: 'restore', item: valueOf(flashOf(list), 'item')! })
    expect((await jane.get(one)).status).toBe(200)
  }
})
