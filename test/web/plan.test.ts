import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { PASSWORD, barriers, openTab } from './browser.ts'

let forge: TestForge
let jane: Person
let base: string
let api: string
let projectId: number
const cardOf = (iid: number) => `card-${projectId}-${iid}`

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ name: 'Jane', username: 'jane', password: PASSWORD })
  const { body: group } = await jane.post('/groups', { name: 'Mill', path: 'mill', visibility: 'public' })
  const { body: project } = await jane.post('/projects', {
    name: 'Wheel',
    namespace_id: group.id,
    visibility: 'public',
    initialize_with_readme: true,
  })
  base = '/mill/wheel/-'
  api = `/projects/${project.id}`
  projectId = project.id
  for (const name of ['bug', 'Doing']) await jane.post(`${api}/labels`, { name, color: '#b04020' })
  await jane.post('/groups/mill/milestones', { title: 'Year one' })
  const { body: milestone } = await jane.post(`${api}/milestones`, { title: 'v1', description: 'It **turns**.' })
  const { body: issue } = await jane.post(`${api}/issues`, {
    title: 'It squeaks',
    description: 'Loud:\n\n- [ ] oil it\n- [x] look at it',
    labels: ['bug'],
    milestone_id: milestone.id,
    assignee_ids: [jane.id],
  })
  await jane.post(`${api}/issues/${issue.iid}/discussions`, { body: 'With **grease**?' })
  const { body: board } = await jane.post(`${api}/boards`, { name: 'Development' })
  const { body: labels } = await jane.get(`${api}/labels`)
  const doing = labels.find(({ name }: { name: string }) => name === 'Doing')
  await jane.post(`${api}/boards/${board.id}/lists`, { label_id: doing.id })
  const snippet = { title: 'Turning', file_name: 'turn.ts', content: 'const a = 1', visibility: 'public' }
  await jane.post(`${api}/snippets`, snippet)
  await jane.post('/snippets', snippet)
  await jane.post(`${api}/wikis`, { title: 'home', content: '# Welcome\n\nSee [more](guides/install).' })
  await jane.post(`${api}/wikis`, { title: 'guides/install', content: 'Turn it on.' })
})
afterAll(() => forge[Symbol.asyncDispose]())

test('an issue is made, commented, moved by keys, closed; another tab sees it', async () => {
  await using tab = await openTab(forge, jane)
  await using other = await openTab(forge, jane)
  const page = await tab.go(`${base}/issues/new`)
  await page.fill('[name=title]', 'A second stone')
  await page.fill('[name=description]', '- [ ] cut it')
  await page.check('[name="labels[]"][value=bug]')
  await page.click('text=Create issue')
  await page.waitForURL(/\/issues\/\d+$/)
  const { pathname } = new URL(page.url())
  const iid = Number(pathname.split('/').at(-1))
  await page.waitForSelector('html[data-ready]')

  await other.go(pathname)
  await page.fill('.comment-box [name=body]', 'It is **heavy**')
  await page.click('.comment-box button:text-is("Comment")')
  await page.waitForSelector('.note strong:has-text("heavy")')
  await other.page.waitForSelector('.note strong:has-text("heavy")')

  await page.click('.reply summary')
  await page.fill('.reply [name=body]', 'Indeed')
  await page.click('.reply button[data-kind=main]')
  await page.waitForSelector('.note:has-text("Indeed")')

  await page.check('.task-list-item-checkbox')
  await page.waitForSelector('text=1 of 1 task completed')
  expect((await jane.get(`${api}/issues/${iid}`)).body.description).toBe('- [x] cut it')

  await tab.go(`${base}/boards`)
  await page.focus(`#${cardOf(iid)}`)
  await page.keyboard.press('Shift+ArrowRight')
  await page.waitForSelector(`[data-list=Doing] #${cardOf(iid)}:focus`)
  expect((await jane.get(`${api}/issues/${iid}`)).body.labels).toContain('Doing')
  await page.locator(`.board-card:has(#${cardOf(iid)})`).dragTo(page.locator('[data-list=opened]'))
  await page.waitForSelector(`[data-list=opened] #${cardOf(iid)}`)

  await tab.go(pathname)
  await page.click('text=Close issue')
  await page.waitForSelector('.issue-head [data-state=closed]')
  await other.page.waitForSelector('.issue-head [data-state=closed]')
  expect([...tab.complaints(), ...other.complaints()]).toEqual([])
})

