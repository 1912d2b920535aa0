/**
 * A backup of a busy server, restored at three moments. The writers keep a log: what was answered before a moment is
 * there, and what began after the moment is not.
 */
import { hash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { postgresDatabase } from '../../src/store/temporary.ts'
import { Child, run, temporaryFolder, until } from './command.ts'
import { type Source, source } from './kill-mix.ts'
import { type Body, MORTISE_ROOT_TOKEN, type Settings, call, commit, server, withInstance } from './merge-crash.ts'

const MOMENTS = 5
/** So many records and refs are written before the first of them. */
const LEAST_SUBJECTS = 8
const PAUSE_MS = 15
const PROJECT = '/projects/1'
const HEADERS = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }

interface Change {
  readonly state: string
  /** In milliseconds since 1970. */
  readonly begun: number
  answered: number
}

const NONE = 'none'

/** Everything that was written, by subject: an issue, a branch or a file. */
class Log {
  readonly changes = new Map<string, Change[]>()

  async write<T>(subject: string, state: string, request: () => Promise<T>): Promise<T> {
    const change: Change = { state, begun: Date.now(), answered: Infinity }
    this.changes.set(subject, [...(this.changes.get(subject) ?? []), change])
    const answer = await request()
    change.answered = Date.now()
    return answer
  }

  /** The states that a subject may have at a moment: the last answered one, or one of those that had begun. */
  allowedAt(subject: string, moment: number): string[] {
    const changes = this.changes.get(subject) ?? []
    const last = changes.findLastIndex(({ answered }) => answered < moment)
    const since = changes.slice(Math.max(last, 0)).filter(({ begun }) => begun <= moment)
    return [...(last < 0 ? [NONE] : []), ...since.map(({ state }) => state)]
  }
}

