/** Configurations at their size limit: other requests do not wait while they are compiled. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { longestStall } from '../../../../test/effort.ts'
import { startForge, type TestForge } from '../../../forge.ts'

const MEGABYTE = 1024 * 1024
const MOST_MS = 250

const filled = (piece: (n: number) => string, tail = ''): string => {
  const parts: string[] = []
  for (let n = 0, length = tail.length; ; n++) {
    const part = piece(n)
    if ((length += part.length) > MEGABYTE - 100) return parts.join('') + tail
    parts.push(part)
  }
}

const JOB = 'job: { script: [a] }\n'
const FILES: [string, string][] = [
  ['hidden keys', filled((n) => `.k${n}: {}\n`, JOB)],
  ['jobs that extend one', filled((n) => `j${n}: { extends: .base }\n`, '.base: { script: [a], tags: [b] }\n')],
]

let forge: TestForge
let project: { id: number }
beforeAll(async () => {
  forge = await startForge()
  project = await forge.project()
  await forge.seed(project, { 'README.md': 'x' })
  // Loads modules first, so that the measurement does not include that.
  await forge.administrator.post('/ci/lint', { content: filled((n) => `# ${n}\n`, JOB), include_jobs: true })
})
afterAll(() => forge.close())

test.each(FILES)('%s: checked without holding up others', async (_what, content) => {
  const { administrator } = forge
  const { stall } = await longestStall(async () => {
    const alone = await administrator.post('/ci/lint', { content, include_merged_yaml: true, include_jobs: true })
    expect(alone.status).toBe(200)
  })
  expect(stall).toBeLessThan(MOST_MS)
})

test('a long file with includes is compiled as a short one is', async () => {
  const { administrator } = forge
  const files = { 'more.yml': `${'# padding\n'.repeat(4000)}second: { script: [b], stage: test }\n` }
  await forge.seed(project, files, { branch: 'long' })
  const content = 'include: more.yml\nfirst:\n  script: [a]\n  rules: [{ exists: [README.md] }]\n'
  const answer = await administrator.post(`/projects/${project.id}/ci/lint`, {
    content,
    dry_run: true,
    include_jobs: true,
    ref: 'long',
  })
  expect(answer.body).toMatchObject({ valid: true, includes: [{ type: 'local', location: 'more.yml' }] })
  expect(answer.body.jobs.map(({ name }: { name: string }) => name)).toEqual(['second', 'first'])
  const fault = await administrator.post(`/projects/${project.id}/ci/lint`, {
    content: `${content}third: { script: [a], extends: .nowhere }\n`,
    ref: 'long',
  })
  expect(fault.body).toMatchObject({ valid: false, errors: [expect.stringContaining('third')] })
})

test('a push of a long file has its pipeline when it is answered', async () => {
  const content = `${filled((n) => `.k${n}: {}\n`)}job: { script: [a] }\n`
  const { stall } = await longestStall(() => forge.seed(project, { '.gitlab-ci.yml': content }))
  const { body } = await forge.administrator.get(`/projects/${project.id}/pipelines`)
  expect(body).toMatchObject([{ status: 'pending' }])
  expect(stall).toBeLessThan(MOST_MS)
})
