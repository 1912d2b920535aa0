/** Large pages: most of the work runs in other threads, so that other requests do not wait. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillProject } from '../../test/contents.ts'
import { longestStall } from '../../test/effort.ts'
import { runJobByName } from '../../test/pipelines.ts'
import { startForge, type Person, type TestForge } from '../forge.ts'
import { drawPage, isLight } from './drawing.ts'
import type { Renderer } from './renderer.ts'

let forge: TestForge
let ann: Person
let path: string
let job: number
let issue: number
const repeated = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length)

beforeAll(async () => {
  forge = await startForge()
  ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ visibility: 'public', public_jobs: true, public_builds: true } as never, ann)
  path = `/${project.path_with_namespace}`
  const code = repeated('const a = "b" // c\n', 380_000)
  const config = { '.gitlab-ci.yml': 'build: { script: x }' }
  const small = { 'a.ts': 'let b\n', 'x.md': '# x', ...config }
  const files = { 'a.ts': code, 'x.md': repeated('# *a* `b` [c](d)\n', 150_000), ...config }
  await fillProject(forge, project.id, { files: small }, { files })
  const url = `/projects/${project.id}`
  await ann.post(`${url}/pipeline`, { ref: 'master' })
  const log = repeated('\u001b[31mred\u001b[0m section_start:1:a\r\u001b[0K some words\n', 2_000_000)
  job = (await runJobByName(forge, 'build', { log })).id
  await ann.post(`${url}/wikis`, { title: 'home', content: repeated('- [a](b) *c* #1\n', 150_000) })
  issue = (await forge.issue(project, { description: repeated('- [ ] @ann #1 **a**\n', 200_000) }, ann)).iid
  for (let n = 0; n < 30; n++)
    await forge.note({ project_id: project.id, iid: issue }, { body: repeated(`${n} *a* \`b\`\n\n`, 10_000) }, ann)
}, 120_000)
afterAll(() => forge.close())

const PAGES: [string, () => string][] = [
  ['a file', () => '/-/blob/master/a.ts'],
  ['a file of Markdown', () => '/-/blob/master/x.md'],
  ['a commit', () => '/-/commit/master'],
  ['the log of a job', () => `/-/jobs/${job}`],
  ['a page of a wiki', () => '/-/wikis/home'],
  ['an issue with many notes', () => `/-/issues/${issue}`],
  ['the network', () => '/-/network/master'],
]

test.each(PAGES)('%s', async (_what, address) => {
  const ask = async () => {
    const answer = await fetch(forge.url + path + address(), { headers: { Accept: 'text/html' } })
    return { status: answer.status, length: (await answer.text()).length }
  }
  // Loading and compiling happen once and are not measured.
  await ask()
  const { answer, stall } = await longestStall(ask)
  expect(answer.status).toBe(200)
  expect(stall).toBeLessThan(300)
})

test('a page with few data is drawn here, one with many in a thread', async () => {
  const module = new URL("data:text/javascript,export const perform = () => 'in a thread'")
  const renderer = { perform: async () => 'here', module } as Partial<Renderer> as Renderer
  const draw = (data: object) => drawPage(renderer, { key: 1, isAnonymous: false }, { data })
  expect([await draw({ text: 'few' }), await draw({ text: 'x'.repeat(100_000) })]).toEqual(['here', 'in a thread'])
})

test.each([
  ['a few values', { a: [1, 2, { b: null }] }, true],
  ['a text', { a: 'x'.repeat(900) }, true],
  ['a long text', { a: ['x'.repeat(2000)] }, false],
  ['many values', Array.from({ length: 100 }, () => 1), false],
  ['more values than could be looked at', Array.from({ length: 1_000_000 }, () => ''), false],
  ['many lines', '\n'.repeat(100), false],
])('%s: drawn here is %j', (_what, data, expected) => {
  expect(isLight(data, 1500)).toBe(expected)
})
