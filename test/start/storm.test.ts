/**
 * Ten callers do random things in one project, served by two processes. `MORTISE_STORM_SEED` repeats a run,
 * `MORTISE_STORM_SECONDS` makes it longer.
 */
import { sql } from 'kysely'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../src/config.ts'
import type { Db } from '../../src/store/database.ts'
import { openStore } from '../../src/store/open.ts'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder } from './command.ts'

const MORTISE_ROOT_TOKEN = 'a-root-token-of-tests'
const CALLERS = 10
const STEPS = 40
const SEED = Number(process.env['MORTISE_STORM_SEED'] ?? Date.now() % 1_000_000)
const SECONDS = Number(process.env['MORTISE_STORM_SECONDS'] ?? 0)

/** Numbers from 0 to 1 in an order that the seed fixes (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

type Answer = { readonly status: number; readonly body: Record<string, never> }
type Ask = (method: string, path: string, input?: object) => Promise<Answer>

/** What the callers have made so far. */
class World {
  readonly issues: number[] = []
  readonly requests: number[] = []
  readonly milestones: number[] = []
  readonly snippets: number[] = []
  readonly labels = ['red', 'green', 'blue']
  readonly users: number[] = []
  names = 0
}

interface Step {
  readonly ask: Ask
  readonly world: World
  readonly pick: <T>(from: readonly T[]) => T | undefined
  readonly chance: (share: number) => boolean
  readonly user: number
}

type Action = (step: Step) => Promise<unknown>

/** Does something with one of those made before, if there is one. */
const withOne =
  (
    kind: 'issues' | 'requests' | 'milestones' | 'snippets',
    act: (step: Step, id: number) => Promise<unknown>,
  ): Action =>
  async (step) => {
    const id = step.pick(step.world[kind])
    if (id !== undefined) await act(step, id)
  }

const commit = (branch: string, start: string, name: string) => ({
  branch,
  ...(branch !== start && { start_branch: start }),
  commit_message: name,
  actions: [{ action: 'create', file_path: `${name}.txt`, content: name }],
})

