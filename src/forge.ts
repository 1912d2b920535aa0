/**
 * A whole forge inside a test process, in well under a second: `import { startForge } from 'mortise'`. It lives in a
 * temporary folder (in memory where the system has such a folder) and is gone when it is closed. Our own suite uses
 * this same door. It stands in `src`, not in `test`, because it is part of the product.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serve, openApp } from './app.ts'
import type { Clock } from './clock.ts'
import { readConfig, testDatabaseUrl } from './config.ts'
import type { App, User } from './context.ts'
import { createFirstAdministrator } from './features/identity/users/first-administrator.ts'
import { createUser, type NewUser } from './features/identity/users/service.ts'
import { findUser } from './features/identity/users/queries.ts'
import { currentSettings } from './features/instance/settings/queries.ts'
import type { Worker } from './jobs/worker.ts'
import { TEMPORARY_FOLDER } from './lib/temporary-folder.ts'
import { randomHex, randomToken } from './lib/secrets.ts'
import type { Events } from './store/database.ts'
import { postgresTemplate, sqliteTemplate, type Template } from './store/temporary.ts'
import { forgetCaches } from './store/versions.ts'

export interface ForgeOptions {
  /** Settings as the environment names them without their prefix, e.g. `{ RATE_LIMIT: '10' }`. */
  settings?: Record<string, string>
  /** `postgres://…` of a server on which a database of its own is made; SQLite without. */
  databaseUrl?: string | undefined
  logTo?: { write(line: string): void }
  /** Milliseconds that closing waits for requests that are still running. */
  patience?: number
}

// oxlint-disable-next-line no-explicit-any -- a test reads the answer's body as it expects it
type AnyBody = any

export interface Reply {
  readonly status: number
  readonly body: AnyBody
  readonly headers: Headers
}

type Input = Record<string, unknown> | FormData | undefined

