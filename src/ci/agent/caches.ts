/**
 * Caches of jobs: archives in a folder of the agent, by project, scope and key. Users write the keys. The server
 * decides the scope of a job, so a job on an unprotected ref never reaches a cache of protected refs.
 */
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { BadZip } from '../../lib/zip/reader.ts'
import { zipOf } from '../../lib/zip/writer.ts'
import { collectFiles, TooManyFiles, zipInputs, type BuildFolder } from './collecting.ts'
import { extractZip } from './extracting.ts'
import type { Cache, Job } from './job.ts'
import { compressionLevel } from './artifacts.ts'
import type { Variables } from './variables.ts'

export interface CacheJob {
  readonly job: Job
  readonly variables: Variables
  /** The folder for the caches of this project. */
  readonly folder: string
  readonly buildFolder: BuildFolder
  readonly signal: AbortSignal
}

const BOTH = ['pull-push', '']

const pulls = ({ policy }: Cache): boolean => [...BOTH, 'pull'].includes(policy)
export const pushes = ({ policy }: Cache): boolean => [...BOTH, 'push'].includes(policy)

/** The default is `on_success`. */
export const isDue = (when: string, isSuccess: boolean): boolean =>
  when === 'always' || when === (isSuccess ? 'on_success' : 'on_failure') || (when === '' && isSuccess)

export async function restoreCache(given: CacheJob, cache: Cache): Promise<void> {
  const { buildFolder, variables, signal } = given
  const policy = variables.expand(cache.policy)
  if (!pulls({ ...cache, policy })) return buildFolder.say(`Not downloading cache ${keyOf(given, cache)} due to policy`)
  const fallbacks = [...cache.fallback_keys.map((key) => variables.expand(key)), variables.get('CACHE_FALLBACK_KEY')]
  const keys = new Set([keyOf(given, cache), ...fallbacks].filter(Boolean))
  for (const key of keys) {
    await buildFolder.say(`Checking cache for ${key}...`)
    const file = await existing(scopesOf(given, cache).map((scope) => fileOf(given, scope, key)))
    if (file === null) {
      await buildFolder.warn('cache file does not exist')
      continue
    }
    try {
      await extractZip(file, buildFolder.root, { signal })
      // Stores the time of the last use, for a cleanup of the folder.
      await utimes(file, new Date(), (await stat(file)).mtime)
      return await buildFolder.say('Successfully extracted cache')
    } catch (error) {
      if (!(error instanceof BadZip)) throw error
      await buildFolder.warn(`Failed to extract cache: the archive ${error.message}`)
    }
  }
}

export async function saveCache(given: CacheJob, cache: Cache): Promise<void> {
  const { buildFolder, variables, signal } = given
  const key = keyOf(given, cache)
  if (!pushes({ ...cache, policy: variables.expand(cache.policy) }))
    return buildFolder.say(`Not uploading cache ${key} due to policy`)
  await buildFolder.say(`Creating cache ${key}...`)
  const paths = cache.paths.map((path) => variables.expand(path))
  const target = fileOf(given, scopesOf(given, cache)[0], key)
  const draft = `${target}.${process.pid}.${given.job.id}`
  try {
    const files = await collectFiles(buildFolder, { paths, exclude: [], untracked: cache.untracked })
    if (files.length === 0) return await buildFolder.warn('No files to cache')
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    const level = compressionLevel(variables.get('CACHE_COMPRESSION_LEVEL'))
    const zip = Readable.from(zipOf(zipInputs(buildFolder.root, files), { level }))
    await pipeline(zip, createWriteStream(draft, { mode: 0o600 }), { signal })
    await chmod(draft, 0o600)
    // A concurrent reader of the old file can finish reading it.
    await rename(draft, target)
    await buildFolder.say('Created cache')
  } catch (error) {
    await rm(draft, { force: true })
    signal.throwIfAborted()
    if (!(error instanceof TooManyFiles) && !(error as NodeJS.ErrnoException).code) throw error
    await buildFolder.warn(`Failed to create cache: ${(error as Error).message}`)
  }
}

/** The server has already appended the label for protected refs. */
function keyOf({ job, variables }: CacheJob, { key }: Cache): string {
  return variables.expand(key) || `${job.job_info.name}/${job.git_info.ref}`
}

type Scope = 'protected' | 'non_protected' | 'published'

/**
 * The job writes the first scope and reads all of them. Unprotected refs only read caches that protected refs publish.
 */
function scopesOf({ job }: CacheJob, { unprotect }: Cache): [Scope, ...Scope[]] {
  if (job.git_info.protected) return unprotect ? ['published'] : ['protected']
  return unprotect ? ['non_protected', 'published'] : ['non_protected']
}

const fileOf = ({ folder }: CacheJob, scope: Scope, key: string) =>
  join(folder, scope, `${createHash('sha256').update(key).digest('hex')}.zip`)

async function existing(files: readonly string[]): Promise<string | null> {
  for (const file of files) if (await stat(file).catch(nullIfMissing)) return file
  return null
}
