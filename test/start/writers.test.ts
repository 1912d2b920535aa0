import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
// One connection per request, so that both processes are used.
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const server = testDatabaseUrl()

const RUNNERS = 10
const JOBS = 50

/** Ids of the answered commits, and of the commits in the history; ids of the jobs that runners were given. */
async function writeAtOnce(settings: Record<`MORTISE_${string}`, string>) {
  await using folder = await temporaryFolder()
  const common = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2', MORTISE_ROOT_TOKEN }
  await using child = new Child(['serve'], { ...common, ...settings })
  const api = `${await child.url()}/api/v4`
  const url = `${api}/projects`
  const call = async (path: string, input?: object) => {
    const body = input && { method: 'POST', body: JSON.stringify(input) }
    const answer = await fetch(url + path, { headers: HEADERS, ...body })
    return { status: answer.status, body: (await answer.json()) as { id: string; message?: string } }
  }
  const { body: project } = await call('', { path: 'engine', initialize_with_readme: true })
  const commits = `/${project.id}/repository/commits`
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      call(commits, {
        branch: 'master',
        commit_message: `n${n}`,
        actions: [{ action: 'create', file_path: `n${n}`, content: 'x' }],
      }),
    ),
  )
  const history = (await call(`${commits}?per_page=100`)).body as unknown as { id: string }[]
  const given = await runAtOnce(api, async () => {
    const content = `a: { script: x, parallel: ${JOBS} }`
    const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content }]
    expect((await call(commits, { branch: 'master', commit_message: 'CI', actions })).status).toBe(201)
  })
  return {
    given,
    statuses: answers.map(({ status }) => status),
    made: answers.map(({ body }) => body.id),
    history: history.map(({ id }) => id),
  }
}

/** Runners that wait at each process until one of these creates jobs; then they take all jobs. */
async function runAtOnce(api: string, push: () => Promise<void>): Promise<number[]> {
  const post = (path: string, body: object) =>
    fetch(api + path, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) })
  const tokens: string[] = []
  for (let n = 0; n < RUNNERS; n++)
    tokens.push(((await (await post('/user/runners', { runner_type: 'instance_type' })).json()) as Token).token)
  const given: number[] = []
  const ask = async (token: string, last_update = '') => {
    const answer = await post('/jobs/request', { token, last_update })
    if (answer.status === 201) given.push(((await answer.json()) as { id: number }).id)
    return { status: answer.status, last_update: answer.headers.get('x-gitlab-last-update') ?? '' }
  }
  const idle = await Promise.all(tokens.map((token) => ask(token)))
  expect(idle.map(({ status }) => status)).toEqual(Array(RUNNERS).fill(204))
  // Held as long as the server holds any request, unless there are jobs: then each gets one of 50.
  const waiting = tokens.map((token, n) => ask(token, idle[n]!.last_update))
  await push()
  const first = await Promise.all(waiting)
  expect(first.every(({ status }) => status === 201 || status === 409)).toBe(true)
  await Promise.all(
    tokens.map(async (token) => {
      while ((await ask(token)).status !== 204);
    }),
  )
  return given
}

interface Token {
  token: string
}

test(
  'commits by two processes onto one branch all stay, and their jobs are run once',
  { timeout: 180_000 },
  async () => {
    const { statuses, made, history, given } = await writeAtOnce({})
    expect([given.length, new Set(given).size]).toEqual([JOBS, JOBS])
    expect(statuses).toEqual(Array(20).fill(201))
    expect(history).toHaveLength(21)
    expect(history).toEqual(expect.arrayContaining(made))
  },
)

test.runIf(server)('the same over PostgreSQL', { timeout: 180_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    const { statuses, made, history, given } = await writeAtOnce({ MORTISE_DATABASE_URL: database.url })
    expect([given.length, new Set(given).size]).toEqual([JOBS, JOBS])
    expect(statuses).toEqual(Array(20).fill(201))
    expect(history).toEqual(expect.arrayContaining(made))
  } finally {
    await database.drop()
  }
})
