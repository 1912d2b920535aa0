/** Large pages: a merge request with changes in 500 files, and a long log. */
import { existsSync } from 'node:fs'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { get, type IncomingMessage } from 'node:http'
import { alternately, type Bench } from './bench.ts'
import type { GitBench } from './git.ts'
import { blockingRequests, sent, size } from './pages.ts'
import { ADMINISTRATOR } from './seed.ts'
import { memoryDuring, memoryOutcome } from './servers.ts'
import { megabytes, ms, type Row } from './table.ts'

const KB = 1024
const MB = 1024 * KB
const FILES = 500
const REQUESTS = 20
const MOST_GROWTH = 64 * MB
const MOST_HTML = 100 * KB
const MOST_HEAP = 64 * MB
const MOST_NODES = 50_000
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path))

const PERSON = { 'PRIVATE-TOKEN': ADMINISTRATOR, Accept: 'text/html', 'Accept-Encoding': 'gzip' }

type Outcome = Omit<Row, 'what'>

const plain = (ours: string, target: string, met: boolean | null): Outcome => ({
  ours,
  floor: '',
  ratio: null,
  target,
  met,
})

async function ask<T>(url: string, method = 'GET', input?: object, headers: Record<string, string> = {}): Promise<T> {
  const answer = await fetch(url, {
    method,
    headers: { 'PRIVATE-TOKEN': ADMINISTRATOR, ...(input && { 'Content-Type': 'application/json' }), ...headers },
    ...(input && { body: JSON.stringify(input) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as T
}

/** Milliseconds until the first byte of an answer, which is read to its end. */
async function firstByte(url: string, headers: Record<string, string>): Promise<number> {
  const start = performance.now()
  const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage]
  const time = performance.now() - start
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
  for await (const _ of answer) continue
  return time
}

/**
 * Measures a page: its size, its requests, its time compared with the slowest of its calls, and the memory it leaves
 * behind.
 */
async function weigh(bench: Bench, { server }: GitBench, url: string, calls: readonly string[]): Promise<Row[]> {
  const page = await sent(url, PERSON)
  const blocking = blockingRequests(page.text)
  const token = { 'PRIVATE-TOKEN': ADMINISTRATOR }
  const all = async () => Math.max(...(await Promise.all(calls.map((call) => firstByte(call, token)))))
  const times = await alternately(bench.effort.rounds * 3, () => firstByte(url, PERSON), all)
  const memory = await memoryDuring(server, async () => {
    for (let n = 0; n < REQUESTS; n++) await sent(url, PERSON)
  })
  return [
    { what: 'HTML, packed', ...plain(size(page.bytes), '≤ 100 KB', page.bytes <= MOST_HTML) },
    { what: 'requests before the first paint', ...plain(String(blocking), '≤ 2', blocking <= 2) },
    {
      what: 'first byte, over that of its calls at once',
      ours: ms(times.ours),
      floor: ms(times.floor),
      ratio: times.ratio,
      target: '≤ 3',
      met: times.ratio <= 3,
    },
    {
      what: `memory of the server at ${REQUESTS} visits, over its start`,
      ...memoryOutcome(memory, MOST_GROWTH),
      target: 'flat, < 350 MB',
    },
  ]
}

/** A branch that changes that many files, and its merge request. */
async function proposeChanges({ git, address, api, work }: GitBench): Promise<{ iid: number; sha: string }> {
  await git('clone', '-q', '--depth=1', address, 'many')
  await mkdir(join(work, 'many/many'))
  for (let n = 0; n < FILES; n++)
    await writeFile(join(work, 'many/many', `file${n}.txt`), `A line of many.\n`.repeat(20 + (n % 20)))
  await git('-C', 'many', 'checkout', '-q', '-b', 'many')
  await git('-C', 'many', 'add', '.')
  await git('-C', 'many', 'commit', '-q', '-m', 'Many files')
  await git('-C', 'many', 'push', '-q', address, 'many')
  const input = { source_branch: 'many', target_branch: 'master', title: 'Many files' }
  const project = api.replace(/\/repository$/, '')
  return ask(`${project}/merge_requests`, 'POST', input)
}

export async function manyFilesRows(bench: Bench, git: GitBench, home: string): Promise<Row[]> {
  const { iid, sha } = await proposeChanges(git)
  const project = git.api.replace(/\/repository$/, '')
  const one = `${project}/merge_requests/${iid}`
  const common = [`http://127.0.0.1:${git.server.port}/api/v4/user`, project]
  const request = await weigh(bench, git, `${home}/-/merge_requests/${iid}/diffs`, [
    ...common,
    one,
    `${one}/diffs?per_page=20`,
    `${one}/discussions?per_page=100`,
    `${one}/draft_notes?per_page=100`,
    `${one}/approvals`,
    `${one}/versions?per_page=100`,
  ])
  const commit = `${git.api}/commits/${sha}`
  const single = await weigh(bench, git, `${home}/-/commit/${sha}`, [
    ...common,
    commit,
    `${commit}/diff?per_page=20`,
    `${commit}/refs?per_page=20`,
    `${commit}/merge_requests?per_page=5`,
  ])
  const named = (name: string) => (row: Row) => ({ ...row, what: `${name} of ${FILES} files: ${row.what}` })
  return [...request.map(named('changes of a merge request')), ...single.map(named('a commit'))]
}

const LINE = 100

/** Numbered, so that the last line and one in the middle are recognisable. */
const lineOf = (n: number) => `${String(n).padStart(8, '0')} ${'x'.repeat(LINE - 10)}\n`

async function writeLog({ server, api }: GitBench, length: number): Promise<{ job: number; lines: number }> {
  const host = `http://127.0.0.1:${server.port}/api/v4`
  const runner = await ask<{ token: string }>(`${host}/user/runners`, 'POST', { runner_type: 'instance_type' })
  const project = api.replace(/\/repository$/, '')
  const commit = { branch: 'log', start_branch: 'master', content: 'long: { script: make }', commit_message: 'Build' }
  await ask(`${project}/repository/files/.gitlab-ci.yml`, 'POST', commit)
  const job = await ask<{ id: number; token: string }>(`${host}/jobs/request`, 'POST', { token: runner.token })
  const each = 10_000
  const lines = Math.round((length * MB) / LINE / each) * each
  for (let from = 0; from < lines; from += each) {
    const body = Array.from({ length: each }, (_, n) => lineOf(from + n + 1)).join('')
    const start = from * LINE
    const headers = { 'JOB-TOKEN': job.token, 'Content-Range': `${start}-${start + body.length - 1}` }
    const answer = await fetch(`${host}/jobs/${job.id}/trace`, { method: 'PATCH', headers, body })
    if (!answer.ok) throw new Error(`the log is refused: ${answer.status} ${await answer.text()}`)
  }
  await ask(`${host}/jobs/${job.id}`, 'PUT', { token: job.token, state: 'success' })
  return { job: job.id, lines }
}

export async function longLogRows(bench: Bench, git: GitBench, home: string): Promise<Row[]> {
  const length = bench.effort.artifact / 20
  const { job, lines } = await writeLog(git, length)
  const project = git.api.replace(/\/repository$/, '')
  const url = `${home}/-/jobs/${job}`
  const middle = lineOf(lines / 2).slice(0, 8)
  const calls = [`http://127.0.0.1:${git.server.port}/api/v4/user`, project, `${project}/jobs/${job}`]
  const part = `${project}/jobs/${job}/trace_part`
  const opened = (await sent(url, PERSON)).text
  const searched = (await sent(`${url}?search=${middle}`, PERSON)).text
  const isThere = opened.includes(`id="L${lines}"`) && searched.includes(`#L${lines / 2}`)
  const rows = [
    ...(await weigh(bench, git, url, [...calls, part])),
    { what: 'its end is shown, a line in its middle found', ...plain(isThere ? 'yes' : 'no', 'yes', isThere) },
    ...(await searchRows(
      bench,
      git,
      `${url}?search=${middle}`,
      `${project}/jobs/${job}/trace_search?search=${middle}`,
    )),
    ...(await browserRows(url, lines)),
  ]
  return rows.map((row) => ({ ...row, what: `a log of ${length} MB: ${row.what}` }))
}

async function searchRows(bench: Bench, { server }: GitBench, url: string, call: string): Promise<Row[]> {
  let times = { ours: 0, floor: 0, ratio: 0 }
  const memory = await memoryDuring(server, async () => {
    const token = { 'PRIVATE-TOKEN': ADMINISTRATOR }
    times = await alternately(
      bench.effort.rounds,
      () => firstByte(url, PERSON),
      () => firstByte(call, token),
    )
  })
  return [
    {
      what: 'search, over its call',
      ours: ms(times.ours),
      floor: ms(times.floor),
      ratio: times.ratio,
      target: '≤ 3',
      met: times.ratio <= 3,
    },
    {
      what: 'memory of the server while searching, over its start',
      ...memoryOutcome(memory, MOST_GROWTH),
      target: 'flat, < 350 MB',
    },
  ]
}

/** Heap and elements of the page in a browser, after hydration and scrolling to the end. */
async function browserRows(url: string, lines: number): Promise<Row[]> {
  const what = 'heap and elements in the browser'
  const target = '≤ 64 MB, 50000'
  if (!CHROMIUM) return [{ what, ...plain('no browser', target, null) }]
  const { chromium } = await import('playwright-core')
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const context = await browser.newContext({ extraHTTPHeaders: { 'PRIVATE-TOKEN': ADMINISTRATOR } })
    const page = await context.newPage()
    await page.goto(url)
    await page.waitForSelector('html[data-ready]')
    await page.locator(`#L${lines}`).scrollIntoViewIfNeeded()
    const tools = await context.newCDPSession(page)
    await tools.send('Performance.enable')
    await tools.send('HeapProfiler.collectGarbage')
    const { metrics } = await tools.send('Performance.getMetrics')
    const metric = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0
    const [heap, nodes] = [metric('JSHeapUsedSize'), metric('Nodes')]
    return [{ what, ...plain(`${megabytes(heap)}, ${nodes}`, target, heap <= MOST_HEAP && nodes <= MOST_NODES) }]
  } finally {
    await browser.close()
  }
}
