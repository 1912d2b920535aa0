import type { App } from '../../../context.ts'
import { createRepository } from '../../../git/storage/repositories.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import type { ChangedPage } from './model.ts'
import { landUpdates } from './service.ts'
import type { Pusher, Update } from './updates.ts'

export const WIKI_BRANCH = 'master'

export async function openWiki(app: App, project: Project): Promise<string> {
  const dir = wikiDir(app, project)
  await createRepository(dir, { defaultBranch: WIKI_BRANCH })
  return dir
}

/** Wikis have no protection and no push rules, but their changes are published, too. */
export const changeWiki = (
  app: App,
  pusher: Pusher,
  { project }: { project: Project },
  updates: readonly Update[],
  page?: ChangedPage,
): Promise<void> => landUpdates(app, pusher, wikiDir(app, project), { project, wiki: true, updates, page })
