/** Checks the whole instance: the database itself, repositories, and files. */
import type { App } from '../../../context.ts'
import type { CheckOptions, Finding } from './findings.ts'
import { checkFolders, checkLeftovers, checkReferencedBlobs } from './leftovers.ts'
import { checkRepositories } from './service.ts'

export interface FindingOfAll extends Finding {
  readonly subject: 'database' | 'repository' | 'file'
}

/** Ends early if the database is damaged: then comparing other data with it is meaningless. */
export async function* checkInstance(app: App, options: CheckOptions = {}): AsyncGenerator<FindingOfAll> {
  const broken = await app.store.faults()
  if (broken.length > 0) return yield { subject: 'database', path: 'database', faults: broken }
  for await (const finding of checkRepositories(app, options)) yield { subject: 'repository', ...finding }
  for (const some of [checkFolders(app), checkReferencedBlobs(app), checkLeftovers(app, options)])
    for await (const finding of some) yield { subject: 'file', ...finding }
}
