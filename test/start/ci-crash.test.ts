import { expect, test } from 'vitest'
import { zipped } from '../pipelines.ts'
import {
  type Body,
  HOUR,
  MORTISE_ROOT_TOKEN,
  call,
  expectClean,
  expectCutOff,
  inStore,
  passHours,
  start,
  withInstance,
} from './merge-crash.ts'

const CONFIG =
  'stages: [a, b]\nbuild: { stage: a, script: x, artifacts: { paths: [x] } }\nship: { stage: b, script: x }\n'
const LOG = 'hello\n'

interface Answered {
  readonly status: number
  readonly body: Body
  readonly headers: Headers
}

/** Acts as a runner: the answer, or null if the connection was lost, after which it repeats the request. */
async function send(url: string, path: string, init: RequestInit, die?: string): Promise<Answered | null> {
  const headers = { ...(init.headers as object), ...(die && { 'X-Die': die }) }
  const answer = await fetch(`${url}/api/v4${path}`, { ...init, headers }).catch(() => null)
  if (!answer) return null
  const text = await answer.text()
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') && text !== ''
  return { status: answer.status, body: isJson ? JSON.parse(text) : {}, headers: answer.headers }
}

const json = (method: string, input: object): RequestInit => ({
  method,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(input),
})

interface Taken {
  readonly id: number
  readonly token: string
}

const FEATURES = { upload_multiple_artifacts: true, refspecs: true }

const ask = (url: string, token: string, die?: string) =>
  send(url, '/jobs/request', json('POST', { token, info: { features: FEATURES } }), die)

const finish = (url: string, { id, token }: Taken, die?: string) =>
  send(url, `/jobs/${id}`, json('PUT', { token, state: 'success' }), die)

const patch = (url: string, { id, token }: Taken, die?: string) => {
  const headers = { 'JOB-TOKEN': token, 'Content-Range': `0-${LOG.length - 1}` }
  return send(url, `/jobs/${id}/trace`, { method: 'PATCH', headers, body: LOG }, die)
}

async function upload(url: string, { id, token }: Taken, die?: string): Promise<Answered | null> {
  const form = new FormData()
  form.append('file', new Blob([new Uint8Array(await zipped({ 'x/made.txt': 'made\n' }))]), 'artifacts.zip')
  return send(url, `/jobs/${id}/artifacts`, { method: 'POST', headers: { 'JOB-TOKEN': token }, body: form }, die)
}

type Step = 'trace' | 'upload' | 'finish'

/** Where the server dies, at which step of the first job, and what the repeated request is answered. */
const ROUNDS: readonly (readonly [string, Step, string, readonly [number, string | null]])[] = [
  ['before the log is written', 'trace', 'before ^insert into "ci_trace_chunks"', [202, '0-6']],
  ['after the log is written', 'trace', 'after ^insert into "ci_trace_chunks"', [416, '0-6']],
  ['before the archive is named', 'upload', 'before ^insert into "ci_artifacts"', [201, null]],
  ['after the archive is named', 'upload', 'after ^insert into "ci_artifacts"', [201, null]],
  ['before the job has ended', 'finish', 'before ^update "ci_jobs" set "status" = .success', [200, 'success']],
  ['before the next one waits', 'finish', 'before ^update "ci_jobs" set "status" = .pending', [200, 'success']],
  ['after the next one waits', 'finish', 'after ^update "ci_jobs" set "status" = .pending', [403, 'success']],
  [
    'before the log is put away',
    'finish',
    'anyone before ^update "ci_jobs" set "trace_digest".*,6,ID,6',
    [403, 'success'],
  ],
]

const push = (url: string, at: string, die?: string) =>
  call(
    url,
    'POST',
    `${at}/repository/commits`,
    {
      branch: 'master',
      commit_message: 'Run it',
      actions: [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }],
    },
    die,
  )

const isPutAway = (database: string, id: number) =>
  inStore(database, async (db) => {
    const pieces = await db.selectFrom('ci_trace_chunks').select('start').where('job_id', '=', id).execute()
    return pieces.length === 0
  })

/** A project with a pipeline, and its own runner. */
async function prepare(url: string, path: string): Promise<{ at: string; runner: string }> {
  const { id, runners_token } = await call(url, 'POST', '/projects', { path })
  const at = `/projects/${id}`
  const runner = (await send(url, '/runners', json('POST', { token: runners_token })))!.body.token
  await push(url, at)
  return { at, runner }
}

/** As if the runners had been silent for two hours. */
const silence = (database: string) =>
  inStore(database, (db) =>
    db
      .updateTable('ci_jobs')
      .set({ contacted_at: new Date(Date.now() - 2 * HOUR).toISOString() })
      .where('status', '=', 'running')
      .execute(),
  )

/** Jobs that were handed out, and whose answer may not have left the server. */
const unnoted = (database: string) =>
  inStore(database, (db) => db.selectFrom('ci_runs').select('job_id').where('holder', 'is not', null).execute())

const ORDER = ['trace', 'upload', 'finish'] as const
const STEPS = { trace: patch, upload, finish }
const HEADERS = { trace: 'range', upload: 'none', finish: 'job-status' }