const actions: Record<string, Action> = {
  async createIssue({ ask, world, pick, chance, user }) {
    const input = {
      title: `Issue ${++world.names}`,
      confidential: chance(0.2),
      labels: chance(0.6) ? pick(world.labels) : undefined,
      milestone_id: chance(0.3) ? pick(world.milestones) : undefined,
      assignee_ids: chance(0.3) ? [user] : undefined,
    }
    const { body } = await ask('POST', '/issues', input)
    if (body['iid']) world.issues.push(body['iid'])
  },
  updateIssue: withOne('issues', ({ ask, world, pick, chance }, iid) =>
    ask('PUT', `/issues/${iid}`, {
      ...(chance(0.5) && { state_event: pick(['close', 'reopen']) }),
      ...(chance(0.3) && { confidential: chance(0.5) }),
      ...(chance(0.5) && { add_labels: pick(world.labels) }),
      ...(chance(0.3) && { remove_labels: pick(world.labels) }),
      title: `Issue again ${++world.names}`,
    }),
  ),
  deleteIssue: withOne('issues', ({ ask, chance }, iid) =>
    chance(0.3) ? ask('DELETE', `/issues/${iid}`) : Promise.resolve(),
  ),
  readIssue: withOne('issues', ({ ask }, iid) => ask('GET', `/issues/${iid}`)),
  noteOnIssue: withOne('issues', ({ ask, pick, world }, iid) =>
    ask('POST', `/issues/${iid}/notes`, { body: `See #${pick(world.issues)} and ~${pick(world.labels)}` }),
  ),
  awardOnIssue: withOne('issues', ({ ask, pick }, iid) =>
    ask('POST', `/issues/${iid}/award_emoji`, { name: pick(['thumbsup', 'thumbsdown', 'tada']) }),
  ),
  linkIssues: withOne('issues', ({ ask, pick, world }, iid) =>
    ask('POST', `/issues/${iid}/links`, { target_project_id: 1, target_issue_iid: pick(world.issues) }),
  ),
  timeOnIssue: withOne('issues', ({ ask }, iid) => ask('POST', `/issues/${iid}/add_spent_time`, { duration: '5m' })),
  subscribe: withOne('issues', ({ ask, pick }, iid) =>
    ask('POST', `/issues/${iid}/${pick(['subscribe', 'unsubscribe'])}`),
  ),
  todo: withOne('issues', ({ ask }, iid) => ask('POST', `/issues/${iid}/todo`)),
  lists: ({ ask, pick }) =>
    ask(
      'GET',
      pick(['/issues', '/merge_requests', '/labels?with_counts=true', '/milestones', '/events', '/pipelines'])!,
    ),
  readProject: ({ ask }) => ask('GET', ''),
  updateProject: ({ ask, world }) => ask('PUT', '', { description: `Described ${++world.names}` }),
  star: ({ ask, pick }) => ask('POST', pick(['/star', '/unstar'])!),
  async createLabel({ ask, world }) {
    const name = `label${++world.names}`
    if ((await ask('POST', '/labels', { name, color: '#123456' })).status === 201) world.labels.push(name)
  },
  updateLabel: ({ ask, world, pick, chance }) =>
    ask('PUT', `/labels/${pick(world.labels)}`, { priority: chance(0.5) ? 1 : null, description: `${++world.names}` }),
  async createMilestone({ ask, world }) {
    const { body } = await ask('POST', '/milestones', { title: `Milestone ${++world.names}`, due_date: '2027-01-01' })
    if (body['id']) world.milestones.push(body['id'])
  },
  updateMilestone: withOne('milestones', ({ ask, pick }, id) =>
    ask('PUT', `/milestones/${id}`, { due_date: pick(['2027-02-01', '2027-03-01', null]) }),
  ),
  async createSnippet({ ask, world }) {
    const input = { title: `Snippet ${++world.names}`, visibility: 'private', file_name: 'a.txt', content: 'x' }
    const { body } = await ask('POST', '/snippets', input)
    if (body['id']) world.snippets.push(body['id'])
  },
  noteOnSnippet: withOne('snippets', ({ ask }, id) => ask('POST', `/snippets/${id}/notes`, { body: 'Read' })),
  commit: ({ ask, world }) => ask('POST', '/repository/commits', commit('master', 'master', `file${++world.names}`)),
  async createRequest({ ask, world, pick }) {
    const name = `change${++world.names}`
    await ask('POST', '/repository/commits', commit(name, 'master', name))
    const input = { source_branch: name, target_branch: 'master', title: `Closes #${pick(world.issues)} ${name}` }
    const { body } = await ask('POST', '/merge_requests', input)
    if (body['iid']) world.requests.push(body['iid'])
  },
  updateRequest: withOne('requests', ({ ask, pick, world, chance }, iid) =>
    ask('PUT', `/merge_requests/${iid}`, {
      ...(chance(0.3) && { state_event: pick(['close', 'reopen']) }),
      add_labels: pick(world.labels),
    }),
  ),
  noteOnRequest: withOne('requests', ({ ask }, iid) =>
    ask('POST', `/merge_requests/${iid}/notes`, { body: `Looks good, @user1` }),
  ),
  approveRequest: withOne('requests', ({ ask, pick }, iid) =>
    ask('POST', `/merge_requests/${iid}/${pick(['approve', 'unapprove'])}`),
  ),
  mergeRequest: withOne('requests', ({ ask }, iid) => ask('PUT', `/merge_requests/${iid}/merge`)),
  member: ({ ask, pick, world }) => ask('PUT', `/members/${pick(world.users)}`, { access_level: pick([30, 40]) }),
  variable: ({ ask, world }) => ask('POST', '/variables', { key: `KEY_${++world.names}`, value: 'some value' }),
  hook: ({ ask, world }) => ask('POST', '/hooks', { url: `http://127.0.0.1:9/${++world.names}`, issues_events: true }),
  branch: ({ ask, world }) => ask('POST', '/repository/branches', { branch: `branch${++world.names}`, ref: 'master' }),
}

/** Answers that are faults, and how many there were in all. */
async function storm(api: string) {
  const faults: string[] = []
  let answers = 0
  const askAs =
    (token: string): Ask =>
    async (method, path, input) => {
      const answer = await fetch(`${api}${path}`, {
        method,
        headers: { 'PRIVATE-TOKEN': token, 'Content-Type': 'application/json', Connection: 'close' },
        ...(input && { body: JSON.stringify(input) }),
      })
      const text = await answer.text()
      answers++
      if (answer.status >= 500) faults.push(`${method} ${path} ${answer.status} ${text}`)
      return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : {} }
    }
  const root = askAs(MORTISE_ROOT_TOKEN)
  expect((await root('POST', '/projects', { path: 'storm', initialize_with_readme: true })).body['id']).toBe(1)
  const world = new World()
  const tokens: string[] = []
  for (let n = 1; n <= CALLERS; n++) {
    const username = `user${n}`
    const input = { username, name: username, email: `${username}@example.com`, password: 'a long password' }
    const id = Number((await root('POST', '/users', { ...input, skip_confirmation: true })).body['id'])
    const request = {
      name: 'storm',
      scopes: ['api'],
      expires_at: new Date(Date.now() + 86_400_000).toJSON().slice(0, 10),
    }
    tokens.push(String((await root('POST', `/users/${id}/personal_access_tokens`, request)).body['token']))
    await root('POST', '/projects/1/members', { user_id: id, access_level: 40 })
    world.users.push(id)
  }
  for (const name of world.labels) await root('POST', '/projects/1/labels', { name, color: '#ff0000' })
  const names = Object.keys(actions)
  const end = performance.now() + SECONDS * 1000
  const callers = tokens.map(async (token, n) => {
    const random = randomFrom(SEED + n)
    const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)]
    const ask = askAs(token)
    const inProject: Ask = (method, path, input) => ask(method, `/projects/1${path}`, input)
    const step: Step = { ask: inProject, world, pick, chance: (share) => random() < share, user: world.users[n]! }
    for (let count = 0; SECONDS > 0 ? performance.now() < end : count < STEPS; count++)
      await actions[pick(names)!]!(step)
  })
  await Promise.all(callers)
  return { faults, answers }
}

