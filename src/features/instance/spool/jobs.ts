import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { isLeftover } from '../../../git/storage/drafts.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { sweepRepository } from '../../../git/storage/sweep.ts'
import { hasCode } from '../../../lib/system-errors.ts'

/**
 * What a process left half written when it was killed; no upload takes a day. A repository is swept after each push:
 * this is for those that nobody pushes to any more.
 */
export const sweep = job(
  'instance.sweep',
  async (app, _payload, signal) => {
    // Files carry the system's time, whatever a test's clock says.
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

/** It may be removed at any moment. */
async function sweepIfThere(dir: string, before: Date): Promise<void> {
  try {
    if (await repositoryExists(dir)) await sweepRepository(dir, { before })
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
  }
}

/** Uploads, drafts of blobs, and repositories that were not finished, or not yet removed. */
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
