/** All caches together stay below their limit, whatever is asked for. */
import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../src/forge.ts'
import { fillProject } from './contents.ts'

const METRICS_TOKEN = 'for-the-watcher-only'
const MB = 1024 * 1024
const ROUNDS = 40
/** Each fills a part of the limit in a round. */
const LINES = 40

async function weightsOf({ app }: TestForge): Promise<{ limit: number; weights: Map<string, number> }> {
  const headers = { Authorization: `Bearer ${METRICS_TOKEN}` }
  const body = await (await fetch(`${app.url}/-/metrics`, { headers })).text()
  const limit = Number(/^mortise_cache_limit_bytes (\d+)$/m.exec(body)![1])
  const found = body.matchAll(/^mortise_cache_bytes\{cache="([^"]+)"\} (\d+)$/gm)
  return { limit, weights: new Map(Array.from(found, ([, name, weight]) => [name!, Number(weight)])) }
}

/** Other records, texts, files, folders and commits in every round. */
async function readRound(forge: TestForge, project: { id: number }, round: number): Promise<void> {
  const { administrator: person } = forge
  const at = `/projects/${project.id}`
  const text = Array.from({ length: LINES }, (_, n) => `line ${round} ${n} of a **text** with \`code\`\n\n`).join('')
  const { username } = await forge.user({ bio: text.slice(0, 200) })
  const { body: issue } = await person.post(`${at}/issues`, { title: `issue ${round}`, description: text })
  const answers = [
    await person.get(`/users?username=${username}`),
    await person.get(`${at}/issues/${issue.iid}`),
    await person.get(`${at}/issues?search=${username}`),
    await person.post('/markdown', { text }),
    await person.get(`${at}/repository/files/${encodeURIComponent(`folder${round}/file.ts`)}?ref=master`),
    await person.get(`${at}/repository/tree?path=folder${round}`),
    await person.get(`${at}/repository/commits?path=folder${round}`),
  ]
  for (const { status } of answers) expect(status).toBeLessThan(300)
}

test('the caches of a process share one limit in bytes', async () => {
  await using forge = await startForge({ settings: { CACHE_MEMORY: '1', METRICS_TOKEN } })
  const project = await forge.project()
  const line = (n: number) => `export const value${n} = ${n} // a line of a file that fills a cache\n`
  const files = Array.from({ length: ROUNDS }, (_, round) => [
    `folder${round}/file.ts`,
    Array.from({ length: 400 }, (_, n) => line(round * 1000 + n)).join(''),
  ])
  await fillProject(forge, project.id, { files: Object.fromEntries(files) })
  const filled = new Set<string>()
  let most = 0
  for (let round = 0; round < ROUNDS; round++) {
    await readRound(forge, project, round)
    const { limit, weights } = await weightsOf(forge)
    const sum = [...weights.values()].reduce((all, weight) => all + weight, 0)
    expect([limit, sum <= limit]).toEqual([MB, true])
    most = Math.max(most, sum)
    for (const [name, weight] of weights) if (weight > 0) filled.add(name)
  }
  expect(most).toBeGreaterThan(0.9 * MB)
  expect([...filled]).toEqual(
    expect.arrayContaining(['records', 'rows of users', 'rendered texts', 'git objects', 'commits of paths']),
  )
})
