import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../contents.ts'
import { startForge, type Person, type TestForge } from '../../src/forge.ts'
import { PASSWORD, openTab } from './browser.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const code = Array.from({ length: 40 }, (_, n) => `const line${n} = ${n} // counts`)

let forge: TestForge
let jane: Person
let at: string
let base: string
beforeAll(async () => {
  forge = await startForge()
  jane = await forge.user({ username: 'jane', name: 'Jane', password: PASSWORD })
  const project = await forge.project({ name: 'Mill', path: 'mill', visibility: 'public' }, jane)
  await forge.project({ name: 'Empty', path: 'empty', visibility: 'public' }, jane)
  await fillProject(
    forge,
    project.id,
    {
      message: 'first\n',
      author: 'Ada <ada@example.com>',
      files: { 'README.md': '# The mill\n\n[stones](src/stone.ts) ![dot](dot.png)\n', 'dot.png': PNG },
    },
    {
      message: 'stones\n\nTwo of them.\n',
      files: { 'src/stone.ts': `${code.join('\n')}\n`, 'dot.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>' },
    },
    {
      message: 'turn\n',
      files: { 'src/stone.ts': `${code.with(9, 'const line9 = 99 // counts').toSpliced(20, 2).join('\n')}\n` },
    },
    { branch: 'feature/wheel', from: 'refs/heads/master', message: 'wheel\n', files: { 'wheel.py': 'wheel = 1\n' } },
  )
  at = `/projects/${project.id}`
  base = '/jane/mill'
  await jane.post(`${at}/repository/tags`, { tag_name: 'v1.0', ref: 'master', message: 'One' })
  await jane.post(`${at}/releases`, { tag_name: 'v1.0', name: 'First', description: '**New**' })
})
afterAll(() => forge[Symbol.asyncDispose]())

test('files, marked words, pictures and lines are there without scripts', async () => {
  await using tab = await openTab(forge, null, { javaScriptEnabled: false })
  const page = await tab.go(`${base}/-/blob/feature/wheel/src/stone.ts#L10`)
  expect(await page.locator('#L10 .hljs-keyword').textContent()).toBe('const')
  expect(await page.locator('.last-commit').textContent()).toContain('turn')
  await tab.go(base)
  expect(await page.locator('.files li', { hasText: 'dot.svg' }).textContent()).toContain('stones')
  await page.click('text=stones >> nth=-1')
  await tab.go(base)
  await page.locator('.prose a', { hasText: 'stones' }).click()
  expect(page.url()).toBe(`${forge.url}${base}/-/blob/HEAD/src/stone.ts`)
})

test('words of diffs and blame are marked, without scripts as well', async () => {
  await using tab = await openTab(forge, null, { javaScriptEnabled: false })
  const page = await tab.go(`${base}/-/commit/master`)
  const changed = page.locator('tr[data-kind=added]').first()
  expect(await changed.locator('.hljs-keyword').textContent()).toBe('const')
  expect(await changed.locator('mark').textContent()).toBe('9')
  await tab.go(`${base}/-/blame/master/src/stone.ts`)
  expect(await page.locator('#L10 .hljs-comment').textContent()).toBe('// counts')
  await tab.go(`${base}/-/compare/master...feature/wheel`)
  expect(await page.locator('.diff .hljs-number').count()).toBe(1)
})

test('a file is found by some letters of its name, by key and without scripts', async () => {
  await using tab = await openTab(forge)
  const page = await tab.go(base)
  await page.keyboard.press('t')
  await page.waitForURL('**/-/find_file/master')
  await page.fill('[name=path]', 'srst')
  await expect.poll(() => page.locator('.finder-list a').allTextContents()).toEqual(['src/stone.ts'])
  await page.keyboard.press('Enter')
  await page.waitForURL('**/-/blob/master/src/stone.ts')
  expect(tab.complaints()).toEqual([])
  await using plain = await openTab(forge, null, { javaScriptEnabled: false })
  const form = await plain.go(`${base}/-/find_file/feature/wheel`)
  await form.fill('[name=path]', 'whl')
  await form.click('main button:has-text("Search")')
  expect(await form.locator('.finder-list a').allTextContents()).toEqual(['wheel.py'])
})

