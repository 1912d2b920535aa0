/** Groups, projects and members for a database with users, in the same proportions for any number. */
import { sql, type RawBuilder } from 'kysely'
import { newDiskPath } from '../src/features/projects/repositories/repository.ts'
import { Master } from '../src/lib/levels.ts'
import type { Db, NewRow } from '../src/store/database.ts'
import { isSqlite } from '../src/store/dialect.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const PROJECTS_A_GROUP = 20
const MEMBERS_A_GROUP = 4
/** One in so many users is a member of anything. */
const USERS_A_MEMBER = 10
/** The groups of the bench's own member: the same number in a small forge and in a large one. */
const OWN_GROUPS = 5
const STARS = 30
/** Every token holder administers one in four of that many groups. */
const HELD_GROUPS = 15

/** The rows 1, 2, … without a table. */
export const numbers = (count: number) =>
  sql`(with recursive numbers(n) as (select cast(1 as bigint) union all select n + 1 from numbers where n < ${sql.lit(count)})
    select n from numbers) as numbers`

interface TreePlan {
  /** Users of the bench, by id. */
  member: number
  holders: readonly number[]
  /** Encrypted. */
  runnersToken: string
}

/** Creates as many projects as there are users. */
export async function seedTree(db: Db, count: number, { member, holders, runnersToken }: TreePlan): Promise<void> {
  const groups = count / PROJECTS_A_GROUP
  const { first } = await db
    .selectFrom('namespaces')
    .select((eb) => eb.fn.max('id').as('first'))
    .executeTakeFirstOrThrow()
  await seedGroups(db, groups, Number(first))
  await seedMembers(db, { groups, first: Number(first), people: count / USERS_A_MEMBER, member })
  for (const holder of holders) await seedOwner(db, holder, Number(first))
  await seedProjects(db, count, { first: Number(first), runnersToken })
  await sql`insert into project_authorizations (user_id, project_id, access_level)
    select m.user_id, p.id, max(m.access_level) from projects p
    join namespace_ancestors a on a.namespace_id = p.namespace_id
    join members m on m.group_id = a.ancestor_id group by m.user_id, p.id`.execute(db)
  await sql`insert into project_topics (project_id, name, position)
    select id, 'topic' || (id % ${sql.lit(count / 20)}), 0 from projects`.execute(db)
  await sql`insert into stars (user_id, project_id, created_at)
    select ${sql.lit(member)}, id, created_at from projects where id <= ${sql.lit(STARS)}`.execute(db)
}

/** Every other group is a subgroup of the previous one. */
async function seedGroups(db: Db, groups: number, first: number): Promise<void> {
  const now = sql.lit(daysAgo(100))
  await sql`insert into namespaces
    (id, kind, name, path, full_name, full_path, parent_id, visibility, created_at, updated_at)
    select n + ${sql.lit(first)}, 'group', 'Group ' || n, 'group' || n, 'Group ' || n, 'group' || n,
      case when n % 2 = 0 then n + ${sql.lit(first)} - 1 end,
      case when n % 3 = 0 then 'private' else 'public' end, ${now}, ${now}
    from ${numbers(groups)}`.execute(db)
  await sql`insert into namespace_ancestors (namespace_id, ancestor_id, depth)
    select id, id, 0 from namespaces union all
    select id, parent_id, 1 from namespaces where parent_id is not null`.execute(db)
}

interface MemberPlan {
  groups: number
  first: number
  people: number
  member: number
}

async function seedMembers(db: Db, { groups, first, people, member }: MemberPlan): Promise<void> {
  const now = sql.lit(daysAgo(50))
  const add = (group: RawBuilder<unknown>, user: RawBuilder<unknown>, level: RawBuilder<unknown>, rows: number) =>
    sql`insert into members (group_id, user_id, access_level, created_at, updated_at)
      select ${group}, ${user}, ${level}, ${now}, ${now} from ${numbers(rows)}`.execute(db)
  // Users 1 and 2 belong to the bench.
  const each = sql.lit(MEMBERS_A_GROUP)
  await add(
    sql`${sql.lit(first + 1)} + (n - 1) / ${each}`,
    sql`3 + (n * 7) % ${sql.lit(people)}`,
    sql`10 * (1 + n % 5)`,
    groups * MEMBERS_A_GROUP,
  )
  await add(sql`${sql.lit(first + 1)} + (n - 1) * 10`, sql`${sql.lit(member)}`, sql`10 * n`, OWN_GROUPS)
}

