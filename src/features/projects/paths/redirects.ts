/**
 * Redirects of renamed and moved namespaces and projects. An old path leads to the new one until something else takes
 * the path.
 */
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { isGroupOf, isOpenTo, levelInGroup } from '../../access/authorizations/queries.ts'
import { projectPolicy } from '../projects/policy.ts'
import {
  findNamespaceById,
  findProject,
  findProjectById,
  loadProjectSubject,
  pathWithNamespace,
  type Namespace,
} from '../projects/queries.ts'

type Redirect = Row<'redirects'>

/** The maximum depth. Longer URLs name something inside a project. */
const DEEPEST = 25

const depthOf = (path: string) => path.split('/').length

/** The redirect with the longest matching prefix, unless an existing path matches as much. */
export async function findRedirect(db: Db, segments: readonly string[]): Promise<Redirect | null> {
  const starts = segments.slice(0, DEEPEST).map((_, n) => segments.slice(0, n + 1).join('/'))
  const paths = starts.map((path) => path.toLowerCase())
  const left = await db
    .selectFrom('redirects')
    .selectAll()
    .where(sql`lower(path)`, 'in', paths)
    .execute()
  const redirect = left.toSorted((a, b) => depthOf(b.path) - depthOf(a.path))[0]
  if (!redirect) return null

  const state = await db
    .selectFrom('namespaces')
    .select('full_path')
    .where(sql`lower(full_path)`, 'in', paths)
    .execute()
  const namespaces = Math.max(0, ...state.map(({ full_path }) => depthOf(full_path)))
  const project = await findProject(db, starts[namespaces] ?? '')
  const known = namespaces + (project ? 1 : 0)
  return depthOf(redirect.path) > known ? redirect : null
}

/** The target of a redirect, if the viewer may see it. */
export async function destinationOf(app: App, viewer: User | null, redirect: Redirect): Promise<string | null> {
  if (redirect.namespace_id !== null) {
    const namespace = await findNamespaceById(app.db, redirect.namespace_id)
    return namespace && (await sees(app, viewer, namespace)) ? namespace.full_path : null
  }
  const project = await findProjectById(app.db, redirect.project_id!)
  const subject = project && (await loadProjectSubject(app, project, viewer))
  return subject && projectPolicy.read(subject) ? pathWithNamespace(subject.project, subject.namespace) : null
}

/** Personal namespaces are public, like profiles. Groups follow their visibility. */
async function sees(app: App, viewer: User | null, { id, kind, visibility, deleting }: Namespace): Promise<boolean> {
  if (deleting) return false
  if (kind === 'user' || isOpenTo(viewer, visibility)) return true
  return (await levelInGroup(app.db, viewer, id)) >= Guest || isGroupOf(app.db, viewer, id)
}
