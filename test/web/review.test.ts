import { afterAll, beforeAll, expect, test } from 'vitest'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { PASSWORD, barriers, openTab } from './browser.ts'

let forge: TestForge
let jane: Person
let joe: Person
let project: Awaited<ReturnType<TestForge['project']>>
let at: string

const lines = (change: Record<number, string> = {}) =>
  Array.from({ length: 30 }, (_, n) => `${change[n + 1] ?? `line ${n + 1}`}\n`).join('')

beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ name: 'Jane', username: 'jane', password: PASSWORD })
  joe = await forge.user({ name: 'Joe', username: 'joe', password: PASSWORD })
  const group = await forge.group({ path: 'works', visibility: 'public' }, jane)
  project = await forge.project({ path: 'mill', namespace_id: group.id, visibility: 'public' }, jane)
  at = `/${project.path_with_namespace}/-/merge_requests`
  await jane.post(`/projects/${project.id}/members`, { user_id: joe.id, access_level: 40 })
  await forge.label(project, { name: 'bug', color: '#d9534f' }, jane)
  await forge.milestone(project, { title: 'Harvest' }, jane)
  await forge.seed(project, { 'mill.txt': lines(), 'README.md': '# Mill\n' }, { as: jane })
  const files = { 'mill.txt': lines({ 5: 'faster', 20: 'sieves' }), 'sieve.txt': 'a sieve\n' }
  await forge.mergeRequest(
    project,
    { title: 'Grind faster', source_branch: 'faster', files, description: 'It was **slow**.', reviewer_ids: [joe.id] },
    jane,
  )
  await forge.mergeRequest(project, { title: 'Draft: Sharper', target_branch: 'faster', labels: ['bug'] }, jane)
  await forge.seed(project, { 'big.txt': 'word '.repeat(400).concat('\n').repeat(20) }, { branch: 'big', as: jane })
  await forge.seed(
    project,
    { 'mill.txt': lines({ 1: 'first' }) },
    { branch: '9-new-belt', message: 'A belt', as: jane },
  )
})
afterAll(() => forge[Symbol.asyncDispose]())

