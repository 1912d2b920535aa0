import { expect, test } from 'vitest'
import { startPostgres } from '../../scripts/postgres.ts'
import { testDatabaseUrl } from '../../src/config.ts'
import { openStore } from '../../src/store/open.ts'
import { Child, temporaryFolder, until } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json' }
const OUTAGES = 12
const WRITERS = 6
const ANSWERS_BETWEEN = 10

test.runIf(testDatabaseUrl())('a database that ends at once, twelve times', { timeout: 300_000 }, async () => {
  // It must keep what it has acknowledged.
  await using postgres = await startPostgres({ synchronous_commit: 'on' })
  await using folder = await temporaryFolder()
  await using child = new Child(['serve'], {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_LOG: 'warn',
    MORTISE_RATE_LIMIT: 'off',
    MORTISE_ROOT_TOKEN,
    MORTISE_DATABASE_URL: postgres.url,
  })
  const url = await child.url()
  const load = startLoad(`${url}/api/v4`)
  for (let outage = 0; outage < OUTAGES; outage++) {
    const enough = load.made.length + ANSWERS_BETWEEN
    await until(() => load.made.length >= enough || load.odd.length > 0)
    await postgres.end()
    const refused = load.refusals
    await until(() => load.refusals > refused + WRITERS || load.odd.length > 0)
    await postgres.start()
  }
  await load.stop()

  expect(load.odd).toEqual([])
  expect(child.process.exitCode).toBeNull()
  const store = await openStore(postgres.url, { durable: true, shared: true, poolSize: 1 })
  const groups = await store.db
    .selectFrom('namespaces')
    .leftJoin('members', 'members.group_id', 'namespaces.id')
    .select(['path', 'members.user_id'])
    .where('namespaces.owner_id', 'is', null)
    .execute()
  await store.close()
  const paths = groups.map(({ path }) => path)
  expect(load.made.filter((path) => !paths.includes(path))).toEqual([])
  // A group and its owner are created together.
  expect(groups.filter(({ user_id }) => user_id === null)).toEqual([])
  child.process.kill('SIGTERM')
  expect(await child.ended()).toBe(0)
  expect(child.stderr).toBe('')
})

/** Writes and reads until it is stopped; any other result than an answer or a reported outage is odd. */
function startLoad(api: string) {
  let isOver = false
  const load = { made: [] as string[], odd: [] as string[], refusals: 0 }
  const note = (answer: string) => {
    if (answer === '503 {"message":"503 The database does not answer"}') load.refusals++
    else load.odd.push(answer)
  }
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(api + path, { headers: HEADERS, ...init })
    return { status: answer.status, text: await answer.text() }
  }
  const write = async (_: unknown, writer: number) => {
    for (let number = 0; !isOver; number++) {
      const path = `group-${writer}-${number}`
      const { status, text } = await ask('/groups', { method: 'POST', body: JSON.stringify({ name: path, path }) })
      if (status === 201) load.made.push(path)
      else note(`${status} ${text}`)
    }
  }
  const read = async () => {
    while (!isOver) {
      const { status, text } = await ask('/groups?per_page=5')
      if (status !== 200) note(`${status} ${text}`)
    }
  }
  const all = [...Array.from({ length: WRITERS }, write), read()]
  const work = Promise.all(all.map((one) => one.catch((error: unknown) => void load.odd.push(String(error)))))
  const stop = async () => {
    isOver = true
    await work
  }
  return Object.assign(load, { stop })
}
