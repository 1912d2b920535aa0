/**
 * Past denial-of-service attacks, run from outside against a started server while a probe checks every 20 ms whether it
 * responds. The target is 200 ms; the asserted limit is generous, as the machine may be busy. The table is printed.
 */
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { TestForge } from '../../src/forge.ts'
import { FLUSH, pktLine } from '../../src/git/protocol/pkt-line.ts'
import { TestRunner } from '../runners.ts'
import { workspace } from '../workspace.ts'
import { startCommand } from './command.ts'
import { Prober } from './prober.ts'

const MARK_MS = 200
/** Other load makes everything slower, which shows in the wait of the probe while nothing happens. */
const mostFor = (idle: number) => 2000 + 20 * idle
/** The attacker's own wait does not matter. */
const ATTACK_MS = 6000
/** The preparation is not cut off on a busy machine. */
const PREPARATION_MS = 60_000
const MORTISE_ROOT_TOKEN = 'attacks-token-0123456789'
const KB = 1024
const MB = 1024 * KB

// oxlint-disable-next-line no-explicit-any -- read as the test expects it
type Body = any

class Target {
  readonly url: string
  project = 0
  job = 0
  pipeline = 0
  issue = 0
  head = ''
  /** Whether a signed-in user was served while anonymous callers used all their slots. */
  isServed = false
  patience = PREPARATION_MS
  readonly sockets: Socket[] = []

  constructor(url: string) {
    this.url = url
  }

  async call(method: string, path: string, input?: unknown): Promise<Body> {
    const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
    const body = input === undefined ? null : JSON.stringify(input)
    const signal = AbortSignal.timeout(this.patience)
    const answer = await fetch(`${this.url}/api/v4${path}`, { method, headers, body, signal })
    const text = await answer.text()
    return { status: answer.status, ...(text.startsWith('{') ? JSON.parse(text) : {}) }
  }

  async page(path: string): Promise<number> {
    const signal = AbortSignal.timeout(this.patience)
    const answer = await fetch(this.url + path, { headers: { Accept: 'text/html' }, signal })
    await answer.arrayBuffer()
    return answer.status
  }

  /** Sends a request and never reads the answer. */
  unread(head: string, body: Buffer = Buffer.alloc(0)): void {
    const { hostname, port } = new URL(this.url)
    const socket = connect(Number(port), hostname).on('error', () => {})
    socket.write(Buffer.concat([Buffer.from(`${head}\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n`), body]))
    this.sockets.push(socket)
  }
}

const JUNIT = `<testsuite><testcase name="a"><${'a'.repeat(100_000)}</testcase></testsuite>`
const LOG = 'section_start:1:a['.repeat(10_000) + '\n' + `\u001b[${'38;5;1;'.repeat(10_000)}m\n`
const CODE = '```csharp\n' + 'class A { B<C<D<E '.repeat(550) + '\n```\n'
const LONG = '**a** [b](c) `d` _e_ <f> '.repeat(40_000)

async function prepare(target: Target): Promise<void> {
  const { id } = await target.call('POST', '/projects', { name: 'engine', visibility: 'public' })
  target.project = id
  const at = `/projects/${id}`
  await target.call('POST', `${at}/repository/files/.gitlab-ci.yml`, {
    branch: 'master',
    commit_message: 'CI',
    content: 'build: { script: x, artifacts: { reports: { junit: a.xml } } }',
  })
  await pushHistory(target)
  await runJob(target)
  const issue = await target.call('POST', `${at}/issues`, { title: 'Code' })
  target.issue = issue.iid
  for (let n = 0; n < 20; n++) await target.call('POST', `${at}/issues/${issue.iid}/notes`, { body: `${n}\n\n${CODE}` })
}

/**
 * Commit messages of a megabyte each, commits with very many parents, and a file larger than the buffers of a
 * connection.
 */
async function pushHistory(target: Target): Promise<void> {
  await using work = await workspace()
  const { hostname, port } = new URL(target.url)
  const address = `http://root:${MORTISE_ROOT_TOKEN}@${hostname}:${port}/root/engine.git`
  const git = (...args: string[]) => work.git('-C', 'src', ...args)
  await work.git('clone', '-q', address, 'src')
  await writeFile(join(work.folder, 'src', 'large'), randomBytes(24 * MB))
  await git('-c', 'core.compression=0', 'add', '.')
  await git('commit', '-qm', 'Large')
  target.head = (await git('rev-parse', 'HEAD')).stdout
  const tree = (await git('rev-parse', 'HEAD^{tree}')).stdout
  await writeFile(join(work.folder, 'message'), 'long words '.repeat(MB / 11))
  let tip = target.head
  for (let n = 0; n < 40; n++)
    tip = (await git('commit-tree', tree, '-p', tip, '-F', '../message', '-m', String(n))).stdout
  const person = 'A <a@example.com> 1700000000 +0000'
  const parents = `parent ${target.head}\n`.repeat(2000)
  let crowd = target.head
  for (let n = 0; n < 5; n++) {
    const text = `tree ${tree}\nparent ${crowd}\n${parents}author ${person}\ncommitter ${person}\n\nMany ${n}\n`
    await writeFile(join(work.folder, 'object'), text)
    crowd = (await git('hash-object', '-t', 'commit', '-w', '--literally', '../object')).stdout
  }
  const pushed = await git('push', '-q', address, 'HEAD:master', `${tip}:refs/heads/long`, `${crowd}:refs/heads/crowd`)
  expect(pushed).toMatchObject({ code: 0 })
}