/** Counts that are kept, beside the rows they count: none may differ. */
async function countFaults(db: Db): Promise<string[]> {
  const kept = {
    'open issues': sql`select id, (select cast(coalesce(sum(total), 0) as bigint) from issues_facets f
      where f.project_id = p.id and f.state = 'opened' and not f.confidential) as kept,
      (select count(*) from issues i where i.project_id = p.id and i.state = 'opened' and not i.confidential) as counted
      from projects p`,
    stars: sql`select id, star_count as kept, (select count(*) from stars s where s.project_id = p.id) as counted
      from projects p`,
    'notes of issues': sql`select id, user_notes_count as kept, (select count(*) from notes n where n.issue_id = i.id
      and not n.system and not n.internal) as counted from issues i`,
    'notes of merge requests': sql`select id, user_notes_count as kept, (select count(*) from notes n
      where n.merge_request_id = m.id and not n.system and not n.internal) as counted from merge_requests m`,
    'issues in all': sql`select 1 as id, cast(coalesce(sum(total), 0) as bigint) as kept,
      (select count(*) from issues) as counted from issues_facets`,
    'merge requests in all': sql`select 1 as id, cast(coalesce(sum(total), 0) as bigint) as kept,
      (select count(*) from merge_requests) as counted from merge_requests_facets`,
    'votes of issues': sql`select id, upvotes as kept, (select count(*) from award_emoji a where a.issue_id = i.id
      and a.name = 'thumbsup') as counted from issues i`,
    'issue numbers': sql`select project_id as id, count(*) as kept, count(distinct iid) as counted from issues
      group by project_id`,
  }
  const faults: string[] = []
  for (const [name, query] of Object.entries(kept))
    for (const row of (await query.execute(db)).rows as { id: number; kept: number; counted: number }[])
      if (row.kept !== row.counted) faults.push(`${name} of ${row.id}: ${row.kept} kept, ${row.counted} counted`)
  return faults
}

const server = testDatabaseUrl()

test(`ten callers in one project, seed ${SEED}`, { timeout: 180_000 + SECONDS * 1000 }, async () => {
  await using folder = await temporaryFolder()
  const database = server ? await postgresDatabase(server) : null
  const settings = {
    MORTISE_DATA: folder.path,
    MORTISE_PORT: '0',
    MORTISE_WORKERS: '2',
    MORTISE_LOG: 'warn',
    MORTISE_RATE_LIMIT: 'off',
    MORTISE_ROOT_TOKEN,
    ...(database && { MORTISE_DATABASE_URL: database.url }),
  } as const
  let outcome
  {
    await using child = new Child(['serve'], settings)
    outcome = await storm(`${await child.url()}/api/v4`)
    child.process.kill('SIGTERM')
    expect(await child.ended()).toBe(0)
    expect(outcome.answers).toBeGreaterThan(CALLERS)
    expect(outcome.faults, child.stdout.slice(-4000)).toEqual([])
  }
  const store = await openStore(database?.url ?? join(folder.path, 'mortise.sqlite'), {
    durable: false,
    shared: true,
    poolSize: 1,
  })
  expect(await countFaults(store.db)).toEqual([])
  const deadlocks = database
    ? await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database where datname = current_database()`
        .execute(store.db)
        .then(({ rows }) => rows[0]!.deadlocks)
    : 0
  await store.close()
  expect(await run(['check'], settings)).toMatchObject({ code: 0, stderr: '' })
  expect(deadlocks).toBe(0)
  await database?.drop()
})
