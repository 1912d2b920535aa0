/**
 * A whole forge inside a test process, started in well under a second: `import { startForge } from 'mortise'`. It lives
 * in a temporary folder (in memory if the system has such a folder) and is deleted when it is closed. Our own test
 * suite uses it too. It is in `src`, not in `test`, because it is part of the product.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serve, openApp, type Forge as RunningForge } from './app.ts'
import { BadSetting, CannotStart, readConfig, settings, testDatabaseUrl, variableOf, type Config } from './config.ts'
import type { App } from './context.ts'
import { Refusal } from './errors.ts'
import { startEmbeddedRunner, type EmbeddedRunner } from './features/ci/runners/embedded.ts'
import { createFirstAdministrator } from './features/identity/users/first-administrator.ts'
import { createUser } from './features/identity/users/service.ts'
import { findUser } from './features/identity/users/queries.ts'
import { currentSettings } from './features/instance/settings/queries.ts'
import { updateSettings } from './features/instance/settings/service.ts'
import type { GroupDetails } from './features/groups/groups/entity.ts'
import type { IssueRecord } from './features/planning/issues/entity.ts'
import type { LabelRecord } from './features/planning/labels/entity.ts'
import type { NoteRecord } from './features/planning/notes/entity.ts'
import type { MergeRequestDetail } from './features/merge-requests/merge-requests/entity.ts'
import type { SnippetRecord } from './features/planning/snippets/entity.ts'
import type { MilestoneRecord } from './features/planning/milestones/entity.ts'
import type { ProjectRecord } from './features/projects/projects/entity.ts'
import { Client, Person } from './forge/client.ts'
import { TestClock } from './forge/clock.ts'
import { FaultLog } from './forge/faults.ts'
import { runGit } from './forge/git.ts'
import { MailLog } from './forge/mail.ts'
import { Receiver } from './forge/receiver.ts'
import { RequestLog } from './forge/requests.ts'
import type * as door from './forge/types.ts'
import type { Mail } from './mail/mailer.ts'
import { makeTemporaryFolder, sweepTemporaryFolders } from './lib/files/temporary-folder.ts'
import { randomHex, randomToken } from './lib/crypto/secrets.ts'
import { forgetEvents } from './store/outbox.ts'
import { reasonOf } from './store/reason.ts'
import { postgresTemplate, sqliteTemplate, type CopiedDatabase, type Template } from './store/temporary.ts'
import { forgetCaches } from './store/versions.ts'

export { Client, Person }
export type { ForgeOptions, Reply } from './forge/types.ts'

/** The parts of a started forge. */
interface Ground {
  readonly folder: string
  readonly database: CopiedDatabase
  readonly running: RunningForge
  readonly clock: TestClock
  readonly faults: FaultLog
  readonly mails: MailLog
}

export class TestForge implements door.Forge {
  readonly app: App
  readonly url: string
  readonly clock: TestClock
  readonly visitor: Client
  readonly administrator: Person
  readonly #ground: Ground
  readonly #requests: RequestLog
  readonly #runners = new Set<EmbeddedRunner>()
  readonly #receivers = new Set<Receiver>()
  #runnersMade = 0
  #closed: Promise<void> | null = null
  #people = 0
  #groups = 0
  #projects = 0
  #labels = 0
  #notes = 0
  #snippets = 0
  #mergeRequests = 0
  #milestones = 0
  #issues = 0

  constructor(ground: Ground, root: door.Person) {
    const { app, http } = ground.running
    this.app = app
    this.url = app.url
    this.clock = ground.clock
    this.visitor = new Client(app.url)
    this.administrator = root
    this.#ground = ground
    this.#requests = new RequestLog(http)
  }

