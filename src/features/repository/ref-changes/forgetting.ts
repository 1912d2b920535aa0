import type { App } from '../../../context.ts'
import { withhold } from '../../../git/objects/withheld.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { schedulePrune } from '../../projects/housekeeping/jobs.ts'
import { releaseUndo } from '../../projects/housekeeping/undo.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { RefChange } from './model.ts'

/**
 * Earlier changes of the ref would keep the same commits. From now on nobody gets the commits by id, unless a branch or
 * another ref has them. A job deletes them.
 */
export async function forgetRefChanges(
  app: App,
  { project, dir }: RepositorySubject,
  { id, ref, wiki }: RefChange,
): Promise<void> {
  const forgotten = await app.db
    .deleteFrom('ref_changes')
    .where('project_id', '=', project.id)
    .where('wiki', '=', wiki)
    .where('ref', '=', ref)
    .where('id', '<=', id)
    .returning('before')
    .execute()
  if (!(await repositoryExists(dir))) return
  await releaseUndo(app, project, dir)
  await withhold(dir, [...new Set(forgotten.flatMap(({ before }) => before ?? []))])
  await schedulePrune(app, project)
}
