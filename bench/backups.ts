/** Backup and restore of a generated instance, compared with copying its files to the same disk in the same run. */
import { execFile, spawn } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { postgresDatabase } from '../src/store/temporary.ts'
import { alternately, type Bench, type Compared } from './bench.ts'
import { SECRET_KEY } from './seed.ts'
import { main, makeServerFolder, removeAtExit, startOurs, type ServerFolder } from './servers.ts'
import { ms, type Row } from './table.ts'

const run = promisify(execFile)
const MB = 1024 * 1024
const ROOT_TOKEN = 'a-root-token-of-the-bench'
const REPOSITORIES = 4
/** A fifth of the bytes are uploads, the rest is in repositories. */
const UPLOADS = 0.2
const UPLOAD_MB = 8
const BLOB_MB = 4
const MOST_ROUNDS = 3
/** A large instance is copied often enough by one round. */
const LARGE_MB = 1024

type Outcome = Omit<Row, 'what' | 'target'>

export interface BackupBench extends AsyncDisposable {
  readonly rounds: number
  /** Makes a new backup of everything. */
  first(): Promise<Compared>
  /** Adds a commit, and makes the next backup. */
  next(): Promise<Compared>
  restore(): Promise<Compared>
}

export async function openBackupBench({ postgres, effort }: Bench, megabytes: number): Promise<BackupBench> {
  const stack = new AsyncDisposableStack()
  const work = await mkdtemp(join(tmpdir(), 'mortise-bench-backup-'))
  removeAtExit(work)
  stack.defer(() => rm(work, { recursive: true, force: true }))
  const serverFolder = stack.use(await makeServerFolder(postgres, 0))
  const server = stack.use(await startOurs(serverFolder, { rootToken: ROOT_TOKEN }))
  const ask = async (path: string, body: FormData | object) => {
    const isForm = body instanceof FormData
    const answer = await fetch(`http://127.0.0.1:${server.port}/api/v4${path}`, {
      method: 'POST',
      headers: { 'PRIVATE-TOKEN': ROOT_TOKEN, ...(!isForm && { 'Content-Type': 'application/json' }) },
      body: isForm ? body : JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
  }
  await generate(serverFolder, ask, megabytes)
  const rounds = megabytes >= LARGE_MB ? 1 : Math.min(effort.rounds, MOST_ROUNDS)
  const dest = join(work, 'backup')
  const copy = async () => {
    const target = join(work, 'copy')
    const time = await timed(async () => {
      await run('cp', ['-r', serverFolder.data, target])
      await run('sh', ['-c', `find "$0" -type f -print0 | xargs -0 sync`, target])
    })
    await rm(target, { recursive: true })
    return time
  }
  const command = (args: string[], settings: Record<string, string>) =>
    timed(() => run(process.execPath, [main, ...args], { env: { PATH: process.env.PATH, ...settings } }))
  const settings = {
    MORTISE_DATA: serverFolder.data,
    MORTISE_SECRET_KEY: SECRET_KEY,
    ...(postgres && { MORTISE_DATABASE_URL: serverFolder.databaseUrl }),
  }
  let commits = 0
  return {
    rounds,
    first: () =>
      alternately(
        rounds,
        async () => {
          await rm(dest, { recursive: true, force: true })
          return command(['backup', dest], settings)
        },
        copy,
      ),
    next: () =>
      alternately(
        rounds,
        async () => {
          const actions = [{ action: 'create', file_path: `${++commits}.txt`, content: 'more' }]
          await ask('/projects/1/repository/commits', { branch: 'master', commit_message: 'More', actions })
          return command(['backup', dest], settings)
        },
        copy,
      ),
    restore: () =>
      alternately(
        rounds,
        async () => {
          const database = postgres ? await postgresDatabase(postgres) : null
          const target = join(work, 'restored')
          const time = await command(['restore', dest], {
            ...settings,
            MORTISE_DATA: target,
            ...(database && { MORTISE_DATABASE_URL: database.url }),
          })
          await rm(target, { recursive: true })
          await database?.drop()
          return time
        },
        copy,
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

type Ask = (path: string, body: FormData | object) => Promise<void>

/** Content that cannot be compressed: some repositories with large packs, and uploads. */
async function generate({ data }: ServerFolder, ask: Ask, megabytes: number): Promise<void> {
  for (let n = 1; n <= REPOSITORIES; n++) await ask('/projects', { path: `large${n}`, initialize_with_readme: true })
  const uploads = Math.max(1, Math.round((megabytes * UPLOADS) / UPLOAD_MB))
  for (let n = 0; n < uploads; n++) {
    const body = new FormData()
    body.append('file', new Blob([noise(UPLOAD_MB)]), 'some.bin')
    await ask('/projects/1/uploads', body)
  }
  const folders = globSync(join(data, 'repositories/*/*/*.git'))
  const blobs = Math.max(1, Math.round((megabytes * (1 - UPLOADS)) / REPOSITORIES / BLOB_MB))
  for (const folder of folders) await importNoise(folder, blobs)
}

const noise = (megabytes: number) => randomFillSync(new Uint8Array(megabytes * MB))

/** On a branch of its own, so that the database still agrees with the repository. */
async function importNoise(folder: string, blobs: number): Promise<void> {
  const config = ['core.compression=0', 'pack.compression=0', 'core.bigFileThreshold=1m'].flatMap((one) => ['-c', one])
  const git = spawn('git', [...config, `--git-dir=${folder}`, 'fast-import', '--quiet'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(git, 'exit') as Promise<[number]>
  await pipeline(Readable.from(noisyCommit(blobs)), git.stdin)
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

function* noisyCommit(blobs: number): Generator<string | Uint8Array> {
  yield 'commit refs/heads/large\ncommitter Bench <bench@example.com> 1700000000 +0000\ndata 4\nmore\n'
  for (let n = 0; n < blobs; n++) {
    yield `M 100644 inline ${n}.bin\ndata ${BLOB_MB * MB}\n`
    yield noise(BLOB_MB)
    yield '\n'
  }
}

/** How many times a copy a large restore may take. */
const MOST_RATIO = 2

export const asOutcome = ({ ours, floor, ratio }: Compared, hasTarget = false): Outcome => ({
  ours: ms(ours),
  floor: ms(floor),
  ratio,
  met: hasTarget ? ratio <= MOST_RATIO : null,
})