async function seedOwner(db: Db, holder: number, first: number): Promise<void> {
  const now = sql.lit(daysAgo(50))
  await sql`insert into members (group_id, user_id, access_level, created_at, updated_at)
    select ${sql.lit(first)} + n, ${sql.lit(holder)}, ${sql.lit(Master)}, ${now}, ${now}
    from ${numbers(HELD_GROUPS)} where (n + ${sql.lit(holder)}) % 4 = 0 on conflict do nothing`.execute(db)
}

interface ProjectPlan {
  first: number
  runnersToken: string
}

async function seedProjects(db: Db, count: number, { first, runnersToken }: ProjectPlan): Promise<void> {
  const created = daysAgo(100)
  const same = {
    description: 'An engine that might compose elaborate pieces of music.',
    deleting: false,
    creator_id: 1,
    forked_from_id: null,
    repository_storage: 'default',
    default_branch: 'master',
    empty_repo: true,
    readme_path: null,
    repository_access_level: 20,
    builds_access_level: 20,
    wiki_access_level: 20,
    snippets_access_level: 20,
    forking_access_level: 20,
    container_registry_access_level: 20,
    resolve_outdated_diff_discussions: false,
    shared_runners_enabled: true,
    public_jobs: true,
    only_allow_merge_if_pipeline_succeeds: false,
    only_allow_merge_if_all_discussions_are_resolved: false,
    printing_merge_requests_link_enabled: true,
    lfs_enabled: true,
    request_access_enabled: false,
    remove_source_branch_after_merge: false,
    merge_method: 'merge',
    squash_option: 'default_off',
    approvals_before_merge: 0,
    ci_config_path: null,
    avatar_digest: null,
    avatar_filename: null,
    avatar_type: null,
    runners_token_sealed: runnersToken,
    import_url: null,
    import_credentials_sealed: null,
    import_status: 'none',
    import_error: null,
    import_progress: null,
    housekeeping_at: null,
    created_at: created,
  } satisfies Partial<NewRow<'projects'>>
  const rare = sql.lit(count / 10)
  const each = {
    namespace_id: sql`${sql.lit(first + 1)} + (n - 1) / ${sql.lit(PROJECTS_A_GROUP)}`,
    name: sql`case when n % ${rare} = 5 then '${sql.raw(RARE)} ' || n else '${sql.raw(EVERYBODY)} ' || n end`,
    path: sql`'project' || n`,
    visibility: sql`case when n % 10 < 5 then 'public' when n % 10 < 7 then 'internal' else 'private' end`,
    archived: sql`n % 50 = 7`,
    disk_path: sql`'${sql.raw(newDiskPath())}' || n`,
    issues_access_level: sql`case when n % 20 = 3 then 0 else 20 end`,
    merge_requests_access_level: sql`case when n % 20 = 9 then 0 else 20 end`,
    runners_token_digest: sql`'token' || n`,
    // Not in the order of ids, so that each order reads the table differently.
    last_activity_at: moment(created, sql`(n * 7919) % ${sql.lit(count)}`, db),
    updated_at: moment(created, sql`(n * 104729) % ${sql.lit(count)}`, db),
  }
  const columns = [...Object.keys(same), ...Object.keys(each)]
  const values = [...Object.values(same).map((value) => sql`${sql.lit(value)}`), ...Object.values(each)]
  await sql`insert into projects (${sql.raw(columns.join(', '))})
    select ${sql.join(values)} from ${numbers(count)}`.execute(db)
}

/** `start` plus that many seconds. */
export function moment(start: string, seconds: RawBuilder<unknown>, db: Db): RawBuilder<unknown> {
  return isSqlite(db)
    ? sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${sql.lit(start)}, (${seconds}) || ' seconds')`
    : sql`timestamptz '${sql.raw(start)}' + (${seconds}) * interval '1 second'`
}