async function runJob(target: Target): Promise<void> {
  const request = { runner_type: 'project_type', project_id: target.project, run_untagged: true }
  const runner = new TestRunner({ url: target.url } as TestForge, await target.call('POST', '/user/runners', request))
  const { body: job } = await runner.request()
  target.job = job.id
  await runner.patch(job, 0, LOG)
  const report = gzipSync(JUNIT)
  await runner.upload(job, report, '?artifact_type=junit&artifact_format=gzip', 'junit.xml.gz')
  await runner.put(job, { state: 'success' })
  const { pipeline } = await target.call('GET', `/projects/${target.project}/jobs/${job.id}`)
  target.pipeline = pipeline.id
  expect(target.pipeline).toBeGreaterThan(0)
}

const question = (head: string) =>
  Buffer.concat([pktLine('command=fetch\n'), Buffer.from('0001'), pktLine(`want ${head}\n`), pktLine('done\n'), FLUSH])

type Attack = (target: Target, at: string) => Promise<unknown>

const GIT_HEAD = 'Content-Type: application/x-git-upload-pack-request\r\nGit-Protocol: version=2'

const ATTACKS: readonly (readonly [string, Attack])[] = [
  ['nothing', () => sleep(500)],
  ['a JUnit report of one long tag', (t, at) => t.call('GET', `${at}/pipelines/${t.pipeline}/test_report_summary`)],
  ['the page of a hostile job log', (t) => t.page(`/root/engine/-/jobs/${t.job}`)],
  ['code blocks in 20 notes', (t) => t.page(`/root/engine/-/issues/${t.issue}`)],
  ['code blocks by POST /markdown', (t) => t.call('POST', '/markdown', { text: CODE.repeat(20) })],
  ['messages of 40 MB in compare', (t, at) => t.call('GET', `${at}/repository/compare?from=master&to=long`)],
  ['messages of 40 MB on a page', (t) => t.page('/root/engine/-/commits/long')],
  ['commits of 2,000 parents in the network', (t) => t.page('/root/engine/-/network/crowd')],
  ['a CI file of 1 MB at lint', (t, at) => t.call('POST', `${at}/ci/lint`, { content: ciFile() })],
  ['a form of 400,000 keys', (t, at) => postForm(t, at)],
  ['a description of 1 MB', (t, at) => t.call('POST', `${at}/issues`, { title: 'Long', description: LONG })],
  ['8 texts of 1 MB by POST /markdown', (t) => many(8, () => t.call('POST', '/markdown', { text: LONG }))],
  ['unread clones, archives and live connections', holdConnections],
  ['the deletion of a project with 200 issues', deleteProject],
]

const many = (count: number, work: (n: number) => Promise<unknown>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

const ciFile = () =>
  Array.from({ length: 9000 }, (_, n) => `job${n}:\n  script: [echo ${'x'.repeat(70)}]\n  needs: []\n`).join('')

async function postForm(target: Target, at: string): Promise<void> {
  const body = Array.from({ length: 400_000 }, (_, n) => n.toString(36)).join('&')
  const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/x-www-form-urlencoded' }
  const answer = await fetch(`${target.url}/api/v4${at}/issues`, { method: 'POST', headers, body })
  await answer.arrayBuffer()
}

/** Anonymous clients that read nothing; a signed-in user is still served. */
async function holdConnections(target: Target, at: string): Promise<void> {
  for (let n = 0; n < 40; n++) {
    target.unread(`POST /root/engine.git/git-upload-pack HTTP/1.1\r\n${GIT_HEAD}`, question(target.head))
    target.unread(`GET /api/v4${at}/repository/archive.tar?sha=master HTTP/1.1`)
    target.unread(`GET /api/v4${at}/live HTTP/1.1\r\nAccept: text/event-stream`)
  }
  await sleep(1000)
  const file = await fetch(`${target.url}/api/v4${at}/repository/files/.gitlab-ci.yml/raw?ref=master`, {
    headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN },
  })
  target.isServed = file.status === 200 && (await file.text()).startsWith('build:')
}

async function deleteProject(target: Target): Promise<void> {
  const { id } = await target.call('POST', '/projects', { name: 'crowded' })
  for (let n = 0; n < 10; n++)
    await many(20, (m) => target.call('POST', `/projects/${id}/issues`, { title: `Issue ${n} ${m}` }))
  await target.call('DELETE', `/projects/${id}`)
  const deadline = Date.now() + 10_000
  while ((await target.call('GET', `/projects/${id}`)).status !== 404 && Date.now() < deadline) await sleep(50)
}

test('nobody waits while a server is attacked', { timeout: 240_000 }, async () => {
  const command = await startCommand({ MORTISE_ROOT_TOKEN, MORTISE_RATE_LIMIT: 'off', MORTISE_LOG: 'silent' })
  const target = new Target(command.url)
  const rows: { attack: string; took: number; wait: number; mark: string }[] = []
  try {
    await prepare(target)
    await target.page('/root/engine')
    target.patience = ATTACK_MS
    await using prober = new Prober(command.url)
    for (const [attack, work] of ATTACKS) {
      await prober.longestWait()
      const startedAt = performance.now()
      // The attacker may be disconnected.
      await work(target, `/projects/${target.project}`).catch(() => {})
      const took = Math.round(performance.now() - startedAt)
      const wait = await prober.longestWait()
      rows.push({ attack, took, wait, mark: wait > MARK_MS ? 'over' : '' })
    }
  } finally {
    for (const socket of target.sockets) socket.destroy()
    await command.stop()
    // oxlint-disable-next-line no-console -- printing the table is the purpose of the run
    console.table(rows)
  }
  const [idle] = rows
  expect(rows).toHaveLength(ATTACKS.length)
  const slow = rows.filter(({ wait }) => wait > mostFor(idle!.wait))
  expect(slow).toEqual([])
  expect(target.isServed).toBe(true)
})