test('one is proposed, with what its commit says', async () => {
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/new`)
  await page.fill('[name=source_branch]', '9-new-belt')
  await page.click('text=Compare and continue')
  await page.waitForSelector('html[data-ready]')
  expect(await page.inputValue('[name=title]')).toBe('A belt')
  expect(await page.inputValue('[name=description]')).toBe('Closes #9')
  await page.selectOption('[name="reviewer_ids[]"]', { label: 'Joe (@joe)' })
  await page.click('text=Create merge request')
  await page.waitForURL(/merge_requests\/3$/)
  expect(await page.textContent('h1')).toContain('A belt')
  expect(await page.textContent('.side')).toContain('Joe')
  expect(tab.complaints()).toEqual([])
})

test('two people review and merge one, each seeing what the other does', async () => {
  await using hers = await openTab(forge, jane)
  await using his = await openTab(forge, joe)
  const author = await hers.go(`${at}/1`)
  const reviewer = await his.go(`${at}/1/diffs`)

  // Comments on a line with a suggestion, and drafts another comment.
  await reviewer.click('a[aria-label="Comment on line 5"] >> nth=-1', { force: true })
  await reviewer.fill('.line-form [name=body]', 'Faster than what?')
  await reviewer.click('.line-form summary')
  await reviewer.fill('.line-form [name=suggestion]', 'faster than wind')
  await reviewer.click('text=Add comment now')
  await reviewer.waitForSelector('.diff-talk .thread')
  await author.waitForSelector('text=Faster than what?')
  expect(await author.textContent('.suggestion')).toContain('faster than wind')

  await reviewer.click('a[aria-label="Comment on line 20"] >> nth=-1', { force: true })
  await reviewer.fill('.line-form [name=body]', 'Which sieves?')
  await reviewer.click('text=Add to review')
  await reviewer.waitForSelector('.draft-note')
  expect(await author.locator('text=Which sieves?').count()).toBe(0)

  // The suggestion becomes a commit, and the thread is resolved.
  await author.click('.suggestion >> text=Apply')
  await author.waitForSelector('text=Resolved by Jane')
  await reviewer.waitForSelector('text=faster than wind')

  // The review is submitted with an approval.
  await reviewer.click('text=Finish review (1 pending comment)')
  await reviewer.fill('.finish-review [name=body]', 'Well done.')
  await reviewer.click('.finish-review >> text=Approve')
  await reviewer.click('text=Submit review')
  await author.waitForSelector('text=Which sieves?')
  await author.waitForSelector('text=Approved by Joe')

  // Replies appear at the line.
  const thread = author.locator('.thread', { hasText: 'Which sieves?' })
  await thread.locator('summary', { hasText: 'Reply' }).click()
  await thread.locator('.reply textarea').fill('The fine ones.')
  await thread.locator('.reply button[data-kind=main]').click()
  await reviewer.waitForSelector('text=The fine ones.')

  // A merge is visible to both users.
  await his.go(`${at}/1`)
  await author.click('.merge-form >> button:has-text("Merge")')
  await author.waitForSelector('.merge-box[data-state=merged]')
  await reviewer.waitForSelector('.merge-box[data-state=merged]')
  expect(await reviewer.textContent('.merge-box h2')).toMatch(/Merged by .*Jane/)
  expect([...hers.complaints(), ...his.complaints()]).toEqual([])
  expect((await jane.get(`/projects/${project.id}/repository/files/mill.txt/raw`, { ref: 'master' })).body).toContain(
    'faster than wind',
  )
})

test('without scripts a line is commented on, a word said, and one merged', async () => {
  await using tab = await openTab(forge, joe, { javaScriptEnabled: false })
  const page = await tab.go(`${at}/3/diffs`)
  await page.click('a[aria-label="Comment on line 1"] >> nth=-1', { force: true })
  await page.fill('.line-form [name=body]', 'A first line')
  await page.click('text=Add comment now')
  expect(await page.textContent('.diff-talk')).toContain('A first line')
  expect(await page.locator('.line-form').count()).toBe(0)

  await tab.go(`${at}/3`)
  await page.fill('.comment-box [name=body]', 'Let it in')
  await page.click('.comment-box button[data-kind=main]')
  expect(await page.textContent('.talk')).toContain('Let it in')
  await page.click('text=Approve')
  expect(await page.textContent('.merge-box')).toContain('Approved by Joe')
  await page.click('.merge-form button')
  expect(await page.textContent('.merge-box h2')).toMatch(/Merged by .*Joe/)
  expect(tab.complaints()).toEqual([])
})

test('gates are lifted one by one while somebody looks on', async () => {
  const { iid, sha } = await forge.mergeRequest(project, { title: 'A wheel' }, jane)
  await using hers = await openTab(forge, jane)
  await using his = await openTab(forge, joe)
  const page = await hers.go(`${at}/${iid}`)
  const other = await his.go(`${at}/${iid}`)
  await other.click('text=Mark as draft')
  await page.waitForSelector('.merge-box[data-state=blocked]')
  expect(await page.textContent('[data-gate=draft]')).toContain('The author or a developer can resolve this')
  await page.click('[data-gate=draft] button')
  await other.waitForSelector('.merge-box[data-state=ready]')

  await page.click('text=Add dependency')
  await page.fill('[name=reference]', '!2')
  await page.click('#dependencies button:has-text("Add")')
  await page.waitForSelector('[data-gate=dependencies][data-state=blocked]')
  await page.click('[aria-label="Remove dependency"]')
  await page.waitForSelector('.merge-box[data-state=ready]')

  await jane.post(`/projects/${project.id}/statuses/${sha}`, { state: 'running', name: 'grind' })
  await page.click('text=Auto-merge when the pipeline succeeds')
  await other.waitForSelector('text=Set to auto-merge when the pipeline succeeds')
  await other.click('text=Cancel auto-merge')
  await page.waitForSelector('.merge-form')

  // The target moves on, in a project that allows only fast-forward merges.
  await jane.put(`/projects/${project.id}`, { merge_method: 'ff' })
  await forge.seed(project, { 'NEWS.md': '# News\n' }, { as: jane })
  await page.click('[data-gate=rebase] button')
  await other.waitForSelector('[data-gate=rebase][data-state=passed]', { state: 'attached' })
  await jane.put(`/projects/${project.id}`, { merge_method: 'merge' })

  page.once('dialog', (dialog) => void dialog.accept())
  await page.click('.request-head >> text=Close')
  await other.waitForSelector('.merge-box[data-state=closed]')
  await other.click('text=Reopen')
  await page.waitForSelector('.merge-box[data-state=ready]')
  expect([...hers.complaints(), ...his.complaints()]).toEqual([])
})

test('from a fork one is proposed to where it came from', async () => {
  const { id } = (await joe.post(`/projects/${project.id}/fork`)).body as { id: number }
  await expect.poll(async () => (await joe.get(`/projects/${id}`)).body.import_status).toBe('finished')
  await forge.seed({ id }, { 'pond.txt': 'a pond\n' }, { branch: 'pond', message: 'A pond', as: joe })
  await using tab = await openTab(forge, joe)
  const page = await tab.go('/joe/mill/-/merge_requests/new?source_branch=pond')
  expect(await page.textContent('.review-route')).toContain('works/mill:master')
  await page.click('text=Create merge request')
  await page.waitForURL(/works\/mill\/(-\/)?merge_requests\/\d+$/)
  expect(await page.textContent('.request-facts')).toContain('fork:pond')
  expect(tab.complaints()).toEqual([])
})

test('files that were viewed stay so in this browser, large ones come when asked for', async () => {
  await jane.post(`/projects/${project.id}/merge_requests`, {
    source_branch: 'big',
    target_branch: 'master',
    title: 'Big',
  })
  const [{ iid }] = (await jane.get(`/projects/${project.id}/merge_requests`, { search: 'Big' })).body
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/${iid}/diffs`)
  await page.click('text=Load diff')
  await page.waitForSelector('.diff-text')
  await page.check('.viewed input')
  await tab.go(`${at}/${iid}/diffs`)
  await page.waitForSelector('.diff-file:not([open])')
  expect(await page.textContent('.diff-overview summary')).toContain('1 viewed')
  expect(tab.complaints()).toEqual([])
})

