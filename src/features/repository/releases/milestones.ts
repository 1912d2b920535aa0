/** Milestones of releases. The planning context owns milestones; this code only reads and references them. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hasFeature } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { ReleasedMilestone } from './entity.ts'
import type { Release } from './model.ts'

/**
 * Finds milestones by title, in the project, its group and the groups above. Null if the input does not mention
 * milestones.
 */
export async function findMilestones(
  { db }: App,
  { project, namespace }: Pick<RepositorySubject, 'project' | 'namespace'>,
  titles: readonly string[] | null | undefined,
): Promise<number[] | null> {
  if (!titles) return null
  const uniqueTitles = [...new Set(titles)]
  if (uniqueTitles.length === 0) return []
  const found = await db
    .selectFrom('milestones')
    .select(['id', 'title', 'project_id'])
    .where('title', 'in', uniqueTitles)
    .where((eb) =>
      eb.or([
        eb('project_id', '=', project.id),
        eb(
          'group_id',
          'in',
          eb.selectFrom('namespace_ancestors').select('ancestor_id').where('namespace_id', '=', namespace.id),
        ),
      ]),
    )
    .orderBy('id')
    .execute()
  const byTitle = Map.groupBy(found, ({ title }) => title)
  const missing = uniqueTitles.filter((title) => !byTitle.has(title))
  if (missing.length > 0) throw new Refusal('bad_request', `Milestone(s) not found: ${missing.join(', ')}`)
  // The project's own milestone takes precedence over one of a group.
  return Array.from(byTitle.values(), (some) => (some.find(({ project_id }) => project_id !== null) ?? some[0]!).id)
}

/** Sets exactly these milestones. Null keeps the current ones. */
export async function setMilestones({ db }: App, { id }: Release, milestones: readonly number[] | null): Promise<void> {
  if (!milestones) return
  await db.deleteFrom('release_milestones').where('release_id', '=', id).execute()
  if (milestones.length === 0) return
  const rows = milestones.map((milestone_id) => ({ release_id: id, milestone_id }))
  await db.insertInto('release_milestones').values(rows).execute()
}

/** Replaces one milestone by another, in one project or everywhere. */
export async function replaceReleaseMilestone({ db }: App, from: number, to: number, project?: number): Promise<void> {
  const inProject =
    project === undefined ? sql`true` : sql`release_id in (select id from releases where project_id = ${project})`
  await sql`insert into release_milestones (release_id, milestone_id)
    select release_id, ${to} from release_milestones where milestone_id = ${from} and ${inProject}
    on conflict do nothing`.execute(db)
  await sql`delete from release_milestones where milestone_id = ${from} and ${inProject}`.execute(db)
}

/** Milestones by release. Counts only issues that every reader of the project's issues may see. */
export async function milestonesOfReleases(
  db: Db,
  scopes: readonly Pick<RepositorySubject, 'project' | 'level'>[],
  releases: readonly Release[],
): Promise<Map<number, ReleasedMilestone[]>> {
  if (releases.length === 0) return new Map()
  const ids = releases.map(({ id }) => id)
  const rows = await db
    .selectFrom('release_milestones as link')
    .innerJoin('releases as r', 'r.id', 'link.release_id')
    .innerJoin('milestones as m', 'm.id', 'link.milestone_id')
    .leftJoin('namespaces as g', 'g.id', 'm.group_id')
    .selectAll('m')
    .select(['link.release_id', 'r.project_id as released_by', 'g.full_path as group_path'])
    .select((eb) => {
      const issues = eb
        .selectFrom('issues as i')
        .select((count) => count.fn.countAll<number>().as('total'))
        .whereRef('i.milestone_id', '=', 'm.id')
        .whereRef('i.project_id', '=', 'r.project_id')
        .where('i.confidential', '=', false)
      return [issues.as('issues'), issues.where('i.state', '=', 'closed').as('closed_issues')]
    })
    .where(inIdList(db, 'link.release_id', idList(db, ids)))
    .orderBy('m.id')
    .execute()
  const counting = new Set(scopes.filter((scope) => hasFeature(scope, 'issues')).map(({ project }) => project.id))
  const byRelease = new Map<number, ReleasedMilestone[]>()
  for (const { release_id, released_by, issues, closed_issues, ...milestone } of rows) {
    const counts = counting.has(released_by)
    const loaded = {
      ...milestone,
      issues: counts ? Number(issues) : 0,
      closed_issues: counts ? Number(closed_issues) : 0,
    }
    byRelease.set(release_id, [...(byRelease.get(release_id) ?? []), loaded])
  }
  return byRelease
}
