import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../../clock.ts'
import { job } from '../../../context.ts'
import { isLeftover } from '../../../git/storage/drafts.ts'

/** What a process left half written when it was killed; no upload takes a day. */
export const sweep = job(
  'instance.sweep',
  async (app) => {
    const { data } = app.config
    // Files carry the system's time, whatever a test's clock says.
    const oldest = Date.now() - DAY
    for (const folder of [join(data, 'spool'), join(data, 'blobs', 'drafts')]) {
      for (const name of await entriesOf(folder)) await removeIfOlder(join(folder, name), oldest)
    }
    for (const storage of Object.values(app.config.storages)) await sweepStorage(storage, oldest)
  },
  { every: DAY },
)

const entriesOf = (folder: string) => readdir(folder).catch(() => [])

async function removeIfOlder(path: string, oldest: number): Promise<void> {
  const left = await stat(path).catch(() => null)
  if (left && left.mtimeMs < oldest) await rm(path, { recursive: true, force: true })
}

/** Repositories that were not finished, or not yet removed, among all others. */
async function sweepStorage(storage: string, oldest: number): Promise<void> {
  for (const first of await entriesOf(storage)) {
    for (const second of await entriesOf(join(storage, first))) {
      const folder = join(storage, first, second)
      for (const name of await entriesOf(folder)) if (isLeftover(name)) await removeIfOlder(join(folder, name), oldest)
    }
  }
}
