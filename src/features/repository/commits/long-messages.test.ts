/** Commit messages compress well: a small push can contain hundreds of megabytes of them. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { processesOf, type BuiltCommit } from '../../../../test/git-builder.ts'
import { fillProject } from '../../../../test/contents.ts'
import { startForge, type Person, type TestForge } from '../../../forge.ts'
import { runGit } from '../../../../test/git-origin.ts'

const MB = 1024 * 1024
const COMMITS = 40
const BRANCHES = 60

let forge: TestForge
let owner: Person
let dir: string
let base: string

const words = (n: number) => `Word ${n}\n\n${'words of a long message '.repeat(50_000)}`
const text = (n: number) => Array.from({ length: 400 }, (_, line) => (line % 2 === 0 ? 'same' : `line ${n}`)).join('\n')

beforeAll(async () => {
  forge = await startForge()
  owner = await forge.user()
  const project = await forge.project({ path: 'tower' }, owner)
  base = `/projects/${project.id}`
  const first: BuiltCommit = { message: 'First', files: { a: text(0), b: 'b' } }
  const long = Array.from({ length: COMMITS }, (_, n) => ({
    branch: 'topic',
    message: words(n),
    files: { a: text(n) },
  }))
  dir = await fillProject(forge, project.id, first, { ...long[0], from: 'refs/heads/master' }, ...long.slice(1))
  const creations = Array.from({ length: BRANCHES }, (_, n) => `create refs/heads/b${n} refs/heads/topic\n`)
  await runGit([`--git-dir=${dir}`, 'update-ref', '--stdin'], Buffer.from(creations.join('')))
})
afterAll(() => forge[Symbol.asyncDispose]())

test.each([
  ['compare', '/repository/compare', { from: 'master', to: 'topic' }, (body: Visible) => body.commits.length, COMMITS],
  ['commits', '/repository/commits', { ref_name: 'topic', per_page: 100 }, lengthOf, COMMITS + 1],
  ['branches', '/repository/branches', { per_page: 100 }, lengthOf, BRANCHES + 2],
  ['blame', '/repository/files/a/blame', { ref: 'topic' }, lengthOf, 400],
  ['a search', '/search', { scope: 'commits', search: 'words', ref: 'topic', per_page: 100 }, lengthOf, COMMITS],
] as const)('%s tells of all commits, in an answer of a few megabytes', async (_what, path, input, count, expected) => {
  let answer: { status: number; body: unknown } | undefined
  const processes = await processesOf(async () => (answer = await owner.get(base + path, input)))
  expect(answer!.status).toBe(200)
  expect(count(answer!.body as never)).toBe(expected)
  expect(JSON.stringify(answer!.body).length).toBeLessThan(12 * MB)
  expect(JSON.stringify(answer!.body)).toContain('[message cut]')
  expect(processes.length).toBeLessThan(8)
})

interface Visible {
  readonly commits: readonly unknown[]
}
function lengthOf(body: readonly unknown[]): number {
  return body.length
}

test('a commit that is asked for alone has all of its message, and a title of one line at most', async () => {
  const { body } = await owner.get(`${base}/repository/commits/topic`)
  const message = words(COMMITS - 1)
  expect(message.length).toBeGreaterThan(MB)
  expect(body.message.slice(0, MB)).toBe(message.slice(0, MB))
  expect(body.message).toHaveLength(MB + '\n\n[message cut]\n'.length)
  expect(body.title).toBe(`Word ${COMMITS - 1}`)
  const few = await owner.get(`${base}/repository/commits`, { ref_name: 'topic', per_page: 1 })
  expect(few.body[0].message).toBe(body.message)
})
