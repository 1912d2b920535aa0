import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { createRepository } from '../../../git/repositories.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { recordActivity } from '../../identity/activities/service.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { wikiDir } from '../../projects/projects/repository.ts'
import type { Pusher, Update } from './updates.ts'

const WIKI_BRANCH = 'master'

export async function openWiki(app: App, project: Project): Promise<string> {
  const dir = wikiDir(app, project)
  await createRepository(dir, { defaultBranch: WIKI_BRANCH })
  return dir
}

/** Wikis know no protection and no push rules; that they changed is told all the same. */
export async function wikiMoved(
  app: App,
  pusher: Pusher,
  { project }: { project: Project },
  updates: readonly Update[],
): Promise<void> {
  await transact(app, async (app) => {
    await app.db
      .updateTable('projects')
      .set({ last_activity_at: timestamp(app.clock) })
      .where('id', '=', project.id)
      .execute()
    await emit(app, 'repository.changed', {
      project_id: project.id,
      wiki: true,
      by: pusher.user?.id ?? null,
      updates: updates.map(({ ref, before, after }) => ({ ref, before, after })),
      options: [],
    })
  })
  if (pusher.user) await recordActivity(app, pusher.user)
}