test('the same without scripts', async () => {
  await using tab = await openTab(forge, jane, { javaScriptEnabled: false })
  const page = await tab.go(`${base}/issues/new`)
  await page.fill('[name=title]', 'Plainly')
  await page.click('text=Create issue')
  expect(await page.textContent('h1')).toContain('Plainly')
  const iid = Number(new URL(page.url()).pathname.split('/').at(-1))
  await page.fill('.comment-box [name=body]', 'Said *plainly*')
  await page.click('.comment-box button:text-is("Comment")')
  expect(await page.textContent('.note em')).toBe('plainly')
  await tab.go(`${base}/boards`)
  const card = page.locator(`.board-card:has(#${cardOf(iid)})`)
  await card.locator('summary').click()
  await card.locator('select').selectOption('Doing')
  await card.locator('button').click()
  expect(await page.locator(`[data-list=Doing] #${cardOf(iid)}`).count()).toBe(1)
  await tab.go(`${base}/issues/${iid}`)
  await page.click('text=Close issue')
  expect(await page.locator('.issue-head [data-state=closed]').count()).toBe(1)
  expect(tab.complaints()).toEqual([])
})

test('without scripts what was done is told once, and undone; a reload sends nothing', async () => {
  const { body: issue } = await jane.post(`${api}/issues`, { title: 'It leaks' })
  const events = async () => (await jane.get(`${api}/issues/${issue.iid}/resource_state_events`)).body.length
  await using tab = await openTab(forge, jane, { javaScriptEnabled: false })
  const page = await tab.go(`${base}/issues/${issue.iid}`)
  let posts = 0
  page.on('request', (request) => (posts += request.method() === 'POST' ? 1 : 0))
  await page.fill('.comment-box [name=body]', 'Said once')
  await page.click('text=Close issue')
  expect(await page.textContent('.undo-line')).toContain('Issue closed.')
  expect((await page.context().cookies()).map(({ name }) => name)).not.toContain('_service_told')
  await page.reload()
  expect([posts, await page.locator('.undo-line').count(), await events()]).toEqual([1, 0, 1])
  expect(await page.locator('.note:has-text("Said once")').count()).toBe(1)

  await page.click('text=Reopen issue')
  await page.click('.undo-line button:has-text("Undo")')
  expect(await page.locator('.issue-head [data-state=closed]').count()).toBe(1)
  expect([posts, await events()]).toEqual([3, 3])
  expect(tab.complaints()).toEqual([])
})