test.each([true, false])('a commit and its lines are talked about, scripts %s', async (scripts) => {
  await using tab = await openTab(forge, jane, { javaScriptEnabled: scripts })
  const page = await tab.go(`${base}/-/commit/master`)
  await page.fill('.comment-box [name=body]', `Well **done** ${scripts}`)
  await page.click('.comment-box button:has-text("Comment")')
  await expect.poll(() => page.locator('.commit-talk .note', { hasText: `${scripts}` }).count()).toBe(1)
  await page.locator('tr[data-kind=added] .diff-mark').first().click()
  await page.fill('.line-form [name=body]', `Why 99? ${scripts}`)
  await page.click('.line-form button:has-text("Comment")')
  const comment = page.locator('.diff-below .note', { hasText: `99? ${scripts}` })
  await expect.poll(() => comment.count()).toBe(1)
  await page
    .locator('.diff-below .thread', { hasText: `99? ${scripts}` })
    .locator('summary:has-text("Reply")')
    .click()
  await page
    .locator('.diff-below .thread', { hasText: `99? ${scripts}` })
    .locator('.reply textarea')
    .fill('Because')
  await page
    .locator('.diff-below .thread', { hasText: `99? ${scripts}` })
    .locator('.reply button:has-text("Reply")')
    .click()
  await expect.poll(() => page.locator('.diff-below .note', { hasText: 'Because' }).count()).toBe(scripts ? 1 : 2)
  // The rendered page requests a signature that does not exist.
  expect(tab.complaints().filter((one) => !/signature$|404 \(Not Found\)$/.test(one))).toEqual([])
  const visitor = await (
    await fetch(`${forge.url}${base}/-/commit/master`, { headers: { Accept: 'text/html' } })
  ).text()
  expect(visitor).toContain(`99? ${scripts}`)
  expect(visitor).not.toContain('class="diff-mark"')
})

test('the page of a commit shows comments and the pipeline', async () => {
  const joe = await forge.user({ name: 'Joe', password: PASSWORD })
  await using hers = await openTab(forge, jane)
  await using his = await openTab(forge, joe)
  const author = await hers.go(`${base}/-/commit/v1.0`)
  const reader = await his.go(`${base}/-/commit/v1.0`)
  await reader.fill('.comment-box [name=body]', 'Half a thought')
  await author.fill('.comment-box [name=body]', 'It **turns**')
  await author.click('.comment-box button:has-text("Comment")')
  const comment = reader.locator('.note', { has: reader.locator('strong:text-is("turns")') })
  await comment.waitFor()
  expect(await reader.inputValue('.comment-box [name=body]')).toBe('Half a thought')

  const { body: commit } = await jane.get(`${at}/repository/commits/v1.0`)
  for (const state of ['running', 'success']) {
    await jane.post(`${at}/statuses/${commit.id}`, { state, name: 'mill' })
    await reader.waitForSelector(`.commit-facts [data-state=${state}]`)
  }
  const noteable = `${at}/repository/commits/${commit.id}/discussions`
  const thread = (await jane.get(noteable)).body.at(-1)
  await jane.put(`${noteable}/${thread.id}/notes/${thread.notes[0].id}`, { body: 'It *stops*' })
  await reader.waitForSelector('.note em:text-is("stops")')
  // The rendered page requests a signature that does not exist.
  const complaints = [...hers.complaints(), ...his.complaints()]
  expect(complaints.filter((one) => !/signature$|404 \(Not Found\)$/.test(one))).toEqual([])
})

test('a picture is shown', async () => {
  await using tab = await openTab(forge)
  const page = await tab.go(`${base}/-/blob/master/dot.png`)
  await expect.poll(() => page.evaluate<number>('document.querySelector(".picture img").naturalWidth')).toBe(1)
})

