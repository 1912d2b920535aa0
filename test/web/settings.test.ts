import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { PASSWORD, openTab } from './browser.ts'

const run = promisify(execFile)

let forge: TestForge
let jane: Person
let boss: Person
beforeAll(async () => {
  forge = await startForge()
  boss = await forge.user({ username: 'boss', name: 'Boss', password: PASSWORD, admin: true })
  jane = await forge.user({ username: 'jane', name: 'Jane', password: PASSWORD })
  await forge.administrator.put('/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
})

afterAll(() => forge[Symbol.asyncDispose]())

test('an empty server leads to the first push', async () => {
  await using tab = await openTab(forge, boss)
  const page = await tab.go('/')
  expect(await page.textContent('h1')).toBe('Welcome, Boss')
  await page.fill('[name=name]', 'Mill')
  await page.click('text=Create project')
  await page.waitForURL('**/-/welcome?project=boss%2Fmill')
  await page.waitForSelector('html[data-ready]')
  await page.click('text=Create token')
  const token = await page.inputValue('.fresh input')
  const folder = mkdtempSync(join(tmpdir(), 'first-push-'))
  const git = (...args: string[]) =>
    run('git', ['-C', folder, '-c', 'user.name=B', '-c', 'user.email=b@example.com', ...args])
  await git('init', '-q', '-b', 'main')
  writeFileSync(join(folder, 'README.md'), '# The mill\n')
  await git('add', '.')
  await git('commit', '-qm', 'First commit')
  await git('push', '-q', `${forge.url.replace('://', `://boss:${token}@`)}/boss/mill.git`, 'main')
  await page.waitForSelector('text=Your first push has arrived.')
  await page.click('text=Go to project')
  await page.waitForSelector('text=The mill')
  expect(tab.complaints()).toEqual([])
})

test('a token is made, shown once and revoked, with and without scripts', async () => {
  for (const javaScriptEnabled of [true, false]) {
    await using tab = await openTab(forge, jane, { javaScriptEnabled })
    const page = await tab.go('/-/profile/personal_access_tokens')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.click('summary:has-text("Create token")')
    await page.fill('[name=name]', 'backup')
    await page.check('[value=read_api]')
    await page.click('button:has-text("Create token")')
    await page.waitForSelector('.item-title:has-text("backup")')
    const secret = await page.inputValue('.fresh input')
    const ask = async () => (await fetch(`${forge.url}/api/v4/user`, { headers: { 'PRIVATE-TOKEN': secret } })).status
    expect([await ask(), page.url().includes(secret)]).toEqual([200, false])
    await tab.go('/-/profile/personal_access_tokens')
    expect(await page.content()).not.toContain(secret)
    await page.click('button:has-text("Revoke")')
    await page.waitForSelector('text=No active tokens')
    expect(await ask()).toBe(401)
  }
})

test('an application of one’s own is registered, edited and removed, with and without scripts', async () => {
  for (const javaScriptEnabled of [true, false]) {
    await using tab = await openTab(forge, jane, { javaScriptEnabled })
    const page = await tab.go('/-/profile/applications')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.click('summary:has-text("New application")')
    await page.fill('[name=name]', 'Tool')
    await page.fill('[name=redirect_uri]', 'https://app.example/back')
    await page.check('[value=openid]')
    await page.click('button:has-text("Create application")')
    await page.waitForSelector('.item-title:has-text("Tool")')
    const secret = await page.inputValue('.fresh input')
    expect(secret).toMatch(/^[0-9a-f]{64}$/)

    const row = page.locator('.item', { hasText: 'Tool' })
    await row.locator('summary:has-text("Edit")').click()
    expect(await row.locator('[value=openid]').isChecked()).toBe(true)
    await row.locator('[name=name]').fill('Better tool')
    await row.locator('[value=read_user]').check()
    await row.locator('button:has-text("Save")').click()
    await page.waitForSelector('.item-title:has-text("Better tool")')
    expect((await jane.get('/user/applications')).body).toMatchObject([{ scopes: ['read_user', 'openid'] }])

    await page.click('button:has-text("Renew secret")')
    await expect.poll(() => page.locator('.fresh input').inputValue()).toMatch(/^[0-9a-f]{64}$/)
    await page.click('button:has-text("Delete")')
    await page.waitForSelector('text=No applications')
    expect(tab.complaints()).toEqual([])
  }
})

test('help is found, with what the instance says', async () => {
  await forge.administrator.put('/application/settings', { help_page_text: 'Ask **Joe**.' })
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/')
  await page.keyboard.press('?')
  await page.waitForURL('**/help#keys')
  expect(await page.textContent('.prose strong')).toBe('Joe')
  expect(await page.textContent('main')).toContain('Mortise mortise-')
  await using visitor = await openTab(forge, null, { javaScriptEnabled: false })
  await visitor.go('/users/sign_in')
  await visitor.page.click('text=Help')
  expect(await visitor.page.textContent('.prose strong')).toBe('Joe')
  expect(await visitor.page.textContent('main')).not.toContain('mortise-')
  expect([...tab.complaints(), ...visitor.complaints()]).toEqual([])
})

test('a hook is looked at and sent again', async () => {
  const receiver = await forge.receiver()
  const project = await forge.project({ path: 'gears' }, jane)
  await forge.seed(project, { 'a.txt': 'a' }, { as: jane })
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/jane/gears/-/hooks')
  await page.click('summary:has-text("Add hook")')
  await page.fill('[name=url]', `${receiver.url}?who={who}`)
  await page.click('summary:has-text("Custom headers")')
  await page.fill('[name=header_key_0]', 'X-Gear')
  await page.fill('[name=header_secret_0]', 'brass')
  await page.click('summary:has-text("URL variables")')
  await page.fill('[name=variable_key_0]', 'who')
  await page.fill('[name=variable_secret_0]', 'me')
  await page.click('button:has-text("Add hook")')
  await page.waitForURL('**/-/hooks/*')
  await page.waitForSelector('html[data-ready]')
  await page.click('text=Send test event')
  await page.waitForSelector('text=Test event sent')
  const first = await receiver.next('push')
  await page.click('.items a')
  await page.waitForSelector('#delivery >> text=Redeliver')
  expect(await page.textContent('[aria-label="Request body"]')).toContain('"object_kind": "push"')
  await page.click('#delivery >> text=Redeliver')
  await page.waitForSelector('text=Redelivered. Response status: 200.')
  expect((await receiver.next('push')).body).toEqual(first.body)
  expect(first.headers['x-gear']).toBe('brass')

  // Removes a header, adds another, and sets a custom body.
  await page.click('summary:has-text("Edit hook")')
  await page.check('[name="header_gone[]"]')
  await page.fill('[name=header_key_0]', 'X-Wheel')
  await page.fill('[name=header_secret_0]', 'iron')
  await page.fill('[name=custom_webhook_template]', '{"kind": "{{object_kind}}"}')
  await page.click('text=Save hook')
  await page.waitForSelector('text=Hook saved.')
  const [hook] = (await jane.get(`/projects/${project.id}/hooks`)).body
  expect(hook).toMatchObject({ custom_headers: [{ key: 'X-Wheel' }], url_variables: [{ key: 'who' }] })
  expect(hook.custom_webhook_template).toBe('{"kind": "{{object_kind}}"}')
  expect(tab.complaints()).toEqual([])
})

test('an administrator blocks a user, who is out then', async () => {
  const tom = await forge.user({ username: 'tom', name: 'Tom', password: PASSWORD })
  await using tab = await openTab(forge, boss)
  await using other = await openTab(forge, tom)
  const page = await tab.go('/admin/users?search=tom')
  page.on('dialog', (dialog) => void dialog.accept())
  await page.click('button:has-text("Block")')
  await page.waitForSelector('button:has-text("Unblock")')
  await other.go('/-/profile')
  expect(other.page.url()).toContain('/users/sign_in')
  expect((await tom.get('/user')).status).toBe(401)
  await page.click('button:has-text("Unblock")')
  await page.waitForSelector('button:has-text("Block"):not(:has-text("Unblock"))')
  expect((await tom.get('/user')).status).toBe(200)
})

test('an administrator sets a password, and revokes the tokens with it', async () => {
  const una = await forge.user({ username: 'una', name: 'Una', password: PASSWORD })
  await using tab = await openTab(forge, boss)
  const page = await tab.go('/admin/users/una')
  const save = async (password: string) => {
    await page.fill('input[name=password]', password)
    await page.click('button:has-text("Save account")')
    await page.waitForSelector('text=Saved.')
  }
  await save('battery staple')
  expect((await una.get('/user')).status).toBe(200)
  await tab.go('/admin/users/una')
  await page.check('[type=checkbox][name=revoke_tokens]')
  await save('battery horse')
  expect((await una.get('/user')).status).toBe(401)
  expect(tab.complaints()).toEqual([])
})

test('somebody registers and is let in or not, with and without scripts', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const names = [`kim${javaScriptEnabled ? 1 : 2}`, `lou${javaScriptEnabled ? 1 : 2}`] as const
    await using visitor = await openTab(forge, null, { javaScriptEnabled })
    for (const name of names) {
      const form = await visitor.go('/')
      await form.click('text=Create an account')
      await form.waitForURL('**/users/sign_up')
      await form.getByLabel('Name', { exact: true }).fill(name)
      await form.getByLabel('Username').fill(name)
      await form.getByLabel('Email').fill(`${name}@example.com`)
      await form.getByLabel('Password').fill(PASSWORD)
      await form.click('button:has-text("Create account")')
      await form.waitForSelector('text=Your account is pending approval')
    }

    await using tab = await openTab(forge, boss, { javaScriptEnabled })
    const page = await tab.go('/admin/users')
    page.on('dialog', (dialog) => void dialog.accept())
    await page.click('a:has-text("Pending approval")')
    await page.waitForURL('**/admin/users?show=waiting')
    const row = (name: string) => page.locator('.item, li', { hasText: `@${name}` }).first()
    await row(names[0]).locator('button:has-text("Approve")').click()
    await page.waitForSelector(`text=@${names[0]}`, { state: 'detached' })
    await row(names[1]).locator('a').first().click()
    await page.waitForURL(`**/admin/users/${names[1]}`)
    if (javaScriptEnabled) await page.waitForSelector('html[data-ready]')
    await page.click('button:has-text("Reject")')
    await page.waitForURL('**/admin/users?show=waiting')
    await page.waitForSelector('text=No users')

    const enter = (login: string) => forge.visitor.post('/session', { login, password: PASSWORD })
    expect([(await enter(names[0])).status, (await enter(names[1])).status]).toEqual([201, 401])
    expect([...visitor.complaints(), ...tab.complaints()]).toEqual([])
  }
})

