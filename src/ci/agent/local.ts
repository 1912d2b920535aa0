/** Runs a job on a working copy, without a server: its archives go to a folder and come from there. */
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nullIfMissing } from '../../lib/system-errors.ts'
import { ArtifactsRefused, type ArtifactDoor } from './artifacts.ts'
import { executeJob } from './execute.ts'
import type { Executor } from './executor.ts'
import { jobSchema, type JobInput, type JobResult } from './job.ts'
import { JobLog } from './job-log.ts'
import { sharedEnvironment } from './processes.ts'
import { shellExecutor } from './shell.ts'

export interface LocalOptions {
  /** For builds, caches and artifacts; kept from run to run. */
  readonly state: string
  /** What the job prints, without its secrets, as it comes. */
  readonly output: (chunk: Buffer) => void
  /** Of this process; jobs see the harmless part of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly executor?: Executor
  /** Jobs that run at the same time need one each. */
  readonly slot?: number
  readonly signal?: AbortSignal
  /** A folder below the state, unless told otherwise. */
  readonly artifacts?: ArtifactDoor
}

const UNBOUNDED = Number.MAX_SAFE_INTEGER
const CHUNK = 256 * 1024

/** `git_info` names what the working copy is at; nothing is fetched. */
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

/** By the number of the job, as `artifacts/12/archive/artifacts.zip`. */
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