/** Writers that run until they are stopped. */
async function write(url: string, log: Log, { work, isOver }: { work: Source; isOver: () => boolean }): Promise<void> {
  const address = `${url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`)}/root/one.git`
  const push = async (update: string) => {
    const { code, stderr } = await work.git('push', '-q', '-f', address, update)
    if (code !== 0) throw new Error(stderr)
  }
  const repeat = async (once: (n: number) => Promise<unknown>) => {
    for (let n = 1; !isOver(); n++) {
      await once(n)
      await sleep(PAUSE_MS)
    }
  }
  await Promise.all([
    repeat(async (n) => {
      const { iid } = await log.write(`issue ${n}`, 'opened', () =>
        call(url, 'POST', `${PROJECT}/issues`, { title: `issue ${n}` }),
      )
      if (n % 2 === 0) return
      await log.write(`issue ${n}`, 'closed', () =>
        call(url, 'PUT', `${PROJECT}/issues/${iid}`, { state_event: 'close' }),
      )
    }),
    repeat((n) =>
      log.write('branch api', `Add ${n}.txt`, () =>
        commit(url, PROJECT, 'api', `${n}.txt`, n === 1 ? 'master' : undefined),
      ),
    ),
    repeat((n) => {
      // Forward, and back to the beginning.
      const sha = work.line[n % work.line.length]!
      return log.write('branch line', `Line ${n % work.line.length}`, () => push(`${sha}:refs/heads/line`))
    }),
    repeat(async (n) => {
      const branch = `short${n % 3}`
      await log.write(`branch ${branch}`, 'Initial commit', () =>
        call(url, 'POST', `${PROJECT}/repository/branches`, { branch, ref: 'master' }),
      )
      await log.write(`branch ${branch}`, NONE, () => call(url, 'DELETE', `${PROJECT}/repository/branches/${branch}`))
    }),
    repeat(async (n) => {
      const content = randomBytes(10_000)
      const file = new FormData()
      file.append('file', new Blob([content]), `${n}.bin`)
      const request = { method: 'POST', headers: HEADERS, body: file }
      const description = await log.write(`upload ${n}`, hash('sha256', content), async () => {
        const answer = await fetch(`${url}/api/v4${PROJECT}/uploads`, request)
        if (answer.status !== 201) throw new Error(`upload: ${answer.status}`)
        return ((await answer.json()) as { full_path: string }).full_path
      })
      await log.write(`file of upload ${n}`, description, () =>
        call(url, 'POST', `${PROJECT}/snippets`, {
          title: `upload ${n}`,
          file_name: 'a',
          code: description,
          visibility: 'private',
        }),
      )
    }),
  ])
}

async function all(url: string, path: string): Promise<Body[]> {
  const found: Body[] = []
  for (let page = 1; ; page++) {
    const some = (await call(url, 'GET', `${path}?per_page=100&page=${page}`)) as unknown as Body[]
    found.push(...some)
    if (some.length < 100) return found
  }
}

/** The state of all subjects, as a server shows them. */
async function statesAt(url: string): Promise<Map<string, string>> {
  const states = new Map<string, string>()
  for (const { title, state } of await all(url, `${PROJECT}/issues`)) states.set(title, state)
  for (const { name, commit } of await all(url, `${PROJECT}/repository/branches`))
    if (name !== 'master') states.set(`branch ${name}`, commit.title)
  for (const { id, title } of await all(url, `${PROJECT}/snippets`)) {
    const raw = await fetch(`${url}/api/v4${PROJECT}/snippets/${id}/raw`, { headers: HEADERS })
    const address = await raw.text()
    states.set(`file of ${title}`, address)
    const content = await fetch(url + address, { headers: HEADERS })
    states.set(title, hash('sha256', new Uint8Array(await content.arrayBuffer())))
  }
  return states
}

async function compare(log: Log, url: string, moment: number): Promise<void> {
  const found = await statesAt(url)
  const wrong: string[] = []
  for (const subject of new Set([...log.changes.keys(), ...found.keys()])) {
    const allowed = log.allowedAt(subject, moment)
    const state = found.get(subject) ?? NONE
    // An upload is found by the snippet that names it.
    if (subject.startsWith('upload') && state === NONE) continue
    if (!allowed.includes(state)) wrong.push(`${subject} is ${state}, expected ${allowed.join(' or ')}`)
  }
  expect([new Date(moment).toISOString(), wrong]).toEqual([new Date(moment).toISOString(), []])
  expect(found.size).toBeGreaterThan(3)
}

test(
  'each of three moments holds what was answered before it, and nothing that began later',
  { timeout: 400_000 },
  () =>
    withInstance(async (settings) => {
      await using folder = await temporaryFolder()
      const dest = join(folder.path, 'backup')
      const log = new Log()
      let moments: string[]
      {
        await using work = await source()
        await using served = new Child(['serve'], { ...settings, MORTISE_RATE_LIMIT: 'off' })
        const url = await served.url()
        await call(url, 'POST', '/projects', { path: 'one', initialize_with_readme: true })
        await using backup = new Child(['backup', dest, '--every', '1s'], settings)
        await until(() => backup.stdout.includes('keep it in another place'))
        const captured = () => [...backup.stdout.matchAll(/^(\S+Z): \d/gm)].map(([, time]) => time!)
        let isOver = false
        const writing = write(url, log, { work, isOver: () => isOver })
        await Promise.race([until(() => log.changes.size >= LEAST_SUBJECTS), writing])
        const before = captured().length
        // The next moment may have begun before.
        await Promise.race([until(() => captured().length > before + MOMENTS), writing])
        isOver = true
        await writing
        backup.process.kill('SIGTERM')
        expect(await backup.ended()).toBe(0)
        moments = captured().slice(before + 1)
      }
      const key = (await readFile(join(settings.MORTISE_DATA!, 'secret.key'), 'utf8')).trim()
      const [early, middle, last] = [moments[0]!, moments[2]!, moments.at(-1)!]
      // A time between two moments means the earlier one.
      const between = new Date((Date.parse(middle) + Date.parse(moments[3]!)) / 2).toISOString()
      for (const [n, [at, moment]] of [
        [early, early],
        [between, middle],
        [last, last],
      ].entries()) {
        const database = server === undefined ? null : await postgresDatabase(server)
        try {
          const restored: Settings = {
            ...settings,
            MORTISE_DATA: join(folder.path, `restored${n}`),
            MORTISE_SECRET_KEY: key,
            ...(database && { MORTISE_DATABASE_URL: database.url }),
          }
          const { code, stdout, stderr } = await run(['restore', dest, '--at', at!], restored)
          expect([code, stderr]).toEqual([0, ''])
          expect(stdout).toContain(`restored ${moment} to`)
          await using copy = new Child(['serve', '--read-only'], restored)
          await compare(log, await copy.url(), Date.parse(moment!))
        } finally {
          await database?.drop()
        }
      }
    }),
)
