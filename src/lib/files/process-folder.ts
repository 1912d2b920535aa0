/** Folders for the work of one process, which may be killed. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hasProcessEnded, PROCESS_TAG, TAG_PATTERN } from '../async/process-tag.ts'
import { nullIfMissing } from './system-errors.ts'

/** Folders with the same prefix that killed processes left behind are removed, too. */
export async function makeProcessFolder(parent: string, prefix: string): Promise<AsyncDisposable & { path: string }> {
  for (const name of (await readdir(parent).catch(nullIfMissing)) ?? []) {
    const tag = name.startsWith(prefix) ? TAG_PATTERN.exec(name)?.[0] : undefined
    // Others may sweep at the same time, or own the folder.
    if (tag !== undefined && hasProcessEnded(tag)) await remove(join(parent, name)).catch(() => {})
  }
  await mkdir(parent, { recursive: true })
  const path = await mkdtemp(join(parent, `${prefix}${PROCESS_TAG}-`))
  return { path, [Symbol.asyncDispose]: () => remove(path) }
}

const remove = (path: string) => rm(path, { recursive: true, force: true })