/** Someone who calls the API. Paths are relative to `/api/v4`; input goes into the query of a GET, else into JSON. */
export class Client {
  readonly url: string
  readonly headers: Record<string, string>

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.headers = headers
  }

  get(path: string, input?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply> {
    return this.request('GET', path + queryOf(path, input), undefined, headers)
  }
  head(path: string): Promise<Reply> {
    return this.request('HEAD', path)
  }
  post(path: string, input?: Input, headers?: Record<string, string>): Promise<Reply> {
    return this.request('POST', path, input, headers)
  }
  put(path: string, input?: Input, headers?: Record<string, string>): Promise<Reply> {
    return this.request('PUT', path, input, headers)
  }
  delete(path: string, input?: Input, headers?: Record<string, string>): Promise<Reply> {
    return this.request('DELETE', path, input, headers)
  }

  async request(method: string, path: string, input?: Input, headers: Record<string, string> = {}): Promise<Reply> {
    const isForm = input instanceof FormData
    const answer = await fetch(`${this.url}/api/v4${path}`, {
      method,
      redirect: 'manual',
      headers: { ...this.headers, ...(input && !isForm && { 'Content-Type': 'application/json' }), ...headers },
      ...(input && { body: isForm ? input : JSON.stringify(input) }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.startsWith('application/json')
    return { status: answer.status, headers: answer.headers, body: isJson && text ? JSON.parse(text) : text }
  }
}

function queryOf(path: string, input: Record<string, unknown> = {}): string {
  const pairs = Object.entries(input).flatMap(([name, value]) =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, String(one)]) : [[name, String(value)]],
  )
  if (pairs.length === 0) return ''
  return (path.includes('?') ? '&' : '?') + new URLSearchParams(pairs as [string, string][])
}

/** A user of the forge, calling with their private token. */
export class Person extends Client {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly token: string

  constructor(url: string, { id, username, email }: User, token: string) {
    super(url, { 'PRIVATE-TOKEN': token })
    this.id = id
    this.username = username
    this.email = email
    this.token = token
  }
}

/** Goes with the system's time, moved by as much as was told; held, it stands. */
export class TestClock implements Clock {
  #offset = 0
  #heldAt: number | null = null
  now(): Date {
    return new Date((this.#heldAt ?? Date.now()) + this.#offset)
  }
  advance(ms: number): void {
    this.#offset += ms
  }
  hold(): Disposable {
    this.#heldAt ??= Date.now()
    return { [Symbol.dispose]: () => (this.#heldAt = null) }
  }
}

export interface PersonWish extends Partial<Omit<NewUser, 'private_token'>> {
  blocked?: boolean
}

export class TestForge implements AsyncDisposable {
  readonly app: App
  readonly url: string
  readonly clock: TestClock
  /** Calls without any credential. */
  readonly visitor: Client
  /** The first administrator, `root`. */
  readonly administrator: Person
  readonly #close: () => Promise<void>
  readonly #worker: Worker
  #people = 0
  #groups = 0
  #projects = 0

  constructor(app: App, clock: TestClock, root: Person, worker: Worker, close: () => Promise<void>) {
    this.app = app
    this.url = app.url
    this.clock = clock
    this.visitor = new Client(app.url)
    this.administrator = root
    this.#worker = worker
    this.#close = close
  }

  /**
   * A new user, ready to call; `{ admin: true }`, `{ external: true }` and `{ blocked: true }` make the special ones.
   */
  async user({ blocked, ...wish }: PersonWish = {}): Promise<Person> {
    const number = ++this.#people
    const token = randomToken()
    const username = wish.username ?? `user${number}`
    const user = await createUser(this.app, {
      username,
      email: `${username.toLowerCase()}@example.com`,
      name: `User ${number}`,
      skip_confirmation: true,
      ...wish,
      private_token: token,
    })
    if (blocked) await this.administrator.post(`/users/${user.id}/block`)
    return new Person(this.url, user, token)
  }

  /** A new group of `owner`, as the API answers it. */
  async group(wish: Record<string, unknown> = {}, owner: Person = this.administrator): Promise<AnyBody> {
    const path = `group${++this.#groups}`
    return made(await owner.post('/groups', { name: path, path, ...wish }))
  }

  /** A new project of `owner`, in their own namespace unless `namespace_id` says otherwise, as the API answers it. */
  async project(wish: Record<string, unknown> = {}, owner: Person = this.administrator): Promise<AnyBody> {
    return made(await owner.post('/projects', { path: `project${++this.#projects}`, ...wish }))
  }

  /** The same person, shown by another credential. */
  as(headers: Record<string, string>): Client {
    return new Client(this.url, headers)
  }

  /** Names of the events told so far, oldest first. */
  async events(): Promise<(keyof Events)[]> {
    const rows = await this.app.db.selectFrom('events').select('name').orderBy('id').execute()
    return rows.map((row) => row.name as keyof Events)
  }

  /** How many queries `work` sent to the store; background work rests meanwhile. */
  async queries(work: () => Promise<unknown>): Promise<number> {
    await this.settle()
    const resume = await this.#worker.pause()
    try {
      // What is known for a while only would else be asked for again in a count that takes long, and in no other.
      using _ = this.clock.hold()
      await currentSettings(this.app)
      forgetCaches(this.app.db)
      const before = this.app.store.queries
      await work()
      return this.app.store.queries - before
    } finally {
      resume()
    }
  }

  /** Waits until all background work that is due has been done. */
  settle(): Promise<void> {
    return this.#worker.settle()
  }

  /** Background work rests from here on. */
  stopWorker(): Promise<void> {
    return this.#worker.stop()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close()
  }
}

function made({ status, body }: Reply): AnyBody {
  if (status !== 201) throw new Error(`not created: ${status} ${JSON.stringify(body)}`)
  return body
}

const SECRET_KEY = randomHex()
const ROOT_TOKEN = randomToken()

const baseSettings = (data: string, database: string, more: Record<string, string> = {}) =>
  readConfig(
    {},
    {
      MORTISE_DATA: data,
      MORTISE_PORT: '0',
      MORTISE_LOG: 'silent',
      MORTISE_SECRET_KEY: SECRET_KEY,
      MORTISE_ROOT_TOKEN: ROOT_TOKEN,
      MORTISE_DATABASE_URL: database,
      ...Object.fromEntries(Object.entries(more).map(([name, value]) => [`MORTISE_${name}`, value])),
    },
  )

/** Migrated, with its administrator: what every forge of this process starts from. */
const templates = new Map<string, Promise<Template>>()

function templateOn(databaseUrl: string | undefined): Promise<Template> {
  const known = templates.get(databaseUrl ?? '')
  if (known) return known
  const fill = async (url: string) => {
    const folder = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-'))
    await using opened = await openApp(baseSettings(folder, url), { durable: false })
    await createFirstAdministrator(opened.app)
    await opened.app.db.deleteFrom('events').execute()
    await rm(folder, { recursive: true, force: true })
  }
  const made = databaseUrl ? postgresTemplate(databaseUrl, fill) : sqliteTemplate(TEMPORARY_FOLDER, fill)
  templates.set(databaseUrl ?? '', made)
  return made
}

export async function startForge(options: ForgeOptions = {}): Promise<TestForge> {
  const clock = new TestClock()
  const template = await templateOn(options.databaseUrl ?? testDatabaseUrl())
  const [folder, database] = await Promise.all([mkdtemp(join(TEMPORARY_FOLDER, 'mortise-')), template.copy()])
  const config = baseSettings(folder, database.url, { ...(options.logTo && { LOG: 'info' }), ...options.settings })
  const ssh = options.settings?.SSH_PORT !== undefined
  const { logTo, patience } = options
  const forge = await serve(config, { clock, durable: false, checkOutput: true, logTo, ssh, patience })
  const close = async () => {
    await forge[Symbol.asyncDispose]()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  }
  const root = new Person(forge.app.url, (await findUser(forge.app.db, 1))!, ROOT_TOKEN)
  return new TestForge(forge.app, clock, root, forge.worker, close)
}