test('a switch that needs another setting is turned on alone', async () => {
  await forge.administrator.put('/application/settings', { terms: 'Be **kind**.' })
  await using tab = await openTab(forge, boss, { javaScriptEnabled: false })
  const page = await tab.go('/admin/application_settings?chapter=texts')
  await page.check('[type=checkbox][name=enforce_terms]')
  await page.click('text=Save settings')
  await page.waitForURL('**/-/users/terms?*')
  expect(await page.textContent('main strong')).toBe('kind')
  await page.click('button:has-text("Accept")')
  await page.waitForURL('**/admin/application_settings?chapter=texts')
  await forge.administrator.put('/application/settings', { enforce_terms: false })
  expect(tab.complaints()).toEqual([])
})

test('a member is found, added and removed; a project is renamed and deleted', async () => {
  await forge.project({ name: 'Old', path: 'old' }, jane)
  await forge.user({ username: 'ann', name: 'Ann', password: PASSWORD })
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/jane/old/-/project_members?find=ann')
  page.on('dialog', (dialog) => void dialog.accept())
  await page.click('button:has-text("Add")')
  await page.waitForSelector('[aria-label="Members"] >> text=@ann')
  await page.click('[aria-label="Members"] li:has-text("@ann") button:has-text("Remove")')
  await page.waitForSelector('[aria-label="Members"] >> text=@ann', { state: 'detached' })
  await tab.go('/jane/old/-/edit')
  await page.fill('[name=name]', 'New')
  await page.click('main button:has-text("Save")')
  await page.waitForSelector('text=Saved.')
  await page.fill('[name=confirmation]', 'jane/older')
  await page.click('text=Delete project')
  await page.waitForSelector('text=Enter jane/old to confirm.')
  await page.fill('[name=confirmation]', 'jane/old')
  await page.click('button:has-text("Delete project")')
  await page.waitForURL(`${forge.url}/`)
  expect((await jane.get('/projects/jane%2Fold')).status).toBe(404)
})

