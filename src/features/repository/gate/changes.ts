/**
 * Changes under way. A row says what is about to happen before the refs move, and the transaction that tells of it
 * takes the row away: whoever takes it tells, so nothing is told twice. Who is killed in between leaves the row, and
 * what it says is looked into by `recovery.ts`.
 */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { resolveRef } from '../../../git/refs/refs.ts'
import { setHead } from '../../../git/storage/repositories.ts'
import { NOBODY } from '../../../jobs/processes.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { scheduleTidying } from '../../projects/housekeeping/jobs.ts'
import { nameFirstBranch, noteActivity, notePush } from '../../projects/projects/activity.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import { protectDefaultBranch } from '../protected-branches/service.ts'
import { forgetReleases } from '../releases/removal.ts'
import { scheduleInspection } from './jobs.ts'
import type { ChangedPage } from './model.ts'
import { branchOf, isNewTip, tagOf, type Pusher, type Update } from './updates.ts'

/** One that is under way: what is told of it besides the refs themselves. */
export interface Change {
  readonly id: number
  readonly project: Project
  readonly wiki: boolean
  /** Null where a deploy key without a creator does it. */
  readonly by: number | null
  readonly options: readonly string[]
  readonly unsigned?: boolean
  /** By a merge request. */
  readonly merging?: true | undefined
  /** Of a wiki, that it is about. */
  readonly page?: ChangedPage | null | undefined
  /** When it was made, if it is told of only later. */
  readonly at?: string
}

export interface Expected {
  readonly project: Project
  readonly wiki?: boolean
  readonly updates: readonly Update[]
  readonly options?: readonly string[]
  /** Whether all that comes was made here, and nobody has signed it. */
  readonly unsigned?: boolean | undefined
  readonly page?: ChangedPage | undefined
}

/** Said before the refs move. */
export async function expectChange(
  app: App,
  pusher: Pick<Pusher, 'user' | 'merging'>,
  { project, wiki = false, updates, options = [], unsigned = false, page }: Expected,
): Promise<Change> {
  const by = pusher.user?.id ?? null
  const { id } = await app.db
    .insertInto('pending_changes')
    .values({
      project_id: project.id,
      wiki,
      user_id: by,
      updates: JSON.stringify(updates.map(plain)),
      options: JSON.stringify(options),
      merging: pusher.merging ?? false,
      page: page ? JSON.stringify(page) : null,
      holder: app.holder,
      created_at: timestamp(app.clock),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, project, wiki, by, options, unsigned, merging: pusher.merging, page }
}

const plain = ({ ref, before, after }: Update): Update => ({ ref, before, after })

/** Nothing has moved, and nothing will. False where somebody else has told of it, or given it up. */
export async function dropChange(app: App, { id }: Pick<Change, 'id'>): Promise<boolean> {
  const { numDeletedRows } = await app.db.deleteFrom('pending_changes').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** These refs have moved: what the project's row and everybody else must know of it. */
export async function recordChange(app: App, change: Change, moved: readonly Update[]): Promise<void> {
  const { project, wiki, by, options, unsigned, merging, page, at } = change
  const first = project.empty_repo && !wiki ? firstBranchOf(project, moved) : null
  const default_sha = wiki ? null : await defaultBeside(app, project, first ?? project.default_branch, moved)
  const isFirst = await transact(app, async (app) => {
    if (!(await dropChange(app, change))) return false
    await (wiki ? noteActivity(app, project) : noteChange(app, project))
    const isFirst = first !== null && (await becomesDefault(app, project, first))
    const then = at === undefined ? app : { ...app, clock: { now: () => new Date(at) } }
    // Who tells of it later does not follow it up.
    const holder = at === undefined ? app.holder : NOBODY
    await emit(then, 'repository.changed', {
      project_id: project.id,
      wiki,
      by,
      updates: moved.map(plain),
      options: [...options],
      ...(unsigned && { unsigned }),
      ...(merging && { merging }),
      ...(default_sha !== null && { default_sha }),
      holder,
    })
    if (page) await emit(then, 'wiki_page.changed', { project_id: project.id, by, ...page })
    if (!wiki) await forgetReleases(app, { project, by }, deletedTags(moved))
    return isFirst
  })
  if (isFirst && first !== project.default_branch) await setHead(repositoryDir(app, project), first!)
}

/** What a new branch has beyond the default one can be told later only by where that stood. */
async function defaultBeside(
  app: App,
  project: Project,
  main: string,
  moved: readonly Update[],
): Promise<string | null> {
  const isNew = ({ ref, before }: Update) => before === null && ![null, main].includes(branchOf(ref))
  return moved.some(isNew) ? resolveRef(repositoryDir(app, project), `refs/heads/${main}`) : null
}

async function noteChange(app: App, project: Project): Promise<void> {
  if ((await notePush(app, project)) >= PUSHES_TO_TIDY) await scheduleTidying(app, project)
  await scheduleInspection(app, project)
}

/** Each push leaves a pack of its own. */
const PUSHES_TO_TIDY = 50

const deletedTags = (updates: readonly Update[]) =>
  updates.flatMap(({ ref, after }) => (after === null ? (tagOf(ref) ?? []) : []))

/** The first branch that arrives becomes the default, unless the one HEAD names arrives with it. */
function firstBranchOf(project: Project, updates: readonly Update[]): string | null {
  const branches = updates
    .filter(isNewTip)
    .map(({ ref }) => branchOf(ref))
    .filter((name) => name !== null)
  return branches.includes(project.default_branch) ? project.default_branch : (branches[0] ?? null)
}

/** False where another push was first after all. */
async function becomesDefault(app: App, project: Project, name: string): Promise<boolean> {
  if (!(await nameFirstBranch(app, project, name))) return false
  await protectDefaultBranch(app, project, name)
  return true
}