  async user({ blocked, ...request }: door.UserInput = {}): Promise<Person> {
    const number = ++this.#people
    const token = randomToken()
    const username = request.username ?? `user${number}`
    const user = await createUser(this.app, {
      username,
      email: `${username.toLowerCase()}@example.com`,
      name: `User ${number}`,
      skip_confirmation: true,
      ...request,
      private_token: token,
    }).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error
      throw new Error(`the user ${username} is refused: ${JSON.stringify(error.reason)}`, { cause: error })
    })
    if (blocked) this.#done(await this.administrator.post(`/users/${user.id}/block`), `blocking ${username}`)
    return new Person(this.url, user, token)
  }

  async group(request: door.GroupInput = {}, owner: door.Person = this.administrator): Promise<door.Group> {
    const path = `group${++this.#groups}`
    const input = { name: path, path, ...request }
    const group: GroupDetails = this.#done(await owner.post('/groups', input), `the group ${input.path}`)
    return group
  }

  async project(request: door.ProjectInput = {}, owner: door.Person = this.administrator): Promise<door.Project> {
    const input = { path: `project${++this.#projects}`, ...request }
    const project: ProjectRecord = this.#done(await owner.post('/projects', input), `the project ${input.path}`)
    return project
  }

  async label(
    scope: door.Project | door.Group,
    request: door.LabelInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.Label> {
    const input = { name: `label${++this.#labels}`, color: '#428BCA', ...request }
    const label: LabelRecord = this.#done(
      await person.post(`${pathOf(scope)}/labels`, input),
      `the label ${input.name}`,
    )
    return label
  }

  async milestone(
    scope: door.Project | door.Group,
    request: door.MilestoneInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.Milestone> {
    const input = { title: `milestone${++this.#milestones}`, ...request }
    const answer = await person.post(`${pathOf(scope)}/milestones`, input)
    const milestone: MilestoneRecord = this.#done(answer, `the milestone ${input.title}`)
    return milestone
  }

  async issue(
    { id }: { id: number },
    request: door.IssueInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.Issue> {
    const input = { title: `issue${++this.#issues}`, ...request }
    const issue: IssueRecord = this.#done(
      await person.post(`/projects/${id}/issues`, input),
      `the issue ${input.title}`,
    )
    return issue
  }

  async note(
    { project_id, iid }: { readonly project_id: number; readonly iid: number },
    request: door.NoteInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.Note> {
    const input = { body: `note${++this.#notes}`, ...request }
    const answer = await person.post(`/projects/${project_id}/issues/${iid}/notes`, input)
    const note: NoteRecord = this.#done(answer, `the note on issue ${iid}`)
    return note
  }

  async snippet(
    project: { readonly id: number } | null,
    request: door.SnippetInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.Snippet> {
    const input = {
      title: `snippet${++this.#snippets}`,
      visibility: 'private',
      ...(request.files ? {} : { file_name: 'snippet.txt', content: 'A snippet\n' }),
      ...request,
    }
    const answer = await person.post(`${project ? `/projects/${project.id}` : ''}/snippets`, input)
    const snippet: SnippetRecord = this.#done(answer, `the snippet ${input.title}`)
    return snippet
  }

  async mergeRequest(
    project: { id: number },
    { files, ...request }: door.MergeRequestInput = {},
    person: door.Person = this.administrator,
  ): Promise<door.MergeRequest> {
    const name = `change${++this.#mergeRequests}`
    const { source_branch = name, title = name } = request
    const at = `/projects/${project.id}`
    const { default_branch: main } = this.#done(await person.get(at), `the project ${project.id}`)
    if (main === null) await this.seed(project, { 'README.md': '# Here\n' }, { as: person })
    const content = files ?? { [`${source_branch}.txt`]: `${source_branch}\n` }
    await this.seed(project, content, { branch: source_branch, message: title, as: person })
    const input = { target_branch: main ?? 'master', ...request, source_branch, title }
    const answer = await person.post(`${at}/merge_requests`, input)
    const created: MergeRequestDetail = this.#done(answer, `the merge request ${title}`)
    return created
  }

  async seed({ id }: { id: number }, files: door.Files, request: door.SeedInput = {}): Promise<door.Commit> {
    const { as: person = this.administrator, message = 'Add files' } = request
    const at = `/projects/${id}`
    const { default_branch: main } = this.#done(await person.get(at), `the project ${id}`)
    const { branch = main ?? 'master' } = request
    const isThere = async (path: string) => (await person.head(`${at}/repository/${path}`)).status < 300
    const isNew = main !== null && branch !== main && !(await isThere(`branches/${encodeURIComponent(branch)}`))
    const ref = encodeURIComponent(isNew ? main : branch)
    const actionOn = async ([path, content]: [string, string | Uint8Array | null]) => {
      if (content === null) return { action: 'delete', file_path: path }
      const action = (await isThere(`files/${encodeURIComponent(path)}?ref=${ref}`)) ? 'update' : 'create'
      return { action, file_path: path, content: Buffer.from(content).toString('base64'), encoding: 'base64' }
    }
    const input = {
      branch,
      ...(isNew && { start_branch: main }),
      commit_message: message,
      actions: await Promise.all(Object.entries(files).map(actionOn)),
    }
    return this.#done(await person.post(`${at}/repository/commits`, input), `the commit to ${branch}`)
  }

  git(args: readonly string[], request: door.GitInput = {}): Promise<string> {
    const { as: person = this.administrator, cwd = join(this.#ground.folder, 'work') } = request
    return runGit(args, person, cwd)
  }

  as(headers: Record<string, string>): Client {
    return new Client(this.url, headers)
  }

  async events(): Promise<string[]> {
    return (await this.eventLog()).map(({ name }) => name)
  }

  async eventLog(): Promise<door.ForgeEvent[]> {
    const rows = await this.app.db
      .selectFrom('events')
      .select(['name', 'payload', 'created_at'])
      .orderBy('id')
      .execute()
    return rows.map((row) => ({ ...row, payload: JSON.parse(row.payload) }))
  }

  requests(): door.ForgeRequest[] {
    return this.#requests.list()
  }

  async queries(work: () => Promise<unknown>): Promise<number> {
    await this.settle()
    const { worker, deliverer } = this.#ground.running
    const [resumeWork, resumeDeliveries] = [await worker.pause(), await deliverer.pause()]
    try {
      // Otherwise values that are cached for a while would be read again in a slow count only.
      using _ = this.clock.hold()
      await currentSettings(this.app)
      forgetCaches(this.app.db)
      const before = this.app.store.queries
      await work()
      return this.app.store.queries - before
    } finally {
      resumeWork()
      resumeDeliveries()
    }
  }

  async settle(): Promise<void> {
    await this.#ground.running.worker.settle()
    await this.#ground.running.deliverer.settle()
  }

  /** Stops background work. */
  stopWorker(): Promise<void> {
    return this.#ground.running.worker.stop()
  }

  /** Runs `work` while no process uses the store, as between a stop and a start of the server. */
  whileStopped(work: () => Promise<void>): Promise<void> {
    return this.#ground.running.reopen(work)
  }

  async reset(): Promise<void> {
    const { folder, database, running, faults, mails } = this.#ground
    await running.reopen(async () => {
      this.clock.reset()
      await Promise.all([database.reset(), emptyFolder(dataIn(folder)), rm(join(folder, 'work'), GONE)])
    })
    this.#requests.clear()
    faults.clear()
    mails.clear()
    for (const receiver of this.#receivers) receiver.clear()
    this.#people = this.#groups = this.#projects = 0
    this.#labels = this.#milestones = this.#issues = this.#notes = this.#snippets = this.#mergeRequests = 0
  }

  async runner({ concurrent, tags }: door.RunnerInput = {}): Promise<door.ForgeRunner> {
    const folder = join(this.#ground.folder, `runner${++this.#runnersMade}`)
    const pace = { poll: 50, update: 100 }
    const runner = await startEmbeddedRunner(this.app, { folder, environment: process.env, concurrent, tags, pace })
    this.#runners.add(runner)
    const stop = async () => {
      if (this.#runners.delete(runner)) await runner.stop(0)
    }
    return { id: runner.id, stop, [Symbol.asyncDispose]: stop }
  }

  async receiver(): Promise<Receiver> {
    const receiver = await Receiver.start()
    this.#receivers.add(receiver)
    return receiver
  }

  async mail(): Promise<door.ForgeMail[]> {
    await this.settle()
    return this.#ground.mails.list()
  }

  close(): Promise<void> {
    this.#closed ??= this.#end()
    return this.#closed
  }

  async #end(): Promise<void> {
    for (const runner of this.#runners) await runner.stop(0)
    // Deliveries in progress end here, and nothing waits for them.
    for (const receiver of this.#receivers) await receiver.close()
    await discard(this.#ground)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The last logged error: the answer of a 500 says nothing about its cause. */
  lastFault(): string {
    return this.#ground.faults.last()
  }

  /** The body of the answer; throws if the request was rejected. */
  #done({ status, body }: door.Reply, what: string): door.Reply['body'] {
    if (status < 300) return body
    const fault = status >= 500 ? `: ${this.lastFault()}` : ''
    throw new Error(`${what} is refused: ${status} ${JSON.stringify(body)}${fault}`)
  }
}

const pathOf = (scope: door.Project | door.Group) =>
  'full_path' in scope ? `/groups/${scope.id}` : `/projects/${scope.id}`

const GONE = { recursive: true, force: true } as const

const dataIn = (folder: string) => join(folder, 'data')

/** Keeps the host keys: clients of a running SSH server know it by them. */
async function emptyFolder(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== 'ssh')
  await Promise.all(names.map((name) => rm(join(folder, name), GONE)))
}

async function discard({ running, database, folder }: Pick<Ground, 'database' | 'folder'> & Partial<Ground>) {
  await running?.[Symbol.asyncDispose]()
  await database.drop()
  await rm(folder, GONE)
}

const SECRET_KEY = randomHex()
const ROOT_TOKEN = randomToken()

/**
 * Settings that all forges of a process share, because they are part of the template; or that a forge sets itself; or
 * that only the command follows.
 */
const NOT_FOR_FORGES: readonly (keyof Config)[] = [
  'data',
  'databaseUrl',
  'secretKey',
  'rootPassword',
  'rootToken',
  'rootEmail',
  'workers',
  'readOnly',
  'backupUrl',
  'backupKeep',
  'backupVerify',
]

const nameOf = (setting: string) => variableOf(setting).replace('MORTISE_', '')

function assertKnown(options: door.ForgeOptions): void {
  const known = Object.keys(settings) as (keyof Config)[]
  const allowed = known.filter((name) => !NOT_FOR_FORGES.includes(name)).map(nameOf)
  const wrong = Object.keys(options.settings ?? {}).find((name) => !allowed.includes(name))
  if (wrong !== undefined) {
    const fault = known.map(nameOf).includes(wrong) ? 'is set by startForge itself' : 'is no setting'
    throw new BadSetting(`startForge: ${wrong} ${fault}; there are ${allowed.join(', ')}`)
  }
  const { settings: _settings, databaseUrl, logTo: _logTo, patience: _patience, ...rest } = options
  const [other] = Object.keys(rest)
  if (other !== undefined)
    throw new BadSetting(`startForge: ${other} is no option; there are settings, databaseUrl, logTo, patience`)
  if (databaseUrl !== undefined && !/^postgres(ql)?:/.test(databaseUrl))
    throw new BadSetting('startForge: databaseUrl must look like postgres://user:password@host:5432/name')
}

/** The default SSH port exists only once, so a forge has SSH only if a port is given; `0` takes a free one. */
const withoutSsh = { SSH_PORT: 'off', SSH_URL: 'off' }

const configOf = (folder: string, database: string, given: Record<string, string> = {}) => {
  const all = {
    DATA: dataIn(folder),
    PORT: '0',
    SECRET_KEY,
    ROOT_TOKEN,
    DATABASE_URL: database,
    ...((given.SSH_PORT ?? 'off') === 'off' && withoutSsh),
    ...given,
  }
  return readConfig({}, Object.fromEntries(Object.entries(all).map(([name, value]) => [`MORTISE_${name}`, value])))
}

/** Migrated databases with an administrator: every forge of this process starts from one. */
const templates = new Map<string, Promise<Template>>()

function templateOn(databaseUrl: string | undefined): Promise<Template> {
  const key = databaseUrl ?? ''
  const template = templates.get(key) ?? makeTemplate(databaseUrl)
  templates.set(key, template)
  template.catch(() => templates.delete(key))
  return template
}

async function makeTemplate(databaseUrl: string | undefined): Promise<Template> {
  const fill = async (url: string) => {
    const folder = await makeTemporaryFolder()
    try {
      await using opened = await openApp(configOf(folder, url, { LOG: 'silent' }), { durable: false, heartbeat: false })
      await createFirstAdministrator(opened.app)
      // Webhook receivers of a test run on the same machine.
      // A test that deletes a project or a group expects no trace of it, unless it is about the bin.
      await updateSettings(opened.app, {
        allow_local_requests_from_web_hooks_and_services: true,
        deletion_adjourned_period: 0,
      })
      await forgetEvents(opened.app)
    } finally {
      await rm(folder, GONE)
    }
  }
  const sweeping = sweepTemporaryFolders()
  try {
    return await (databaseUrl ? postgresTemplate(databaseUrl, fill) : sqliteTemplate(fill))
  } catch (cause) {
    throw new CannotStart(`startForge cannot make a database: ${reasonOf(cause)}`, { cause })
  } finally {
    await sweeping
  }
}

/** The SQLite binding ends the process without a message if Node-API is older. */
function assertNode(): void {
  if (Number(process.versions.napi) < 10)
    throw new CannotStart(`mortise needs Node 22.14 or newer; this is ${process.version}`)
}

export const startForge = (async (options: door.ForgeOptions = {}): Promise<TestForge> => {
  assertNode()
  assertKnown(options)
  const template = await templateOn(options.databaseUrl ?? testDatabaseUrl())
  const clock = new TestClock()
  const faults = new FaultLog()
  const mails = new MailLog()
  const folder = await makeTemporaryFolder()
  const database = await template.copy(folder)
  try {
    await mkdir(dataIn(folder), { mode: 0o700 })
    const log = { LOG: options.logTo ? 'info' : 'error' }
    const config = configOf(folder, database.url, { ...log, ...options.settings })
    const logTo = options.logTo ?? (options.settings?.LOG === undefined ? faults : undefined)
    const { patience } = options
    const onMail = (mail: Mail) => mails.add(mail)
    const quick = { durable: false, heartbeat: false, checkOutput: true }
    const running = await serve(config, { clock, logTo, patience, onMail, ...quick })
    const root = new Person(running.app.url, (await findUser(running.app.db, 1))!, ROOT_TOKEN)
    return new TestForge({ folder, database, running, clock, faults, mails }, root)
  } catch (error) {
    await discard({ database, folder })
    throw error
  }
}) satisfies typeof door.startForge
