/** Code that is slow to highlight does not delay other users, wherever it is shown. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { longestStall } from '../../../../test/effort.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'

/** About 100 ms each on an idle machine. */
const slowCode = (n: number) => `${'$'.repeat(1500)}\n// ${n}\n`
const slowText = (n: number) => `\`\`\`java\n${slowCode(n)}\`\`\`\n`
/** Takes more than 10 s. */
const endlessText = `Look:\n\n\`\`\`csharp\n${`${'a<b> '.repeat(380)}\n`.repeat(4)}\`\`\`\n`
const NUMBERS = Array.from({ length: 20 }, (_, n) => n)
const MOST = 400

let forge: TestForge
let ann: Person
let id: number
let path: string
beforeAll(async () => {
  forge = await startForge()
  ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ visibility: 'public' }, ann)
  id = project.id
  path = project.path_with_namespace
  // One-time loading is not part of the measurement.
  await ann.post('/markdown', { text: slowText(-1), gfm: true })
  await ann.post('/markdown', { text: 'short' })
})
afterAll(() => forge.close())

const texts = NUMBERS.map(slowText)

async function issueWithNotes() {
  const issue = await forge.issue({ id }, {}, ann)
  for (const body of texts) await forge.note(issue, { body }, ann)
  return issue
}

const PLACES: [string, () => Promise<() => Promise<string>>][] = [
  [
    'notes',
    async () => {
      const { iid } = await issueWithNotes()
      const discussions = `/projects/${id}/issues/${iid}/discussions`
      return async () => JSON.stringify((await ann.get(discussions, { render_html: true, per_page: 100 })).body)
    },
  ],
  [
    'a text sent to be rendered',
    async () => async () => {
      const text = NUMBERS.map((n) => slowText(100 + n)).join('\n')
      return (await ann.post('/markdown', { text })).body.html
    },
  ],
  [
    'a page of a wiki',
    async () => {
      const content = NUMBERS.map((n) => slowText(200 + n)).join('\n')
      await ann.post(`/projects/${id}/wikis`, { title: 'home', content })
      return async () => (await ann.get(`/projects/${id}/wikis/home`, { render_html: true })).body.content
    },
  ],
  [
    'a file, and a diff',
    async () => {
      await fillProject(forge, id, { files: { 'A.java': NUMBERS.map((n) => slowCode(300 + n)).join('') } })
      const files = `/projects/${id}/repository/files/A.java/view`
      return async () => {
        const [file, diff] = await Promise.all([
          ann.get(files, { ref: 'master' }),
          ann.get(`/projects/${id}/repository/commits/master/diff`, { render_html: true }),
        ])
        expect([file.status, diff.status]).toEqual([200, 200])
        return JSON.stringify(file.body)
      }
    },
  ],
  [
    'a feed',
    async () => {
      const { iid } = await forge.issue({ id }, {}, ann)
      for (const n of NUMBERS) await forge.note({ project_id: id, iid }, { body: slowText(400 + n) }, ann)
      await forge.settle()
      return async () => (await fetch(`${forge.url}/${path}.atom`)).text()
    },
  ],
  [
    'a snippet',
    async () => {
      const files = NUMBERS.slice(0, 10).map((n) => ({ file_path: `${n}.java`, content: slowCode(500 + n) }))
      const { id: snippet } = await forge.snippet({ id }, { files } as never, ann)
      return async () =>
        JSON.stringify((await ann.get(`/projects/${id}/snippets/${snippet}`, { render_html: true })).body)
    },
  ],
]

test.each(PLACES)('%s with code that takes long leaves the thread to others', async (_what, prepare) => {
  const ask = await prepare()
  const { answer, stall } = await longestStall(ask)
  expect(answer).toContain('$$$')
  expect(stall).toBeLessThan(MOST)
})

test('a text that runs out of time is shown as it is written, and costs its time once', async () => {
  const ask = () => ann.post('/markdown', { text: endlessText })
  const { answer, stall } = await longestStall(ask)
  expect(answer.body.html).toMatch(/^<pre>Look:\n\n```csharp\na&lt;b&gt; a&lt;b&gt;/)
  expect(stall).toBeLessThan(MOST)
  const before = process.cpuUsage()
  for (let n = 0; n < 5; n++) expect((await ask()).body).toEqual(answer.body)
  // The deadline is one second each.
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(4_000)
})

test('a caller with many long texts does not hold up another', async () => {
  const eve = await forge.user({ username: 'eve' })
  let done = 0
  const flood = NUMBERS.slice(0, 12).map(async (n) => {
    await eve.post('/markdown', { text: `${n} *long* \`text\` #1 ${'of _many_ words '.repeat(6_000)}` })
    done++
  })
  const { status, body } = await ann.post('/markdown', { text: slowText(600) })
  expect([status, body.html.startsWith('<pre><code')]).toEqual([201, true])
  expect(done).toBeLessThan(6)
  await Promise.all(flood)
})
