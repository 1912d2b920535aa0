import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder, until } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const server = testDatabaseUrl()

const pidsOf = (child: Child) =>
  child.lines.logged.filter((line) => line.msg === 'worker process is ready').map((line) => line.pid as number)

async function create(url: string, username: string): Promise<number> {
  const user = { username, name: username, email: `${username}@example.com`, password: 'long enough' }
  const answer = await fetch(`${url}/api/v4/users`, { method: 'POST', headers: HEADERS, body: JSON.stringify(user) })
  await answer.text()
  return answer.status
}

/** As counted by `/-/metrics`. */
async function createdUsers(url: string): Promise<number> {
  const text = await (await fetch(`${url}/-/metrics`, { headers: HEADERS })).text()
  expect(text).toContain('# TYPE mortise_store_queries_total counter')
  expect(text.match(/^mortise_jobs\{state="dead"\} 0$/gm)).toHaveLength(1)
  const count = /mortise_http_requests_total\{method="POST",route="\/api\/v4\/users",status="201"\} (\d+)/.exec(text)
  return Number(count?.[1])
}

/** Returns the exit code. */
async function killOneThenStop(settings: Record<`MORTISE_${string}`, string>) {
  await using folder = await temporaryFolder()
  const common = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2', MORTISE_ROOT_TOKEN }
  await using child = new Child(['serve'], { ...common, ...settings })
  const url = await child.url()
  const pids = pidsOf(child)
  expect(new Set(pids).size).toBe(2)
  expect(pids).not.toContain(child.process.pid)
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => create(url, `before${n}`)))
  expect(answers).toEqual(answers.map(() => 201))
  // Each request uses its own connection, so both processes were used; each knows the metrics of both.
  for (let asked = 0; asked < 4; asked++) expect(await createdUsers(url)).toBe(10)

  process.kill(pids[0]!, 'SIGKILL')
  await until(() => pidsOf(child).length === 3)
  expect(child.lines.logged).toContainEqual(
    expect.objectContaining({ level: 50, pid: pids[0], signal: 'SIGKILL', msg: 'worker process exited; restarting' }),
  )
  expect(await create(url, 'after')).toBe(201)

  child.process.kill('SIGTERM')
  const code = await child.ended()
  expect(child.stderr).toBe('')
  for (const pid of pidsOf(child)) expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  return code
}

test('several processes share one port, and one that dies is replaced', { timeout: 180_000 }, async () => {
  expect(await killOneThenStop({})).toBe(0)
})

test.runIf(server)('several processes over PostgreSQL', { timeout: 180_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    expect(await killOneThenStop({ MORTISE_DATABASE_URL: database.url })).toBe(0)
  } finally {
    await database.drop()
  }
})

test('when the first process is killed, no other is left behind', { timeout: 180_000 }, async () => {
  await using folder = await temporaryFolder()
  const settings = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2' }
  await using child = new Child(['serve'], settings)
  await child.url()
  const pids = pidsOf(child)
  child.process.kill('SIGKILL')
  await until(() => !pids.some(isAlive))
  expect(pids).toHaveLength(2)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