test('without scripts a text is looked at: nothing is made, and all that was typed stays', async () => {
  const count = async () => (await jane.get(`${api}/issues_statistics`)).body.statistics.counts.all
  await using tab = await openTab(forge, jane, { javaScriptEnabled: false })
  const page = await tab.go(`${base}/issues/new`)
  const hostile = '<script>alert(1)</script><img src=/-/assets/icon.svg onload=alert(1)> [x](javascript:alert(1))'
  const description = `It is **heavy** ${hostile}`
  await page.fill('[name=description]', description)
  await page.check('[name=confidential][type=checkbox]')
  await page.check('[name="labels[]"][value=bug]')
  await page.selectOption('[name=milestone_id]', { label: 'v1' })
  await page.fill('[name=weight]', '7')
  const before = await count()
  // The title is still missing.
  await page.click('button:text-is("Preview")')
  expect(page.url()).toBe(`${forge.url}${base}/issues/new#preview`)
  expect(await page.textContent('#preview strong')).toBe('heavy')
  expect(await page.locator('#preview').locator('script, [onload], a[href^=javascript]').count()).toBe(0)
  expect(await page.inputValue('[name=description]')).toBe(description)
  expect([await count(), await page.locator('.fault').count()]).toEqual([before, 0])
  await page.fill('[name=title]', 'Looked at')
  await page.press('[name=title]', 'Enter')
  await page.waitForURL(/issues\/\d+$/)
  const { pathname } = new URL(page.url())
  const iid = pathname.split('/').at(-1)
  expect((await jane.get(`${api}/issues/${iid}`)).body).toMatchObject({
    title: 'Looked at',
    description,
    confidential: true,
    labels: ['bug'],
    milestone: { title: 'v1' },
    weight: 7,
  })

  const box = page.locator('.comment-box')
  await box.locator('[name=body]').fill('Indeed, see #1\n/close')
  await box.locator('button:text-is("Preview")').click()
  expect(await page.textContent('#preview a')).toBe('#1')
  expect((await jane.get(`${api}/issues/${iid}/notes`, { activity_filter: 'only_comments' })).body).toEqual([])
  await box.locator('button:text-is("Start thread")').click()
  expect(await page.locator('.issue-head [data-state=closed]').count()).toBe(1)
  const reply = page.locator('.reply')
  await reply.locator('summary').click()
  await reply.locator('textarea').fill('And *again*')
  await reply.locator('button:text-is("Preview")').click()
  expect(await reply.locator('#preview em').textContent()).toBe('again')
  expect(await reply.locator('textarea').inputValue()).toBe('And *again*')

  await tab.go('/groups/mill/-/milestones')
  await page.click('summary:has-text("New milestone")')
  await page.fill('.edit [name=description]', 'By *then*')
  await page.fill('.edit [name=due_date]', '2031-02-03')
  await page.click('.edit button:text-is("Preview")')
  expect(await page.locator('.edit #preview em').textContent()).toBe('then')
  expect(await page.inputValue('.edit [name=due_date]')).toBe('2031-02-03')
  expect((await jane.get('/groups/mill/milestones')).body).toHaveLength(1)
  expect(tab.complaints()).toEqual([])
})

test('to dos, labels, snippets and pages of the wiki are changed where they stand', async () => {
  await jane.post(`${api}/issues/1/todo`)
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/dashboard/todos')
  await page.click('.item button:has-text("Done")')
  await page.waitForSelector("text=You're all caught up")
  await tab.go('/dashboard/todos?state=done')
  await page.click('text=Undo')
  await page.waitForSelector('.tabs .count:has-text("1")')

  await tab.go(`${base}/labels`)
  await page.click('text=New label')
  await page.fill('.card-body [name=name]', 'late')
  await page.click('text=Create label')
  await page.waitForSelector('.items .label:has-text("late")')

  await tab.go('/-/snippets/new')
  await page.fill('[name=title]', 'Mine')
  await page.fill('[name=path_0]', 'a.py')
  await page.fill('[name=content_0]', 'def a(): pass')
  await page.click('text=Save snippet')
  await page.waitForSelector('.hljs-keyword:has-text("def")')

  await tab.go(`${base}/wikis/home?view=edit`)
  await page.fill('[name=content]', 'Changed *here*')
  await page.click('text=Save page')
  await page.waitForSelector('.prose em:has-text("here")')
  await tab.go(`${base}/wikis/home?view=history`)
  await page.locator('.items a').last().click()
  await page.waitForSelector('.prose h1:has-text("Welcome")')
  expect(tab.complaints()).toEqual([])
})

