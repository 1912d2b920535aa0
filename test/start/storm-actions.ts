/** The actions of the storm test's callers: something of every family, in one project. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Only pipelines requested through the API: commits create none. */
export const CONFIGURATION = `
workflow: { rules: [{ if: $CI_PIPELINE_SOURCE == "api" }] }
one: { script: [make] }
two: { script: [make], stage: deploy, environment: { name: production } }
`

export type Answer = { readonly status: number; readonly body: Record<string, never> }
export type Ask = (
  method: string,
  path: string,
  input?: object | string,
  headers?: Record<string, string>,
) => Promise<Answer>

/** The records that the callers have created so far. */
export class World {
  readonly issues: number[] = []
  readonly requests: number[] = []
  readonly milestones: number[] = []
  readonly snippets: number[] = []
  readonly labels = ['red', 'green', 'blue']
  readonly users: number[] = []
  readonly boards: number[] = []
  /** A runner token. */
  readonly runner: string
  names = 0

  constructor(runner: string) {
    this.runner = runner
  }
}

export interface Step {
  /** Calls below the project. */
  readonly ask: Ask
  readonly askAnywhere: Ask
  readonly world: World
  readonly pick: <T>(from: readonly T[]) => T | undefined
  readonly chance: (share: number) => boolean
  readonly user: number
  /** The push URL, the token, and a folder to push from. */
  readonly repository: { readonly url: string; readonly token: string; readonly folder: string }
}

type Action = (step: Step) => Promise<unknown>

/** Acts on one of the records created before, if there is one. */
const withOne =
  (
    kind: 'issues' | 'requests' | 'milestones' | 'snippets' | 'boards',
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

/** Acts as a runner: takes a job, writes its log, and finishes it. */
async function work({ askAnywhere, world, pick }: Step): Promise<void> {
  const { status, body } = await askAnywhere('POST', '/jobs/request', { token: world.runner })
  if (status !== 201) return
  const token = String(body['token'])
  const text = 'some output\n'
  const headers = { 'JOB-TOKEN': token, 'Content-Type': 'text/plain', 'Content-Range': `0-${text.length - 1}` }
  await askAnywhere('PATCH', `/jobs/${body['id']}/trace`, text, headers)
  await askAnywhere('PUT', `/jobs/${body['id']}`, { token, state: pick(['success', 'failed']) })
}

/** A new branch, with one more commit each time; throws git's error message. */
async function push({ repository: { url, token, folder } }: Step): Promise<void> {
  const git = (...args: string[]) =>
    run('git', ['-c', 'user.name=Storm', '-c', 'user.email=storm@example.com', '-C', folder, ...args])
  if (!existsSync(folder)) await run('git', ['init', '-q', folder])
  await git('commit', '-q', '--allow-empty', '-m', 'More')
  const target = url.replace('://', `://oauth2:${token}@`)
  await git('push', '-q', target, `HEAD:refs/heads/pushed-${folder.split('/').at(-1)}`)
}

export const actions: Record<string, Action> = {
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
  moveIssue: withOne('issues', ({ ask, chance }, iid) =>
    chance(0.3) ? ask('POST', `/issues/${iid}/move`, { to_project_id: 2 }) : Promise.resolve(),
  ),
  async deleteLabel({ ask, world, chance }) {
    if (chance(0.3) && world.labels.length > 3) await ask('DELETE', `/labels/${world.labels.pop()}`)
  },
  async deleteMilestone({ ask, world, chance }) {
    if (chance(0.3) && world.milestones.length > 1) await ask('DELETE', `/milestones/${world.milestones.pop()}`)
  },
  planIssue: withOne('issues', ({ ask, world, pick, chance }, iid) =>
    ask('PUT', `/issues/${iid}`, { milestone_id: chance(0.3) ? 0 : pick(world.milestones) }),
  ),
  async createBoard({ ask, world, pick }) {
    const { body } = await ask('POST', '/boards', { name: `Board ${++world.names}` })
    if (!body['id']) return
    world.boards.push(body['id'])
    const label = ((await ask('GET', `/labels/${pick(world.labels)}`)).body['id'] ?? 0) as number
    await ask('POST', `/boards/${body['id']}/lists`, { label_id: label })
  },
  readBoard: withOne('boards', ({ ask }, id) => ask('GET', `/boards/${id}/lists`)),
  wiki: ({ ask, world, pick, chance }) =>
    chance(0.5)
      ? ask('POST', '/wikis', { title: `Page ${++world.names}`, content: 'Text' })
      : ask('GET', pick(['/wikis', '/wikis?with_content=1'])!),
  release: ({ ask, world }) => {
    const name = `v${++world.names}`
    return ask('POST', '/releases', { tag_name: name, name, description: 'New', ref: 'master' })
  },
  group: ({ askAnywhere, world, pick }) => {
    const name = `group${++world.names}`
    return pick([
      () => askAnywhere('POST', '/groups/storms/labels', { name, color: '#123456' }),
      () => askAnywhere('POST', '/groups/storms/milestones', { title: name }),
      () => askAnywhere('POST', '/projects', { path: name, initialize_with_readme: true }),
      () => askAnywhere('GET', '/groups/storms?with_projects=true'),
      () => askAnywhere('PUT', '/groups/storms', { description: name }),
    ])!()
  },
  pipeline: ({ ask }) => ask('POST', '/pipeline', { ref: 'master' }),
  runJob: work,
  runAnotherJob: work,
  jobs: ({ ask, pick }) => ask('GET', pick(['/jobs', '/jobs?scope[]=pending', '/runners'])!),
  push,
}
