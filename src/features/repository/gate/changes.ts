/**
 * Pending changes. A row describes a change before the refs move. The transaction that publishes the change deletes the
 * row, so no change is published twice. If the process is killed in between, the row stays and `recovery.ts` handles
 * it.
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
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { protectDefaultBranch } from '../protected-branches/service.ts'
import { recordRefChanges } from '../ref-changes/recording.ts'
import { removeReleases, returnReleases } from '../releases/removal.ts'
import { scheduleInspection } from './jobs.ts'
import type { ChangedPage } from './model.ts'
import { branchOf, isNewTip, tagOf, type Pusher, type Update } from './updates.ts'

/** A pending change: the facts to publish besides the refs. */
export interface Change {
  readonly id: number
  readonly project: Project
  readonly wiki: boolean
  /** Null for a deploy key without a creator. */
  readonly by: number | null
  readonly options: readonly string[]
  readonly unsigned?: boolean
  /** Made by a merge request. */
  readonly merging?: true | undefined
  /** The changed wiki page. */
  readonly page?: ChangedPage | null | undefined
  /** The earlier change that this one undoes. */
  readonly undoes?: number | null | undefined
  /** When the change happened, if it is published later. */
  readonly at?: string
}

export interface Expected {
  readonly project: Project
  readonly wiki?: boolean
  readonly updates: readonly Update[]
  readonly options?: readonly string[]
  /** Whether the server created all new commits, so that none is signed. */
  readonly unsigned?: boolean | undefined
  readonly page?: ChangedPage | undefined
  readonly undoes?: number | undefined
}

/** Records the change before the refs move. */
export async function expectChange(
  app: App,
  pusher: Pick<Pusher, 'user' | 'merging'>,
  { project, wiki = false, updates, options = [], unsigned = false, page, undoes }: Expected,
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
      undoes: undoes ?? null,
      holder: app.holder,
      created_at: timestamp(app.clock),
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { id, project, wiki, by, options, unsigned, merging: pusher.merging, page, undoes }
}

const plain = ({ ref, before, after }: Update): Update => ({ ref, before, after })

/** Cancels a change that has moved no ref. False if another process has already published or canceled it. */
export async function dropChange(app: App, { id }: Pick<Change, 'id'>): Promise<boolean> {
  const { numDeletedRows } = await app.db.deleteFrom('pending_changes').where('id', '=', id).executeTakeFirst()
  return numDeletedRows > 0n
}

/** Publishes the moved refs: updates the row of the project and emits events. */
export async function recordChange(app: App, change: Change, moved: readonly Update[]): Promise<void> {
  const { project, wiki, by, options, unsigned, merging, page, undoes, at } = change
  const first = project.empty_repo && !wiki ? firstBranchOf(project, moved) : null
  const default_sha = wiki ? null : await defaultOutside(app, project, first ?? project.default_branch, moved)
  const isFirst = await transact(app, async (app) => {
    if (!(await dropChange(app, change))) return false
    const recorded = await recordRefChanges(app, change, moved)
    await (wiki ? noteActivity(app, project) : noteChange(app, project))
    const isFirst = first !== null && (await becomesDefault(app, project, first))
    const then = at === undefined ? app : { ...app, clock: { now: () => new Date(at) } }
    // A late publisher does not run the follow-up work itself.
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
    if (!wiki) await removeReleases(app, { project, by }, deletedTags(moved, recorded))
    if (undoes) await returnReleases(app, { project, by }, undoes)
    return isFirst
  })
  if (isFirst && first !== project.default_branch) await setHead(repositoryDir(app, project), first!)
}

/** Events later need this commit to tell which commits of a new branch are not on the default branch. */
async function defaultOutside(
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

/** Each push adds a pack. */
const PUSHES_TO_TIDY = 50

/** Each with the id of the record of its deletion. */
const deletedTags = (updates: readonly Update[], recorded: ReadonlyMap<string, number>) =>
  updates.flatMap(({ ref, after }) => {
    const tag = after === null ? tagOf(ref) : null
    return tag === null ? [] : [{ tag, change: recorded.get(ref)! }]
  })

/** The first branch that arrives becomes the default branch, unless the branch that HEAD names arrives, too. */
function firstBranchOf(project: Project, updates: readonly Update[]): string | null {
  const branches = updates
    .filter(isNewTip)
    .map(({ ref }) => branchOf(ref))
    .filter((name) => name !== null)
  return branches.includes(project.default_branch) ? project.default_branch : (branches[0] ?? null)
}

/** False if a concurrent push was faster. */
async function becomesDefault(app: App, project: Project, name: string): Promise<boolean> {
  if (!(await nameFirstBranch(app, project, name))) return false
  await protectDefaultBranch(app, project, name)
  return true
}