test('pages ask how far an import is as often as administrators let them', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const { body } = await jane.post('/projects', { name: 'Slow', import_url: `http://127.0.0.1:${port}/slow.git` })
  expect(body.import_status).toBe('scheduled')
  await using tab = await openTab(forge, jane)
  const { page } = tab
  let questions = 0
  page.on('request', (request) => {
    if (/\/api\/v4\/projects\/[^/]+\/import$/.test(request.url())) questions++
  })
  await forge.administrator.put('/application/settings', { polling_interval_multiplier: 0 })
  await tab.go('/jane/slow/-/import')
  await page.waitForTimeout(2500)
  expect(questions).toBe(0)

  await forge.administrator.put('/application/settings', { polling_interval_multiplier: 0.1 })
  await tab.go('/jane/slow/-/import')
  await expect.poll(() => questions).toBeGreaterThan(2)
  expect(tab.complaints()).toEqual([])
  await jane.delete(`/projects/${body.id}/import`)
  silent.closeAllConnections()
  silent.close()
})

test('variables, runners and deploy tokens of a group and of the instance, with and without scripts', async () => {
  const group = await forge.group({ name: 'Works', path: 'works' }, jane)
  for (const javaScriptEnabled of [true, false]) {
    const own = `KEY_${javaScriptEnabled}`
    for (const [who, at] of [
      [jane, '/groups/works/-/settings/ci_cd'],
      [boss, '/admin/variables'],
    ] as const) {
      await using tab = await openTab(forge, who, { javaScriptEnabled })
      const page = await tab.go(at)
      page.on('dialog', (dialog) => void dialog.accept())
      const names = () => page.locator('#variables td:first-child code').allTextContents()
      await page.click('summary:has-text("Add variable")')
      await page.fill('#variables [name=key]', own)
      await page.fill('#variables [name=value]', 'before')
      await page.click('button:has-text("Add variable")')
      await expect.poll(names).toContain(own)
      await page.click(`tr:has-text("${own}") >> text=Edit`)
      await page.waitForURL(`**${at}?variable=${own}*`)
      if (javaScriptEnabled) await page.waitForSelector('html[data-ready]')
      await page.fill('#variables [name=value]', 'after')
      await page.click('button:has-text("Save variable")')
      await page.waitForURL((url) => url.search === '')
      const path = who === jane ? `/groups/${group.id}/variables` : '/admin/ci/variables'
      await expect.poll(async () => (await who.get(`${path}/${own}`)).body.value).toBe('after')
      await page.click(`tr:has-text("${own}") >> text=Delete`)
      await expect.poll(names).not.toContain(own)
      expect((await who.get(`${path}/${own}`)).status).toBe(404)
      expect(tab.complaints()).toEqual([])
    }

    for (const [who, at, kind] of [
      [boss, '/admin/runners', 'instance_type'],
      [jane, '/groups/works/-/settings/ci_cd', 'group_type'],
    ] as const) {
      await using tab = await openTab(forge, who, { javaScriptEnabled })
      const page = await tab.go(at)
      await page.click('summary:has-text("New runner")')
      await page.fill('#runners [name=description]', `${own} ${kind}`)
      await page.click('button:has-text("Create runner")')
      await page.waitForSelector(`#runners .item-title:has-text("${own} ${kind}")`)
      expect(await page.inputValue('.ci-new-token input')).toMatch(/^glrt-/)
      const made = (await boss.get('/runners/all?per_page=100')).body as { description: string; runner_type: string }[]
      expect(made.find(({ description }) => description === `${own} ${kind}`)?.runner_type).toBe(kind)
      expect(tab.complaints()).toEqual([])
    }

    await using tab = await openTab(forge, jane, { javaScriptEnabled })
    const page = await tab.go('/groups/works/-/settings/repository')
    await page.click('summary:has-text("New deploy token")')
    await page.fill('[name=name]', own)
    await page.click('button:has-text("Create deploy token")')
    await page.waitForSelector(`.item-title:has-text("${own}")`)
    expect((await page.inputValue('.fresh input')).length).toBeGreaterThan(15)
    expect(tab.complaints()).toEqual([])
  }
})
