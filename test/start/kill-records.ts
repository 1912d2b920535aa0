/**
 * Work of the kill trials on records that come and go: projects, branches, forks, imports, artifacts, housekeeping and
 * backups. Each trial aims at one kind: the server is killed during a request of this kind, or shortly after.
 */
import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { runGit, startGitOrigin } from '../git-origin.ts'
import { zipped } from '../pipelines.ts'
import { Child, run, until } from './command.ts'
import { CutOff, Ledger, outcomesOf, type Outcomes, type State } from './kill-ledger.ts'
import { type Body, MORTISE_ROOT_TOKEN, type Settings, call, commit, inStore, isUnsettled } from './merge-crash.ts'

export const RECORD_KINDS = [
  'create project',
  'delete project',
  'delete for good',
  'restore project',
  'delete branch',
  'undo',
  'fork',
  'import',
  'artifact',
  'housekeeping',
  'backup',
] as const
export type RecordKind = (typeof RECORD_KINDS)[number] | 'API commit'

/** Within so long after the request began: what follows in the background is hit, too. */
const MOMENT_MS: Partial<Record<RecordKind, number>> = {
  'delete for good': 200,
  fork: 300,
  import: 300,
  housekeeping: 300,
  backup: 1500,
}
const SHORT_MOMENT_MS = 40
const MOST_REQUESTS = 3
const PAUSE_MS = 60
/** Loops that the trial does not aim at stop after so many rounds. */
const ROUNDS_ASIDE = 2
const MEGABYTES = 3
const JOBS = 12
const CONFIG = `build: { script: x, parallel: ${JOBS}, artifacts: { paths: [x] } }\n`
const RESUMED_MS = 10_000

/** A repository to import, for all trials. */
export async function recordsOrigin() {
  const origin = await startGitOrigin()
  // Not random: equal in every run with the same seed, and hard to compress.
  const digits = (n: number) => Array.from({ length: 16_384 }, (_, at) => hash('sha256', `${n} ${at}`)).join('')
  const files = Object.fromEntries(Array.from({ length: MEGABYTES }, (_, n) => [`${n}.txt`, digits(n)]))
  const { url, dir } = await origin.addRepository('big.git', { files }, { branch: 'side' })
  const tip = await runGit([`--git-dir=${dir}`, 'rev-parse', 'master'])
  return { url, tip, [Symbol.asyncDispose]: () => origin[Symbol.asyncDispose]() }
}

export interface RecordsRound {
  readonly name: string
  readonly aim: RecordKind
  readonly next: () => number
  readonly settings: Settings
  readonly database: string
  readonly origin: { readonly url: string; readonly tip: string }
  /** The backup of this instance: by the command, or by the server. */
  readonly archive: string
  readonly isContinuous: boolean
  readonly url: string
  kill(): Promise<void>
  /** Returns the URL of the server, which is back. */
  restart(): Promise<string>
}

interface Job {
  readonly id: number
  readonly token: string
}

interface Trial {
  readonly round: RecordsRound
  readonly ledger: Ledger<RecordKind>
  readonly at: string
  readonly tip: string
  readonly runner: string
  readonly taken: Job[]
  readonly backups: { command: Child | null; moments: string[] }
}

