import { expect, test } from 'vitest'
import { findJobByName, keepFiles, runJobByName } from '../../../../test/pipelines.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const CONFIG = `
stages: [build, test]
compile: { stage: build, script: make }
other: { stage: build, script: make }
check: { stage: test, script: make check, needs: [compile] }
lint: { stage: test, script: make lint }
`

async function begun(forge: TestForge, config = CONFIG) {
  const owner = await forge.user()
  const project = await forge.project({}, owner)
  await forge.seed(project, { '.gitlab-ci.yml': config })
  return { owner, at: (path: string) => `/projects/${project.id}${path}` }
}

const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `line ${from + n}\n`).join('')

test('a short log is one part, and what follows is asked for by the byte', async () => {
  await using forge = await startForge()
  const { owner, at } = await begun(forge)
  const { id } = await runJobByName(forge, 'compile', { log: 'a\nb\nc' })
  const part = async (input: Record<string, unknown>) => (await owner.get(at(`/jobs/${id}/trace_part`), input)).body
  expect(await part({})).toEqual({ start: 0, end: 5, size: 5, line: 1, content: 'a\nb\nc' })
  expect(await part({ line: 2 })).toEqual({ start: 2, end: 5, size: 5, line: 2, content: 'b\nc' })
  expect(await part({ start: 4 })).toEqual({ start: 4, end: 5, size: 5, line: null, content: 'c' })
  expect(await part({ start: 5 })).toEqual({ start: 5, end: 5, size: 5, line: null, content: '' })
  expect(await part({ line: 9 })).toMatchObject({ line: 1, content: 'a\nb\nc' })
  const none = await findJobByName(forge, 'other')
  expect((await owner.get(at(`/jobs/${none.id}/trace_part`))).body).toMatchObject({ size: 0, line: 1, content: '' })
})

test('a long log is told in bounded parts of whole lines', async () => {
  await using forge = await startForge()
  const { owner, at } = await begun(forge)
  const log = lines(1, 100_000)
  const { id } = await runJobByName(forge, 'compile', { log })
  const part = async (input: Record<string, unknown>) => (await owner.get(at(`/jobs/${id}/trace_part`), input)).body
  expect(await part({})).toMatchObject({
    size: log.length,
    end: log.length,
    line: 99_001,
    content: lines(99_001, 100_000),
  })
  expect(await part({ line: 10 })).toMatchObject({ line: 10, content: lines(10, 1009) })
  const { start, end } = await part({ line: 60_000 })
  expect(log.slice(start, start + 10)).toBe('line 60000')
  expect((await part({ start: end })).content).toBe(lines(61_000, 65_999))
})

test('lines with a text, without the colours', async () => {
  await using forge = await startForge()
  const { owner, at } = await begun(forge)
  const { id } = await runJobByName(forge, 'compile', { log: `a\n\u001b[31mBro\u001b[0mken\n${'x\n'.repeat(200)}` })
  const find = async (search: string) => (await owner.get(at(`/jobs/${id}/trace_search`), { search })).body
  expect(await find('broken')).toEqual({ matches: [{ line: 2, text: 'Broken' }], more: false })
  expect(await find('nowhere')).toEqual({ matches: [], more: false })
  const many = await find('x')
  expect([many.matches.length, many.matches[0], many.more]).toEqual([100, { line: 3, text: 'x' }, true])
})

test('a folder of artifacts', async () => {
  await using forge = await startForge()
  const { owner, at } = await begun(forge)
  const job = await runJobByName(forge, 'compile', { isLeftRunning: true })
  const tree = (path: string) => owner.get(at(`/jobs/${job.id}/artifacts_tree`), { path })
  expect((await tree('')).status).toBe(404)
  await keepFiles(forge, job, { 'z.txt': 'four', 'out/a.txt': 'ab', 'out/deep/b.txt': 'c' })
  expect((await tree('')).body).toEqual([
    { name: 'out', path: 'out', type: 'tree', size: 3 },
    { name: 'z.txt', path: 'z.txt', type: 'blob', size: 4 },
  ])
  expect((await tree('out/')).body).toMatchObject([
    { path: 'out/deep', type: 'tree' },
    { path: 'out/a.txt', type: 'blob' },
  ])
  expect((await tree('nowhere')).status).toBe(404)
})

test('stages with what each job waits for', async () => {
  await using forge = await startForge()
  const { owner, at } = await begun(forge)
  const { body } = await owner.get(at('/pipelines/1/graph'))
  expect(body).toMatchObject({
    upstream: null,
    stages: [
      { name: 'build', jobs: [{ name: 'compile', kind: 'job', needs: null }, { name: 'other' }] },
      {
        name: 'test',
        jobs: [
          { name: 'check', needs: ['compile'] },
          { name: 'lint', needs: null },
        ],
      },
    ],
  })
})
