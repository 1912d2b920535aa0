import type { PageRequest } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { digestOfPresented } from '../../../lib/crypto/secrets.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Job } from '../jobs/model.ts'
import { JOB_TOKEN_PREFIX } from '../jobs/tokens.ts'

const byDigest = hotQuery((db, p: { digest: string }) =>
  db.selectFrom('ci_jobs').selectAll().where('token_digest', '=', p.digest),
)

/** Finds the job of a token, whatever its status. */
export async function jobOfToken({ db }: Pick<App, 'db'>, secret: string): Promise<Job | null> {
  if (!secret.startsWith(JOB_TOKEN_PREFIX)) return null
  return (await byDigest(db, { digest: digestOfPresented(secret) }))[0] ?? null
}

/** A job token is valid only while the job runs. */
export const isAlive = ({ status, erased_at }: Pick<Job, 'status' | 'erased_at'>): boolean =>
  (status === 'running' || status === 'canceling') && erased_at === null

interface Passage {
  readonly from: number
  readonly to: number
  /** Requires an allowlist entry: an open project is not enough. */
  readonly byName?: boolean
}

/**
 * Whether jobs of one project may access another project. Jobs may always access their own project. They may access
 * others that are open to all jobs, or whose allowlist names the job's project or a group above it.
 */
export async function isLetIn(db: Db, { from, to, byName = false }: Passage): Promise<boolean> {
  if (from === to) return true
  const door = await db.selectFrom('projects').select('job_token_scope_enabled').where('id', '=', to).executeTakeFirst()
  if (!door) return false
  if (!door.job_token_scope_enabled && !byName) return true
  const named = await db
    .selectFrom('job_token_allowlist as l')
    .select('l.id')
    .where('l.project_id', '=', to)
    .where((eb) =>
      eb.or([
        eb('l.allowed_project_id', '=', from),
        eb.exists(
          eb
            .selectFrom('projects')
            .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'projects.namespace_id')
            .select('projects.id')
            .where('projects.id', '=', from)
            .whereRef('a.ancestor_id', '=', 'l.allowed_group_id'),
        ),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return named !== undefined
}

/** The projects whose jobs may access a project. */
export const listAllowedProjects = (db: Db, project: number, page: PageRequest) =>
  pageOfQuery(
    db
      .selectFrom('job_token_allowlist as l')
      .innerJoin('projects as p', 'p.id', 'l.allowed_project_id')
      .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
      .select(['p.id', 'p.name', 'p.path', 'n.full_path'])
      .where('l.project_id', '=', project)
      .where('p.deleting', '=', false)
      .orderBy('p.id'),
    page,
  )

/** The groups whose jobs may access a project. */
export const listAllowedGroups = (db: Db, project: number, page: PageRequest) =>
  pageOfQuery(
    db
      .selectFrom('job_token_allowlist as l')
      .innerJoin('namespaces as n', 'n.id', 'l.allowed_group_id')
      .select(['n.id', 'n.name', 'n.path', 'n.full_path'])
      .where('l.project_id', '=', project)
      .where('n.deleting', '=', false)
      .orderBy('n.id'),
    page,
  )
