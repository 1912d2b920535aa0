/** Finds the repository of a URL. */
import type { App } from '../context.ts'
import {
  findNamespaceById,
  findProject,
  findProjectById,
  type Namespace,
  type Project,
} from '../features/projects/projects/queries.ts'
import { findRedirect } from '../features/projects/paths/redirects.ts'
import { withoutSlashes } from '../lib/text/trimming.ts'

/** A URL inside a repository, split into parts. */
export interface RepositoryAddress {
  /** `group/project.git`, decoded. */
  readonly path: string
  /** The path after it, e.g. `info/refs`. */
  readonly rest: string
}

export interface RepositoryLocation {
  readonly project: Project
  readonly namespace: Namespace
  readonly wiki: boolean
  /** The requested path, if the project has moved since. */
  readonly movedFrom?: string
}

// oxlint-disable-next-line no-control-regex -- it is about them
const MISLEADING = /^\.{0,2}$|[\\\0-\x1f\x7f]/

/**
 * Accepts `group/project.git` and `group/project.wiki.git`, also without the extension or with a leading slash, in any
 * case. The caller must check access afterwards.
 */
export async function findRepository(app: App, path: string): Promise<RepositoryLocation | null> {
  const full = withoutSlashes(path).replace(/\.git$/i, '')
  const segments = full.split('/')
  // A single number would be read as an id.
  if (segments.length < 2 || segments.some((segment) => MISLEADING.test(segment))) return null
  const [, ofWiki] = /^(.*[^/])\.wiki$/i.exec(full) ?? []
  return (await locationAt(app, full, false)) ?? (ofWiki === undefined ? null : locationAt(app, ofWiki, true))
}

async function locationAt(app: App, path: string, wiki: boolean): Promise<RepositoryLocation | null> {
  const project = await findProject(app.db, path)
  if (project) return repositoryOf(app, project, { wiki })
  const moved = await movedProject(app, path)
  return moved && repositoryOf(app, moved, { wiki, movedFrom: path })
}

async function repositoryOf(
  app: App,
  project: Project,
  more: Pick<RepositoryLocation, 'wiki' | 'movedFrom'>,
): Promise<RepositoryLocation | null> {
  const namespace = await findNamespaceById(app.db, project.namespace_id)
  return namespace && { project, namespace, ...more }
}

/** Finds a project by its own old path, or by the old path of a group above it. */
async function movedProject({ db }: App, path: string): Promise<Project | null> {
  const redirect = await findRedirect(db, path.split('/'))
  if (!redirect) return null
  const rest = path.slice(redirect.path.length)
  if (redirect.project_id !== null) return rest === '' ? findProjectById(db, redirect.project_id) : null
  const namespace = await findNamespaceById(db, redirect.namespace_id!)
  return namespace && rest !== '' ? findProject(db, namespace.full_path + rest) : null
}