test('several lines are commented on, a draft is changed, a thread resolved and not; rules ask for approvals', async () => {
  const files = { 'mill.txt': lines({ 5: 'quicker', 6: 'and quicker' }) }
  const { iid } = await forge.mergeRequest(project, { title: 'A gear', source_branch: 'gear', files }, jane)
  const one = `/projects/${project.id}/merge_requests/${iid}`
  // More than one page of threads: the last one still finds its line.
  for (let n = 0; n < 100; n += 10)
    await Promise.all(Array.from({ length: 10 }, () => jane.post(`${one}/discussions`, { body: 'Hm.' })))
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${at}/${iid}/diffs`)
  await page.click('a[aria-label="Comment on line 4"] >> nth=-1', { force: true })
  await page.click('a[aria-label="Comment on line 6"] >> nth=-1', { force: true, modifiers: ['Shift'] })
  expect(await page.inputValue('.line-form [name=start]')).toBe('4_4')
  await page.fill('.line-form [name=body]', 'All of this')
  await page.click('.line-form summary:has-text("Suggest")')
  await page.fill('.line-form [name=suggestion]', 'one line')
  await page.click('text=Add comment now')
  await page.waitForSelector('.diff-talk .thread:has-text("Lines 4–6")')
  const thread = (await jane.get(`${one}/discussions`, { per_page: 100, page: 2 })).body.at(-1)
  expect(thread.notes[0].position).toMatchObject({
    new_line: 6,
    line_range: { start: { old_line: 4, new_line: 4, type: null }, end: { new_line: 6, type: 'new' } },
  })
  expect(thread.notes[0].suggestions[0]).toMatchObject({
    from_content: 'line 4\nquicker\nand quicker\n',
    to_content: 'one line\n',
  })
  await page.click('.thread button:has-text("Resolve")')
  await page.waitForSelector('.thread[data-resolved]')
  await page.click('.undo-line button:has-text("Undo")')
  await page.waitForSelector('.thread:not([data-resolved])')

  await page.click('a[aria-label="Comment on line 5"] >> nth=-1', { force: true })
  await page.fill('.line-form [name=body]', 'Why?')
  await page.click('text=Add to review')
  await page.click('.draft-note summary')
  await page.fill('.draft-note [name=body]', 'Why not?')
  await page.click('text=Save comment')
  await page.waitForSelector('.draft-text:has-text("Why not?")')
  await page.click('[aria-label="Delete pending comment"]')
  await page.waitForSelector('.draft-note', { state: 'detached' })

  await tab.go(`${at}/${iid}`)
  await page.click('summary:has-text("Approval rules")')
  await page.click('summary:has-text("Add approval rule")')
  await page.fill('.rule-form [name=name]', 'Millers')
  await page.fill('.rule-form [name=groups]', 'works')
  await page.check(`.rule-form [value="${joe.id}"]`)
  await page.click('button:has-text("Add approval rule")')
  await page.waitForSelector('.own-rules .item:has-text("1 approval from Joe, works")')
  expect((await jane.get(`${one}/approvals`)).body).toMatchObject({ approvals_left: 1 })

  await tab.go(at)
  await page.check(`[name="iids[]"][value="${iid}"]`)
  await page.selectOption('[name=add_label]', 'bug')
  await page.click('.bulk button')
  await page.waitForSelector('.undo-line:has-text("1 merge request changed.")')
  expect((await jane.get(one)).body.labels).toEqual(['bug'])

  await tab.go(`/${project.path_with_namespace}/-/settings/merge_requests`)
  expect(await barriers(page)).toEqual([])
  await page.click('summary:has-text("Add approval rule")')
  await page.fill('.rule-form [name=name]', 'Anybody')
  await page.click('button:has-text("Add approval rule")')
  await page.waitForSelector('.item:has-text("1 approval from any eligible user")')
  page.once('dialog', (dialog) => void dialog.accept())
  await page.click('[aria-label="Remove the rule Anybody"]')
  await page.waitForSelector('text=No approval rules')
  expect(tab.complaints()).toEqual([])
})