const ask = async (url: string, path: string): Promise<Body | null> => {
  const answer = await fetch(`${url}/api/v4${path}`, { headers: { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN } })
  if (answer.status === 404) return null
  if (!answer.ok) throw new Error(`GET ${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Body
}

const tipAt = async (url: string, at: string, branch = 'master'): Promise<string> =>
  ((await ask(url, `${at}/repository/branches/${branch}`))?.commit.id as string | undefined) ?? 'gone'

/** What is known of a project. */
interface Facts {
  id?: number
  tip?: string
}

/** `there` with its content, `in bin`, `gone`, or the state of its import. */
async function stateOf(url: string, path: string, { id, tip }: Facts): Promise<State> {
  const project = await ask(url, `/projects/root%2F${path}`)
  if (!project) {
    const hidden = id === undefined ? null : await ask(url, `/projects/${id}?include_pending_delete=true`)
    return hidden ? 'in bin' : 'gone'
  }
  if (!['none', 'finished'].includes(project.import_status)) return project.import_status
  const found = await tipAt(url, `/projects/${project.id}`)
  // A request that was interrupted may have created the project without its first commit.
  if (found === 'gone' && id !== undefined) return 'empty'
  return found === (tip ?? found) ? 'there' : `at ${found}`
}

async function begin(round: RecordsRound): Promise<Trial> {
  const { url, name: path, origin } = round
  const { id, runners_token } = await call(url, 'POST', '/projects', { path, import_url: origin.url })
  const at = `/projects/${id}`
  await until(async () => (await ask(url, at))!.import_status === 'finished')
  const { token: runner } = await call(url, 'POST', '/runners', { token: runners_token })
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }]
  const made = await call(url, 'POST', `${at}/repository/commits`, { branch: 'master', commit_message: 'CI', actions })
  const backups = { command: null, moments: [] as string[] }
  return { round, ledger: new Ledger(), at, tip: made.id, runner, taken: [], backups }
}

/** A new project, with one commit. */
async function create({ round: { url }, ledger }: Trial, path: string): Promise<number> {
  const facts: Facts = {}
  ledger.enter(path, 'create project', 'gone', (url) => stateOf(url, path, facts))
  const input = { path, initialize_with_readme: true }
  const { id } = await ledger.change('create project', path, 'there', () => call(url, 'POST', '/projects', input))
  return (facts.id = id as number)
}

async function projects(trial: Trial, n: number): Promise<void> {
  const { round, ledger } = trial
  const { url, aim } = round
  const path = `${round.name}-p${n}`
  const id = await create(trial, path)
  await ledger.change('delete project', path, 'in bin', () => call(url, 'DELETE', `/projects/${id}`))
  if (aim === 'restore project' || (aim !== 'delete for good' && n % 2 === 0)) {
    await ledger.change('restore project', path, 'there', () => call(url, 'POST', `/projects/${id}/restore`))
    return
  }
  const confirmed = { permanently_remove: true, full_path: `root/${path}` }
  await ledger.change('delete for good', path, 'gone', () => call(url, 'DELETE', `/projects/${id}`, confirmed))
}

async function branches({ round, ledger, at, tip }: Trial, n: number): Promise<void> {
  const { url, aim } = round
  const branch = `b${n}`
  await call(url, 'POST', `${at}/repository/branches`, { branch, ref: tip })
  ledger.enter(branch, 'delete branch', tip, (url) => tipAt(url, at, branch))
  await ledger.change('delete branch', branch, 'gone', () => call(url, 'DELETE', `${at}/repository/branches/${branch}`))
  if (aim !== 'undo' && n % 2 === 0) return
  const changes = `${at}/repository/ref_changes`
  const [deletion] = (await call(url, 'GET', `${changes}?ref=refs/heads/${branch}`)) as unknown as [{ id: number }]
  await ledger.change('undo', branch, tip, () => call(url, 'POST', `${changes}/${deletion.id}/undo`))
}

async function forks({ round: { name, url }, ledger, at, tip }: Trial, n: number): Promise<void> {
  const path = `${name}-f${n}`
  ledger.enter(path, 'fork', 'gone', (url) => stateOf(url, path, { tip }))
  await ledger.change('fork', path, 'there', () => call(url, 'POST', `${at}/fork`, { path, name: path }))
}

async function imports({ round: { name, url, origin }, ledger }: Trial, n: number): Promise<void> {
  const path = `${name}-i${n}`
  ledger.enter(path, 'import', 'gone', (url) => stateOf(url, path, { tip: origin.tip }))
  const input = { path, import_url: origin.url }
  await ledger.change('import', path, 'there', () => call(url, 'POST', '/projects', input))
}

async function artifacts({ round, ledger, at, runner, taken }: Trial, n: number): Promise<void> {
  const { url } = round
  const { id, token } = await call(url, 'POST', '/jobs/request', { token: runner })
  if (id === undefined) return
  taken.push({ id, token })
  const content = new Uint8Array(await zipped({ 'x/made.txt': `${round.name} ${n}\n`.repeat(20_000) }))
  const digest = hash('sha256', content)
  const subject = `artifacts of job ${id}`
  ledger.enter(subject, 'artifact', 'none', async (url) => {
    const headers = { 'PRIVATE-TOKEN': MORTISE_ROOT_TOKEN }
    const answer = await fetch(`${url}/api/v4${at}/jobs/${id}/artifacts`, { headers })
    return answer.ok ? hash('sha256', new Uint8Array(await answer.arrayBuffer())) : 'none'
  })
  await ledger.change('artifact', subject, digest, async () => {
    const body = new FormData()
    body.append('file', new Blob([content]), 'artifacts.zip')
    const headers = { 'JOB-TOKEN': token as string }
    const answer = await fetch(`${url}/api/v4/jobs/${id}/artifacts`, { method: 'POST', headers, body })
    if (answer.status !== 201) throw new Error(`artifacts: ${answer.status} ${await answer.text()}`)
  })
  await call(url, 'PUT', `/jobs/${id}`, { token, state: 'success' })
}

/** A repository of many files becomes one pack, while commits go on. */
async function housekeeping(trial: Trial, n: number): Promise<void> {
  const { round, ledger } = trial
  const { url, database, settings } = round
  const path = `${round.name}-h${n}`
  const id = await create(trial, path)
  const at = `/projects/${id}`
  const commits = `commits of ${path}`
  let last = 0
  const add = async (n: number) => {
    await ledger.change('API commit', commits, `file ${n}`, () => commit(url, at, 'master', `${n}.txt`))
    last = n
  }
  ledger.enter(commits, 'API commit', 'file 0', async (url) => {
    const isThere = async (n: number) => (await ask(url, `${at}/repository/files/${n}.txt?ref=master`)) !== null
    return (await isThere(last + 1))
      ? `file ${last + 1}`
      : last === 0 || (await isThere(last))
        ? `file ${last}`
        : 'less'
  })
  for (const n of [1, 2, 3]) await add(n)
  const [{ disk_path }] = (await inStore(database, (db) =>
    db.selectFrom('projects').select('disk_path').where('id', '=', id).execute(),
  )) as [{ disk_path: string }]
  const packs = join(settings.MORTISE_DATA!, 'repositories', disk_path, 'objects/pack')
  const subject = `objects of ${path}`
  ledger.enter(subject, 'housekeeping', 'loose', async () =>
    (await readdir(packs)).some((name) => name.endsWith('.pack')) ? 'packed' : 'loose',
  )
  await ledger.change('housekeeping', subject, 'packed', () => call(url, 'POST', `${at}/housekeeping`))
  await add(4)
}

async function backup(trial: Trial, n: number): Promise<void> {
  const { ledger, backups, round } = trial
  const subject = `backup ${n}`
  ledger.enter(subject, 'backup', 'none', async () => (backups.moments.length > n ? 'made' : 'none'))
  const make = round.isContinuous ? nextCapture : runBackup
  await ledger.change('backup', subject, 'made', () => make(trial))
}

async function runBackup({ round: { archive, settings }, backups }: Trial): Promise<void> {
  await using command = new Child(['backup', archive], settings)
  backups.command = command
  const code = await command.ended()
  if (code === 'SIGKILL') throw new CutOff('mortise backup')
  if (code !== 0) throw new Error(`mortise backup: ${code} ${command.stderr}`)
  backups.moments.push(/^(\S+Z): /m.exec(command.stdout)![1]!)
}

const statusOf = (url: string) => call(url, 'GET', '/application/backup')

/** Waits for the next moment that the server captures. */
async function nextCapture({ round: { url }, backups }: Trial): Promise<void> {
  const last = backups.moments.at(-1)
  for (;;) {
    const { captured_at } = await statusOf(url)
    if (captured_at !== null && captured_at !== last) return void backups.moments.push(captured_at as string)
    await sleep(PAUSE_MS)
  }
}

const LOOPS: Partial<Record<RecordKind, (trial: Trial, n: number) => Promise<void>>> = {
  'create project': projects,
  'delete branch': branches,
  fork: forks,
  import: imports,
  artifact: artifacts,
  housekeeping,
  backup,
}

const LOOP_OF: Partial<Record<RecordKind, RecordKind>> = {
  'delete project': 'create project',
  'delete for good': 'create project',
  'restore project': 'create project',
  undo: 'delete branch',
}

async function work(trial: Trial): Promise<void> {
  const { ledger, round } = trial
  const aimed = LOOP_OF[round.aim] ?? round.aim
  // A backup is a command of its own, which takes longer than everything else.
  const loops = Object.entries(LOOPS).filter(([kind]) => kind !== 'backup' || aimed === 'backup')
  await Promise.all(
    loops.map(([kind, once]) =>
      ledger.untilKilled(async () => {
        for (let n = 0; !ledger.isKilled && (kind === aimed || n < ROUNDS_ASIDE); n++) {
          await once(trial, n)
          await sleep(PAUSE_MS)
        }
      }),
    ),
  )
}

/** Jobs that the runner was given end, as their runner says. */
async function endJobs(url: string, { at, taken }: Trial): Promise<void> {
  for (const { id, token } of taken) {
    const { status } = await call(url, 'GET', `${at}/jobs/${id}`)
    if (status !== 'success') await call(url, 'PUT', `/jobs/${id}`, { token, state: 'success' })
  }
}

export async function recordsTrial(round: RecordsRound): Promise<Outcomes> {
  const { aim, next, database } = round
  const trial = await begin(round)
  const { ledger, backups } = trial
  const working = work(trial)
  const most = 1 + Math.floor(next() * MOST_REQUESTS)
  const isReached = () => ledger.begun.filter((kind) => kind === aim).length >= (aim === 'backup' ? 1 : most)
  await until(() => isReached() || ledger.faults.length > 0, { every: 1 })
  await sleep(next() * (MOMENT_MS[aim] ?? SHORT_MOMENT_MS))
  ledger.isKilled = true
  backups.command?.process.kill('SIGKILL')
  const killedAt = Date.now()
  await round.kill()
  await working
  if (ledger.faults.length > 0) throw new Error(`${round.name}, ${aim}: ${ledger.faults.join('; ')}`)

  const url = await round.restart()
  const outcomes = outcomesOf([...RECORD_KINDS, 'API commit'])
  const began = performance.now()
  await endJobs(url, trial)
  await ledger.compare(url, outcomes, 3 * RESUMED_MS)
  while ((await isUnsettled(database)).some((left) => left > 0)) {
    if (performance.now() - began > 3 * RESUMED_MS)
      throw new Error(`${round.name} is not resumed: ${JSON.stringify(await isUnsettled(database))}`)
    await sleep(50)
  }
  outcomes[aim]!.resumed = Math.max(outcomes[aim]!.resumed, performance.now() - began)
  if (aim === 'backup') await compareBackups(url, trial, killedAt, outcomes)
  return outcomes
}

/** The last moment before the kill can be restored, and the next backup goes on. */
async function compareBackups(
  url: string,
  { round, backups }: Trial,
  killedAt: number,
  outcomes: Outcomes,
): Promise<void> {
  const { archive, settings, isContinuous } = round
  const { moments } = backups
  const verify = async (...at: string[]) => {
    const { code, stdout, stderr } = await run(['backup', 'verify', archive, ...at], settings)
    if (code !== 0) outcomes.backup!.lost.push(`${at.join(' ')}: ${stdout}${stderr}`)
  }
  const last = moments.at(-1)
  if (last !== undefined) await verify('--at', last)
  const began = performance.now()
  if (isContinuous) await until(async () => Date.parse((await statusOf(url)).current_at) > killedAt, { every: 50 })
  else expect(await run(['backup', archive], settings)).toMatchObject({ code: 0, stderr: '' })
  outcomes.backup!.resumed = Math.max(outcomes.backup!.resumed, performance.now() - began)
  await verify()
}
