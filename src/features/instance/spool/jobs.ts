import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DAY } from '../../../clock.ts'
import { job } from '../../../context.ts'

/** What a process left half written when it was killed; no upload takes a day. */
export const sweep = job(
  'instance.sweep',
  async (app) => {
    const { data } = app.config
    const oldest = app.clock.now().getTime() - DAY
    for (const folder of [join(data, 'spool'), join(data, 'blobs', 'drafts')]) {
      for (const name of await readdir(folder).catch(() => [])) {
        const path = join(folder, name)
        const left = await stat(path).catch(() => null)
        if (left && left.mtimeMs < oldest) await rm(path, { recursive: true, force: true })
      }
    }
  },
  { every: DAY },
)
