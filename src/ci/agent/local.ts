/** Runs a job on a working copy, without a server. A folder stores the archives. */
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { ArtifactsRefused, type ArtifactDoor } from './artifacts.ts'
import { executeJob } from './execute.ts'
import type { Executor } from './executor.ts'
import { jobSchema, type JobInput, type JobResult } from './job.ts'
import { JobLog } from './job-log.ts'
import { sharedEnvironment } from './processes.ts'
import { shellExecutor } from './shell.ts'

export interface LocalOptions {
  /** The folder for builds, caches and artifacts; kept between runs. */
  readonly state: string
  /** Receives the output of the job without its secrets. */
  readonly output: (chunk: Buffer) => void
  /** The environment of this process. Jobs get only the harmless variables. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly executor?: Executor
  /** Each parallel job needs its own slot. */
  readonly slot?: number
  readonly signal?: AbortSignal
  /** Default: a folder below `state`. */
  readonly artifacts?: ArtifactDoor
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER
const CHUNK = 256 * 1024

/** `git_info` names the commit of the working copy; nothing is fetched. */
export async function runLocally(given: JobInput, folder: string, options: LocalOptions): Promise<JobResult> {
  const job = jobSchema.parse(given)
  const { state, output, environment, executor = shellExecutor, slot = 0, signal } = options
  const artifacts = options.artifacts ?? artifactFolder(join(state, 'artifacts'), given.id)
  await mkdir(state, { recursive: true, mode: 0o700 })
  const file = join(state, `job-${job.id}.log`)
  let printed = 0
  let printing: Promise<void> = Promise.resolve()
  const log = await JobLog.open(file, {
    limit: UNBOUNDED,
    onGrown: () => {
      printing = printing.then(async () => {
        while (printed < log.size) {
          const bytes = await log.read(printed, Math.min(CHUNK, log.size - printed))
          printed += bytes.length
          output(bytes)
        }
      })
    },
  })
  try {
    return await executeJob(job, {
      executor,
      folder: join(state, 'slots', String(slot)),
      cacheFolder: join(state, 'cache'),
      slot,
      log,
      artifacts,
      environment: sharedEnvironment(environment),
      workingCopy: folder,
      ...(signal ? { signal } : {}),
    })
  } finally {
    await printing
    await log[Symbol.asyncDispose]()
    await rm(file, { force: true })
  }
}

/** Stores archives by job id, such as `artifacts/12/archive/artifacts.zip`. */
export function artifactFolder(root: string, id: number): ArtifactDoor {
  return {
    async download(dependency, file) {
      const stored = join(root, String(dependency.id), 'archive', dependency.artifacts_file.filename)
      const isCopied = await copyFile(stored, file).then(() => true, nullIfMissing)
      if (!isCopied) throw new ArtifactsRefused(`there are no artifacts of ${dependency.name}`)
    },
    async upload({ filename, type, content }, signal) {
      const folder = join(root, String(id), type.replace(/\W/g, '_'))
      await rm(folder, { recursive: true, force: true })
      await mkdir(folder, { recursive: true })
      const draft = join(folder, '.draft')
      await pipeline(Readable.from(content(), { objectMode: false }), createWriteStream(draft), { signal })
      await rename(draft, join(folder, filename))
    },
  }
}