test('a branch is made and deleted', async () => {
  await using tab = await openTab(forge, jane)
  const page = await tab.go(`${base}/-/branches`)
  await page.click('text=New branch')
  await page.fill('[name=branch]', 'topic/one')
  await page.click('text=Create branch')
  await page.waitForURL('**/-/tree/topic/one')
  await tab.go(`${base}/-/branches`)
  page.on('dialog', (dialog) => void dialog.accept())
  await page.click('[aria-label="Delete topic/one"]')
  await expect.poll(() => page.locator('[aria-label="Delete topic/one"]').count()).toBe(0)
  await page.click('text=Undo')
  await expect.poll(() => page.locator('[aria-label="Delete topic/one"]').count()).toBe(1)
  expect(tab.complaints()).toEqual([])
})

test.each([true, false])('a file is written, changed, renamed, uploaded and deleted, scripts %s', async (scripts) => {
  await using tab = await openTab(forge, jane, { javaScriptEnabled: scripts })
  const name = `notes-${scripts}`
  const commit = async (button: string) => {
    await Promise.all([
      page.waitForURL((url) => !/\/-\/(new|edit)\//.test(url.pathname)),
      page.click(`button:has-text("${button}")`),
    ])
  }
  const page = await tab.go(`${base}/-/new/master`)
  await page.fill('[name=file_path]', `docs/${name}.txt`)
  await page.fill('[name=content]', 'one\ntwo\n')
  await commit('Commit')
  expect(page.url()).toBe(`${forge.url}${base}/-/blob/master/docs/${name}.txt`)
  const raw = async (path: string, ref: string) =>
    (await jane.get(`${at}/repository/files/${encodeURIComponent(path)}/raw`, { ref })).body
  expect(await raw(`docs/${name}.txt`, 'master')).toBe('one\ntwo\n')

  await tab.go(`${base}/-/edit/master/docs/${name}.txt`)
  await page.fill('[name=content]', 'one\nthree\n')
  await page.fill('[name=branch]', `change-${scripts}`)
  await commit('Commit')
  expect(page.url()).toBe(`${forge.url}${base}/-/blob/change-${scripts}/docs/${name}.txt`)
  expect(await raw(`docs/${name}.txt`, `change-${scripts}`)).toBe('one\nthree\n')

  await tab.go(`${base}/-/edit/master/docs/${name}.txt?way=rename`)
  await page.fill('[name=file_path]', `${name}.txt`)
  await commit('Commit')
  expect(await raw(`${name}.txt`, 'master')).toBe('one\ntwo\n')

  await tab.go(`${base}/-/new/master?upload=1`)
  const bytes = Buffer.from([0, 255, 1])
  await page.setInputFiles('[name=file]', { name: `${name}.bin`, mimeType: 'application/octet-stream', buffer: bytes })
  await commit('Commit')
  const { body: sent } = await jane.get(`${at}/repository/files/${name}.bin`, { ref: 'master' })
  expect(sent.content).toBe(bytes.toString('base64'))

  await tab.go(`${base}/-/edit/master/${name}.txt?way=delete`)
  await commit('Delete file')
  expect((await jane.get(`${at}/repository/files/${name}.txt`, { ref: 'master' })).status).toBe(404)
  expect(tab.complaints()).toEqual([])
})

test('a project is starred and forked', async () => {
  const bob = await forge.user({ username: 'bob', name: 'Bob', password: PASSWORD })
  await using tab = await openTab(forge, bob)
  const page = await tab.go(base)
  await page.click('button:has-text("Star")')
  await expect.poll(() => page.locator('button:has-text("Starred")').count()).toBe(1)
  await page.click('a:has-text("Fork")')
  await Promise.all([page.waitForURL('**/bob/mill'), page.click('button:has-text("Fork")')])
  expect(tab.complaints()).toEqual([])
})
