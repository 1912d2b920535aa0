import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
// A connection each, so that both processes get their share.
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const server = testDatabaseUrl()

/** Ids of the commits that were answered, and of those in the history. */
async function writeAtOnce(settings: Record<`MORTISE_${string}`, string>) {
  await using folder = await temporaryFolder()
  const common = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_WORKERS: '2', MORTISE_ROOT_TOKEN }
  await using child = new Child(['serve'], { ...common, ...settings })
  const url = `${await child.url()}/api/v4/projects`
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
  return {
    statuses: answers.map(({ status }) => status),
    made: answers.map(({ body }) => body.id),
    history: history.map(({ id }) => id),
  }
}

test('commits by two processes onto one branch all stay', { timeout: 180_000 }, async () => {
  const { statuses, made, history } = await writeAtOnce({})
  expect(statuses).toEqual(Array(20).fill(201))
  expect(history).toHaveLength(21)
  expect(history).toEqual(expect.arrayContaining(made))
})

test.runIf(server)('the same over PostgreSQL', { timeout: 180_000 }, async () => {
  const database = await postgresDatabase(server!)
  try {
    const { statuses, made, history } = await writeAtOnce({ MORTISE_DATABASE_URL: database.url })
    expect(statuses).toEqual(Array(20).fill(201))
    expect(history).toEqual(expect.arrayContaining(made))
  } finally {
    await database.drop()
  }
})
