import { job, type App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { copyRepository } from '../../../git/copy.ts'
import { fillRepository } from '../projects/filling.ts'
import { repositoryDir } from '../projects/repository.ts'

/** The source is in the payload: the fork's own relation may be removed before its repository is there. */
export const copyRepositoryOf = job<{ id: number; source_id: number }>(
  'projects.fork',
  (app, { id, source_id }, ending) =>
    fillRepository(app, id, ending, {
      async fill(_fork, dir, signal) {
        await copyRepository(await sourceDir(app, source_id), dir, { signal })
      },
      explain: (error) => (error instanceof Refusal ? error.message : 'The repository could not be copied'),
    }),
  { long: true },
)

async function sourceDir(app: App, id: number): Promise<string> {
  const source = await app.db
    .selectFrom('projects')
    .select(['repository_storage', 'disk_path'])
    .where('id', '=', id)
    .executeTakeFirst()
  if (!source) throw new Refusal('not_found', 'The source project is gone')
  return repositoryDir(app, source)
}
