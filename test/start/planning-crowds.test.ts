/** Many users plan at the same moment: numbers without a gap, one label per name, no write lost and no error. */
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
// One connection per request, so that both processes are used.
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN, 'Content-Type': 'application/json', Connection: 'close' }
const CALLS = 200
const server = testDatabaseUrl()

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, n) => n + from)

const OUTCOME = {
  issues: { statuses: { 201: CALLS }, iids: numbers(1, CALLS) },
  moves: { statuses: { 201: 20 }, iids: numbers(CALLS + 1, 20) },
  notes: { statuses: { 201: CALLS }, distinct: CALLS, counted: CALLS },
  labels: { statuses: { 201: 1, 409: CALLS - 1 }, listed: 1 },
  namedLabels: { statuses: { 200: 20 }, listed: ['bug', 'new'] },
  milestones: { statuses: { 201: 20 }, iids: numbers(1, 20) },
  votes: { statuses: { 201: 1, 404: 19 }, upvotes: 1 },
  openIssues: CALLS + 20,
  complaints: [],
}

test.for([
  ['one process', '1'],
  ['two processes', '2'],
] as const)('200 at once, %s', { timeout: 180_000 }, async ([, MORTISE_WORKERS]) => {
  const database = server ? await postgresDatabase(server) : null
  try {
    const settings = { MORTISE_WORKERS, ...(database && { MORTISE_DATABASE_URL: database.url }) }
    expect(await crowd(settings)).toEqual(OUTCOME)
  } finally {
    await database?.drop()
  }
})

interface Visible {
  readonly id: number
  readonly iid: number
  readonly labels: string[]
  readonly upvotes: number
  readonly user_notes_count: number
  readonly open_issues_count: number
}

async function crowd(settings: Record<`MORTISE_${string}`, string>) {
  await using folder = await temporaryFolder()
  const common = { MORTISE_DATA: folder.path, MORTISE_PORT: '0', MORTISE_ROOT_TOKEN }
  await using child = new Child(['serve'], { ...common, ...settings })
  const url = `${await child.url()}/api/v4`
  const call = async (method: string, path: string, input?: object) => {
    const answer = await fetch(url + path, { method, headers: HEADERS, ...(input && { body: JSON.stringify(input) }) })
    return { status: answer.status, body: (await answer.json()) as Visible }
  }
  const atOnce = async (count: number, ask: (n: number) => ReturnType<typeof call>) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, n) => ask(n)))
    const statuses = Object.fromEntries(
      Object.entries(Object.groupBy(answers, ({ status }) => status)).map(([status, of]) => [status, of!.length]),
    )
    const bodies = answers.filter(({ status }) => status < 300).map(({ body }) => body)
    return { statuses, bodies }
  }
  const iidsOf = (bodies: Visible[]) => bodies.map(({ iid }) => iid).toSorted((a, b) => a - b)

  const { body: project } = await call('POST', '/projects', { path: 'crowd' })
  const { body: other } = await call('POST', '/projects', { path: 'other' })
  const at = `/projects/${project.id}`
  const issues = await atOnce(CALLS, (n) => call('POST', `${at}/issues`, { title: `n${n}`, labels: 'bug' }))
  await atOnce(20, (n) => call('POST', `/projects/${other.id}/issues`, { title: `m${n}` }))
  const moves = await atOnce(20, (n) =>
    call('POST', `/projects/${other.id}/issues/${n + 1}/move`, { to_project_id: project.id }),
  )
  const notes = await atOnce(CALLS, (n) => call('POST', `${at}/issues/1/notes`, { body: `n${n}` }))
  const labels = await atOnce(CALLS, () => call('POST', `${at}/labels`, { name: 'one', color: '#111111' }))
  const listed = (await call('GET', `${at}/labels?per_page=100`)).body as unknown as { name: string }[]
  // A new label is created by the first request that names it.
  const named = await atOnce(20, (n) => call('PUT', `${at}/issues/${n + 1}`, { add_labels: 'new' }))
  const milestones = await atOnce(20, (n) => call('POST', `${at}/milestones`, { title: `v${n}` }))
  const votes = await atOnce(20, () => call('POST', `${at}/issues/1/award_emoji`, { name: 'thumbsup' }))
  const { body: first } = await call('GET', `${at}/issues/1`)
  return {
    issues: { statuses: issues.statuses, iids: iidsOf(issues.bodies) },
    moves: { statuses: moves.statuses, iids: iidsOf(moves.bodies) },
    notes: {
      statuses: notes.statuses,
      distinct: new Set(notes.bodies.map(({ id }) => id)).size,
      counted: first.user_notes_count,
    },
    labels: { statuses: labels.statuses, listed: listed.filter(({ name }) => name === 'one').length },
    namedLabels: { statuses: named.statuses, listed: first.labels },
    milestones: { statuses: milestones.statuses, iids: iidsOf(milestones.bodies) },
    votes: { statuses: votes.statuses, upvotes: first.upvotes },
    openIssues: (await call('GET', at)).body.open_issues_count,
    complaints: child.lines.logged.filter(({ level }) => Number(level) >= 40),
  }
}
