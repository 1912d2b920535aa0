import { randomBytes } from 'node:crypto'
import { globSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { workspace } from '../workspace.ts'
import { Child, run, temporaryFolder, until } from './command.ts'
import { canCreateDisk, fillDisk, createDisk } from './small-disk.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
const FULL = '507 The disk of the server is full'
const MB = 1024 * 1024

test.runIf(canCreateDisk)('a disk that fills under load, and empties again', { timeout: 300_000 }, async () => {
  await using folder = await temporaryFolder()
  using _disk = createDisk(folder.path, '100m')
  await using work = await workspace()
  const MORTISE_DATA = join(folder.path, 'data')
  await mkdir(MORTISE_DATA)
  const settings = { MORTISE_DATA, MORTISE_PORT: '0', MORTISE_RATE_LIMIT: 'off', MORTISE_ROOT_TOKEN }
  const acknowledged: (() => Promise<boolean>)[] = []
  {
    await using child = new Child(['serve'], settings)
    const url = await child.url()
    const kinds = await startLoad(url, work, acknowledged)
    const all = Object.values(kinds.counts)
    const ballast = join(folder.path, 'ballast')
    for (let round = 0; round < 2; round++) {
      const since = all.map(({ done }) => done)
      await until(() => all.every(({ done }, at) => done > since[at]!) || kinds.odd.length > 0)
      await fillDisk(ballast)
      const before = all.map(({ refused }) => refused)
      await until(async () => {
        await fillDisk(ballast)
        return all.every(({ refused }, at) => refused > before[at]!) || kinds.odd.length > 0
      })
      expect((await fetch(`${url}/-/readiness`)).status).toBe(503)
      await rm(ballast)
    }
    const since = all.map(({ done }) => done)
    await until(() => all.every(({ done }, at) => done > since[at]!) || kinds.odd.length > 0)
    await kinds.stop()
    // A server that waits for data that the client no longer sends would hang for more than a minute.
    expect(kinds.slowest).toBeLessThan(30_000)
    expect(kinds.odd).toEqual([])
    for (const isThere of acknowledged) expect(await isThere()).toBe(true)
    expect(child.lines.logged.some(({ status }) => status === 507)).toBe(true)
    child.process.kill('SIGTERM')
    expect(await child.ended()).toBe(0)
    expect(child.stderr).toBe('')
  }
  expect(globSync('{spool,blobs/drafts}/*', { cwd: MORTISE_DATA })).toEqual([])
  // Temporary commit-graph files belong to git, and are swept later.
  expect(globSync('repositories/**/*.git/**/{*.lock,tmp_[!g]*}', { cwd: MORTISE_DATA })).toEqual([])
  expect(await run(['check'], { MORTISE_DATA })).toMatchObject({ code: 0, stderr: '' })
})

async function startLoad(
  url: string,
  work: Awaited<ReturnType<typeof workspace>>,
  acknowledged: (() => Promise<boolean>)[],
) {
  const api = `${url}/api/v4`
  const odd: string[] = []
  let slowest = 0
  let isOver = false
  const ask = async (path: string, body: unknown) => {
    const isForm = body instanceof FormData
    const answer = await fetch(api + path, {
      method: 'POST',
      headers: isForm ? HEADERS : { ...HEADERS, 'Content-Type': 'application/json' },
      body: isForm ? body : JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  }
  const isFound = async (path: string) => (await fetch(path, { headers: HEADERS })).status === 200
  await ask('/projects', { path: 'pushed' })
  await ask('/projects', { path: 'committed', initialize_with_readme: true })
  const { git } = work
  await git('init', '-q', '-b', 'trunk', 'src')
  const address = url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`) + '/root/pushed.git'

  /** Each is called repeatedly: null if it succeeded, else the answer. */
  const auditedCalls: Record<string, (number: number) => Promise<string | null>> = {
    async group(number) {
      const path = `group-${number}`
      const { status, text } = await ask('/groups', { name: path, path })
      if (status !== 201) return `${status} ${text}`
      acknowledged.push(() => isFound(`${api}/groups/${path}`))
      return null
    },
    async upload() {
      const form = new FormData()
      form.append('file', new Blob([randomBytes(200_000)]), 'some.bin')
      const { status, text } = await ask('/projects/root%2Fpushed/uploads', form)
      if (status !== 201) return `${status} ${text}`
      const { full_path } = JSON.parse(text) as { full_path: string }
      acknowledged.push(() => isFound(url + full_path))
      return null
    },
    async commit(number) {
      const file = `file-${number}.txt`
      const input = { branch: 'master', commit_message: 'More', content: randomBytes(20_000).toString('hex') }
      const { status, text } = await ask(`/projects/root%2Fcommitted/repository/files/${file}`, input)
      if (status !== 201) return `${status} ${text}`
      acknowledged.push(() => isFound(`${api}/projects/root%2Fcommitted/repository/files/${file}?ref=master`))
      return null
    },
    async push(number) {
      await writeFile(join(work.folder, 'src/file'), randomBytes(2 * MB))
      await git('-C', 'src', 'add', '-A')
      await git('-C', 'src', 'commit', '-qm', `Work ${number}`)
      const tip = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
      const { code, stderr } = await git('-C', 'src', 'push', '-q', address, 'HEAD:refs/heads/trunk')
      if (code !== 0) {
        await git('-C', 'src', 'reset', '-q', '--soft', 'HEAD~1')
        return stderr
      }
      acknowledged.push(() => isFound(`${api}/projects/root%2Fpushed/repository/commits/${tip}`))
      return null
    },
  }
  const counts = Object.fromEntries(Object.keys(auditedCalls).map((kind) => [kind, { done: 0, refused: 0 }]))
  const repeat = async ([kind, auditedCall]: [string, (number: number) => Promise<string | null>]) => {
    for (let number = 0; !isOver; number++) {
      const began = performance.now()
      const received = await auditedCall(number)
      slowest = Math.max(slowest, performance.now() - began)
      await sleep(20)
      if (received === null) counts[kind]!.done++
      else if (received.includes(FULL)) counts[kind]!.refused++
      else odd.push(`${kind}: ${received}`)
    }
  }
  const loops = Object.entries(auditedCalls).map((one) =>
    repeat(one).catch((error: unknown) => void odd.push(String(error))),
  )
  return {
    counts,
    odd,
    get slowest() {
      return slowest
    },
    async stop() {
      isOver = true
      await Promise.all(loops)
    },
  }
}
