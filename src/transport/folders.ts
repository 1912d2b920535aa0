import type { App } from '../context.ts'
import { Refusal } from '../errors.ts'
import { repositoryDir, wikiDir } from '../features/projects/repositories/repository.ts'
import { openWiki } from '../features/repository/gate/wikis.ts'
import { repositoryExists } from '../git/storage/repositories.ts'
import type { RepositoryLocation } from './locations.ts'

/** The folder of the repository. The first push creates the repository of a wiki. */
export async function folderOf(
  app: App,
  { project, wiki }: RepositoryLocation,
  verb: 'fetch' | 'push',
): Promise<string> {
  if (wiki && verb === 'push') return openWiki(app, project)
  const dir = wiki ? wikiDir(app, project) : repositoryDir(app, project)
  if (await repositoryExists(dir)) return dir
  throw new Refusal('not_found', 'A repository for this project does not exist yet.')
}