test('a text is looked at, gets files, is sent by keys; what was done is undone', async () => {
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${base}/issues/1`)
  const box = page.locator('.comment-box')
  await box.locator('textarea').fill('See **here**: ')
  await box.locator('input[type=file]').setInputFiles({
    name: 'dot.png',
    mimeType: 'image/png',
    buffer: Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
  })
  await expect.poll(() => box.locator('textarea').inputValue()).toMatch(/!\[dot\]\(\/uploads\/\w+\/dot\.png\)/)
  await box.locator('text=Preview').click()
  await page.waitForSelector('.writing-preview strong:has-text("here")')
  await page.waitForSelector('.writing-preview img')
  await expect.poll(() => page.evaluate('document.querySelector(".writing-preview img").naturalWidth')).toBe(1)
  await box.locator('button:text-is("Write")').click()
  await box.locator('textarea').press('Control+Enter')
  await page.waitForSelector('.note strong:has-text("here")')
  expect(await box.locator('textarea').inputValue()).toBe('')

  await page.click('summary:has-text("Log time")')
  await page.fill('.time-form [name=duration]', '1h 30m')
  await page.click('.time-form button:has-text("Add")')
  await page.waitForSelector('.properties :text("1h 30m spent")')

  await page.click('text=Close issue')
  await page.click('.undo-line button:has-text("Undo")')
  await page.waitForSelector('.issue-head [data-state=opened]')
  expect((await jane.get(`${api}/issues/1`)).body.state).toBe('opened')
  expect(tab.complaints()).toEqual([])

  // Rejected text stays in the form.
  await page.route('**/notes', (route) => route.abort())
  await box.locator('textarea').fill('Do not lose this')
  await box.locator('button:text-is("Comment")').click()
  await page.waitForSelector('.comment-box .fault')
  expect(await box.locator('textarea').inputValue()).toBe('Do not lose this')
})

test('boards of a group, its milestones, versions of a page, several files, templates', async () => {
  const { body: label } = await jane.post('/groups/mill/labels', { name: 'Next', color: '#204080' })
  const { body: boards } = await jane.get('/groups/mill/boards')
  await jane.post(`/groups/mill/boards/${boards[0].id}/lists`, { label_id: label.id })
  await using tab = await openTab(forge, jane)
  const page = await tab.go('/groups/mill/-/boards')
  await page.focus(`#${cardOf(1)}`)
  await page.keyboard.press('Shift+ArrowRight')
  await page.waitForSelector(`[data-list=Next] #${cardOf(1)}:focus`)
  await page.click('.undo-line button:has-text("Undo")')
  await page.waitForSelector(`[data-list=opened] #${cardOf(1)}`)
  expect((await jane.get(`${api}/issues/1`)).body.labels).not.toContain('Next')

  await tab.go('/groups/mill/-/milestones/1')
  await page.click('summary:has-text("Edit")')
  await page.fill('[name=title]', 'Year two')
  await page.click('button:has-text("Save")')
  await page.waitForSelector('h1:has-text("Year two")')

  await tab.go(`${base}/wikis/guides/install?view=edit`)
  await page.fill('[name=content]', 'Turn it off.')
  await page.click('text=Save page')
  await page.waitForSelector('.prose :text("Turn it off")')
  await tab.go(`${base}/wikis/guides/install?view=history`)
  await page.click('text=Compare selected versions')
  await page.waitForSelector('[data-kind=removed]:has-text("Turn it on.")')
  await page.waitForSelector('[data-kind=added]:has-text("Turn it off.")')
  expect(await barriers(page)).toEqual([])

  await tab.go(`${base}/snippets/1/edit`)
  await page.click('text=Add another file')
  await page.fill('[name=path_1]', 'more.py')
  await page.fill('[name=content_1]', 'def more(): pass')
  await page.click('text=Save snippet')
  await page.waitForSelector('section[aria-label="more.py"] .hljs-keyword')
  expect((await jane.get(`${api}/snippets/1`)).body.files).toMatchObject([{ path: 'turn.ts' }, { path: 'more.py' }])

  const { body: second } = await jane.post(`${api}/issues`, { title: 'It stops' })
  const both = [1, second.iid]
  await tab.go(`${base}/issues?state=all`)
  for (const iid of both) await page.check(`[name="iids[]"][value="${iid}"]`)
  await page.selectOption('[name=state_event]', 'close')
  await page.click('.bulk button')
  await page.waitForSelector('.undo-line:has-text("2 issues changed.")')
  expect((await jane.get(`${api}/issues`, { state: 'closed', iids: both })).body).toHaveLength(2)
  await page.click('.undo-line button:has-text("Undo")')
  await expect.poll(async () => (await jane.get(`${api}/issues`, { state: 'opened', iids: both })).body).toHaveLength(2)

  const { body: other } = await jane.post('/projects', { name: 'Pond', visibility: 'public' })
  await tab.go(`${base}/issues/${second.iid}`)
  await page.selectOption('[name=link_type]', 'blocks')
  await page.fill('[name=target]', '#1')
  await page.click('.link-form button')
  await page.waitForSelector('.related .badge:has-text("blocks")')
  page.once('dialog', (dialog) => void dialog.accept())
  await page.click('summary:has-text("Move to another project")')
  await page.fill('[name=project]', 'jane/pond')
  await page.click('text=Move issue')
  await page.waitForURL('**/jane/pond/**issues/1')
  expect((await jane.get(`/projects/${other.id}/issues/1`)).status).toBe(200)

  const actions = [{ action: 'create', file_path: '.gitlab/issue_templates/Bug.md', content: '## What happens' }]
  await jane.post(`${api}/repository/commits`, { branch: 'master', commit_message: 'Ask', actions })
  await tab.go(`${base}/issues/new`)
  await page.click('.writing-templates a:has-text("Bug")')
  await page.waitForURL('**template=Bug')
  expect(await page.inputValue('[name=description]')).toBe('## What happens')
  expect(tab.complaints()).toEqual([])
})

