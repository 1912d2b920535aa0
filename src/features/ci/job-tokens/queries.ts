import type { App } from '../../../context.ts'
import { digestOfPresented } from '../../../lib/secrets.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Job } from '../jobs/model.ts'
import { JOB_TOKEN_PREFIX } from '../jobs/tokens.ts'

const byDigest = hotQuery((db, p: { digest: string }) =>
  db.selectFrom('ci_jobs').selectAll().where('token_digest', '=', p.digest),
)

/** Whatever has become of it. */
export async function jobOfToken({ db }: Pick<App, 'db'>, secret: string): Promise<Job | null> {
  if (!secret.startsWith(JOB_TOKEN_PREFIX)) return null
  return (await byDigest(db, { digest: digestOfPresented(secret) }))[0] ?? null
}

/** Only while it runs does its token open anything. */
export const isAlive = ({ status, erased_at }: Pick<Job, 'status' | 'erased_at'>): boolean =>
  (status === 'running' || status === 'canceling') && erased_at === null

interface Passage {
  readonly from: number
  readonly to: number
  /** That everybody is let in is not enough. */
  readonly byName?: boolean
}

/**
 * Whether jobs of one project may enter another: always their own; others while those let everybody in, or name the
 * project or a group it is in.
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
