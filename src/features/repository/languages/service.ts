import type { App } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { languagesAt } from './queries.ts'

/** The maximum number of stored languages, largest shares first. */
const MOST_KEPT = 50

/** Stores the current languages of a project. Idempotent. */
export async function keepLanguages(app: App, project: Project): Promise<void> {
  const project_id = project.id
  const found = await languagesAt(repositoryDir(app, project), project.default_branch)
  const tree = found?.tree ?? ''
  const known = await app.db
    .selectFrom('project_language_trees')
    .select('tree')
    .where('project_id', '=', project_id)
    .executeTakeFirst()
  if (known?.tree === tree) return
  const shares = Object.entries(found?.shares ?? {}).toSorted(([, one], [, other]) => other - one)
  const rows = shares.slice(0, MOST_KEPT).map(([name, share]) => ({ project_id, name, share }))
  await transact(app, async ({ db }) => {
    await db.deleteFrom('project_languages').where('project_id', '=', project_id).execute()
    if (rows.length > 0) await db.insertInto('project_languages').values(rows).execute()
    await db
      .insertInto('project_language_trees')
      .values({ project_id, tree })
      .onConflict((c) => c.column('project_id').doUpdateSet({ tree }))
      .execute()
  })
}