interface Row {
  labels: string[]
  milestone: { title: string } | null
  assignees: unknown[]
}

test('several are changed at once; one form gives back what they had, where it can', async () => {
  const { body: milestones } = await jane.get(`${api}/milestones`)
  const plan = { labels: ['bug'], milestone_id: milestones[0].id }
  const { body: planned } = await jane.post(`${api}/issues`, { title: 'Planned', ...plan })
  const { body: bare } = await jane.post(`${api}/issues`, { title: 'Bare' })
  const iids = [planned.iid, bare.iid]
  const state = async () => {
    const { body } = await jane.get(`${api}/issues`, { iids, sort: 'asc' })
    return (body as Row[]).map(({ labels, milestone, assignees }) => [
      labels.toSorted(),
      milestone?.title ?? null,
      assignees.length,
    ])
  }
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${base}/issues`)
  const change = async (fields: Record<string, string>) => {
    for (const iid of iids) await page.check(`[name="iids[]"][value="${iid}"]`)
    for (const [name, label] of Object.entries(fields)) await page.selectOption(`.bulk [name=${name}]`, { label })
    await page.click('.bulk button')
    await page.waitForSelector('.undo-line:has-text("2 issues changed.")')
    return state()
  }
  const undo = async () => {
    await page.click('.undo-line button')
    await page.waitForSelector('.undo-line:has-text("1 issue changed."), .undo-line:has-text("2 issues changed.")')
  }
  const was = [
    [['bug'], 'v1', 0],
    [[], null, 0],
  ]
  expect(await change({ add_label: 'Doing' })).toEqual([
    [['Doing', 'bug'], 'v1', 0],
    [['Doing'], null, 0],
  ])
  await undo()
  await expect.poll(state).toEqual(was)
  // One of them had none before, and stays unchanged.
  await tab.go(`${base}/issues`)
  expect(await change({ milestone: 'No milestone' })).toEqual([
    [['bug'], null, 0],
    [[], null, 0],
  ])
  await undo()
  await expect.poll(state).toEqual(was)
  await tab.go(`${base}/issues`)
  expect(await change({ remove_label: 'bug', assignee: 'Jane' })).toEqual([
    [[], 'v1', 1],
    [[], null, 1],
  ])
  expect(await page.locator('.undo-line button').count()).toBe(0)
  expect(tab.complaints()).toEqual([])
})
