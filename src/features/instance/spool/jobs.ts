import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { isLeftover } from '../../../git/storage/drafts.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { sweepRepository } from '../../../git/storage/sweep.ts'
import { hasCode } from '../../../lib/files/system-errors.ts'

/**
 * Deletes files that a killed process left half written; no upload takes a day. A push sweeps its own repository, so
 * this is for repositories that get no more pushes.
 */
export const sweep = job(
  'instance.sweep',
  async (app, _payload, signal) => {
    // Files have the system's time, even if a test sets another clock.
    const before = new Date(Date.now() - DAY)
    for await (const path of findHalfWritten(app, before)) await rm(path, { recursive: true, force: true })
    for (const storage of storagesOf(app))
      for await (const dir of foldersIn(storage)) {
        signal?.throwIfAborted()
        await sweepIfThere(dir, before)
      }
  },
  { every: DAY, long: true },
)

/** The folder may be deleted at any moment. */
async function sweepIfThere(dir: string, before: Date): Promise<void> {
  try {
    if (await repositoryExists(dir)) await sweepRepository(dir, { before })
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}

/** Uploads, unfinished blobs, and repositories that were not completely created or deleted. */
export async function* findHalfWritten(app: App, before: Date): AsyncGenerator<string> {
  const { data } = app.config
  for (const folder of [join(data, 'spool'), join(data, 'blobs', 'drafts')])
    for (const name of await entriesOf(folder)) if (await isOlder(join(folder, name), before)) yield join(folder, name)
  for (const storage of storagesOf(app))
    for await (const dir of foldersIn(storage)) if (isLeftover(dir) && (await isOlder(dir, before))) yield dir
}

const storagesOf = ({ config }: App) => new Set(Object.values(config.storages))

/** `ab/cd/abcd….git`, `@pools/ab/abcd….git` */
async function* foldersIn(storage: string): AsyncGenerator<string> {
  for (const first of await entriesOf(storage))
    for (const second of await entriesOf(join(storage, first)))
      for (const name of await entriesOf(join(storage, first, second))) yield join(storage, first, second, name)
}

const entriesOf = (folder: string) => readdir(folder).catch(() => [])

async function isOlder(path: string, before: Date): Promise<boolean> {
  const left = await stat(path).catch(() => null)
  return left !== null && left.mtime < before
}
