import { join } from 'node:path'
import type { App } from '../../../context.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import type { Project } from '../projects/queries.ts'

/** Random, so that no two projects ever share a folder, and renaming a project moves no files. */
export const newDiskPath = (): string => {
  const name = randomHex(20)
  return `${name.slice(0, 2)}/${name.slice(2, 4)}/${name}.git`
}

/** The folder of a project's repository. */
export const repositoryDir = (app: App, project: Pick<Project, 'repository_storage' | 'disk_path'>): string =>
  join(app.config.storages[project.repository_storage] ?? app.config.storages['default']!, project.disk_path)

/** The wiki's repository next to the project's own. Created on first use. */
export const wikiDir = (app: App, project: Pick<Project, 'repository_storage' | 'disk_path'>): string =>
  repositoryDir(app, project).replace(/\.git$/, '.wiki.git')