/** Runs up to the step that kills; returns the answers, null for none. */
async function goTo(url: string, job: Taken, [, step, die]: (typeof ROUNDS)[number]): Promise<unknown[]> {
  const answered = []
  for (const before of ORDER.slice(0, ORDER.indexOf(step))) answered.push((await STEPS[before](url, job))?.status)
  const cut = await STEPS[step](url, job, die.replace('ID', String(job.id)))
  // With `anyone`, any statement kills, which may happen after the answer.
  return [...answered, die.startsWith('anyone') ? null : cut]
}

/** Repeats the step, and runs the later ones. */
async function goOn(url: string, job: Taken, [, step]: (typeof ROUNDS)[number]): Promise<unknown[]> {
  const again = await STEPS[step](url, job)
  const answered = [again?.status, again?.headers.get(HEADERS[step]) ?? null]
  for (const next of ORDER.slice(ORDER.indexOf(step) + 1)) answered.push((await STEPS[next](url, job))?.status)
  return answered
}

test('kill -9 around jobs: what the runner sends again ends right', { timeout: 400_000 }, () =>
  withInstance(async (settings, database) => {
    const rounds: { at: string; runner: string; job: Taken }[] = []
    let lost = ''
    {
      await using child = start(settings)
      const url = await child.url()
      for (const n of ROUNDS.keys()) {
        const { at, runner } = await prepare(url, `round${n}`)
        const { status, body } = (await ask(url, runner))!
        expect(status).toBe(201)
        rounds.push({ at, runner, job: { id: body.id, token: body.token } })
      }
      await call(url, 'POST', '/projects', { path: 'unfollowed' })
      // Claimed, and never handed over.
      lost = (await prepare(url, 'lost')).runner
      expect(await ask(url, lost, 'after ^update "ci_jobs" set "status" = .running')).toBeNull()
      expect(await child.ended()).toBe('SIGKILL')
    }
    {
      await using child = start(settings)
      const url = await child.url()
      // Back in the queue, long before its runner would count as silent.
      const next = async () => (await ask(url, lost))?.body.job_info?.name
      await expect.poll(next, { timeout: 25_000, interval: 100 }).toBe('build')
      // Until the server has noted that its answer went out, a kill would queue the job once more.
      await expect.poll(() => unnoted(database), { timeout: 25_000, interval: 50 }).toEqual([])
      child.process.kill('SIGKILL')
    }
    const answers: unknown[] = []
    for (const [n, round] of ROUNDS.entries()) {
      await using child = start(settings)
      const url = await child.url()
      if (n > 0) answers.push(await goOn(url, rounds[n - 1]!.job, ROUNDS[n - 1]!))
      answers.push(await goTo(url, rounds[n]!.job, round))
      expect(await child.ended()).toBe('SIGKILL')
    }
    {
      await using child = start(settings)
      const url = await child.url()
      answers.push(await goOn(url, rounds.at(-1)!.job, ROUNDS.at(-1)!))
      const die = 'before ^insert into "ci_jobs"'
      await expectCutOff(push(url, '/projects/root%2Funfollowed', die), die)
      expect(await child.ended()).toBe('SIGKILL')
    }
    const whole = [202, 201, 200]
    expect(answers).toEqual(
      ROUNDS.flatMap(([, step, , again]) => [
        [...whole.slice(0, ORDER.indexOf(step)), null],
        [...again, ...whole.slice(ORDER.indexOf(step) + 1)],
      ]),
    )

    await silence(database)
    await passHours(database)

    await using child = start(settings)
    const url = await child.url()
    for (const { at, runner } of rounds) {
      const next = await ask(url, runner)
      expect([at, next?.status, next?.body.job_info?.name]).toEqual([at, 201, 'ship'])
      const { id, token, dependencies } = next!.body
      expect(dependencies).toMatchObject([{ name: 'build', artifacts_file: { filename: 'artifacts.zip' } }])
      expect(await finish(url, { id, token })).toMatchObject({ status: 200 })
      expect((await ask(url, runner))?.status).toBe(204)
    }
    const seen = async (at: string) => {
      const [pipeline, ...others] = (await call(url, 'GET', `${at}/pipelines`)) as unknown as Body[]
      return [pipeline?.status, others.length]
    }
    // Handed over at last, and its runner never reports.
    await expect.poll(() => seen('/projects/root%2Flost'), { timeout: 120_000 }).toEqual(['failed', 0])
    for (const { at } of rounds) expect([at, await seen(at)]).toEqual([at, ['success', 0]])
    // The interrupted push gets its pipeline, once.
    const followed = () => seen('/projects/root%2Funfollowed')
    await expect.poll(followed, { timeout: 25_000, interval: 200 }).toEqual(['pending', 0])

    for (const { at, job } of rounds) {
      const { status, artifacts } = await call(url, 'GET', `${at}/jobs/${job.id}`)
      const kept = artifacts.map(({ file_type }: Body) => file_type)
      const read = async (path: string) =>
        (
          await fetch(`${url}/api/v4${at}/jobs/${job.id}/${path}`, { headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN } })
        ).text()
      await expect.poll(() => isPutAway(database, job.id), { timeout: 60_000 }).toBe(true)
      expect([at, status, kept, await read('trace'), await read('artifacts/x/made.txt')]).toEqual([
        at,
        'success',
        ['archive', 'trace'],
        LOG,
        'made\n',
      ])
    }
    expect(await inStore(database, (db) => db.selectFrom('ci_runs').selectAll().execute())).toEqual([])
    await expectClean(settings)
  }),
)
