/** Creates and updates merge requests by push options. A failure is reported to the client, but the push succeeds. */
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { listCommits } from '../../../git/history/history.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { findUserByUsername } from '../../identity/users/queries.ts'
import { milestoneIn } from '../../planning/quick-actions/arguments.ts'
import { findProjectById, findProjectSubject, type Project } from '../../projects/projects/queries.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { branchOf, type Update } from '../../repository/gate/updates.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { isDraft } from '../merge-requests/draft.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { mergeRequestPolicy } from '../merge-requests/policy.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import { updateMergeRequest, type UpdateInput } from '../merge-requests/service.ts'
import { acceptWhenReady } from '../merging/auto-merge.ts'
import { createMergeRequestWithCommands } from '../quick-actions/service.ts'
import type { PushOptions } from './options.ts'

const MOST_BRANCHES = 10

/** Lines for the output of `git push`. */
export async function carryOut(
  app: App,
  actor: User,
  project: Project,
  updates: readonly Update[],
  options: PushOptions,
): Promise<string[]> {
  const source = await loadRepositorySubject(app, project, actor)
  const branches = updates.flatMap(({ ref, after }) => (after === null ? [] : (branchOf(ref) ?? [])))
  const warnings: string[] = []
  if (branches.length > MOST_BRANCHES) {
    return warned([
      `Error encountered with push options: too many branches pushed (${branches.length} of ${MOST_BRANCHES})`,
    ])
  }
  for (const branch of branches) {
    try {
      await carryOutOn(app, actor, source, branch, options)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      warnings.push(`Error encountered with push options: ${wordsOf(error)}`)
    }
  }
  return warned(warnings)
}

const warned = (warnings: readonly string[]) => (warnings.length === 0 ? [] : ['', 'WARNINGS:', ...warnings, ''])

const wordsOf = ({ reason, message }: Refusal) =>
  typeof reason === 'object' ? (Array.isArray(reason) ? reason.join(', ') : JSON.stringify(reason)) : message

async function carryOutOn(
  app: App,
  actor: User,
  source: RepositorySubject,
  branch: string,
  options: PushOptions,
): Promise<void> {
  const open = await openFrom(app, source.project, branch, options.target)
  if (open.length === 0) {
    if (!options.create) {
      const why = `A merge_request.create push option is required to create a merge request for branch ${branch}`
      throw new Refusal('bad_request', why)
    }
    const made = await create(app, actor, source, branch, options)
    return options.auto_merge ? mergeWhenReady(app, actor, made) : undefined
  }
  for (const one of open) {
    await change(app, actor, one, options)
    if (options.auto_merge) await mergeWhenReady(app, actor, one)
  }
}

function openFrom({ db }: App, { id }: Project, branch: string, target: string | undefined): Promise<MergeRequest[]> {
  return db
    .selectFrom('merge_requests')
    .selectAll()
    .where('source_project_id', '=', id)
    .where('source_branch', '=', branch)
    .where('state', '=', 'opened')
    .$if(target !== undefined, (query) => query.where('target_branch', '=', target!))
    .orderBy('id')
    .limit(MOST_BRANCHES)
    .execute()
}

async function create(
  app: App,
  actor: User,
  source: RepositorySubject,
  branch: string,
  options: PushOptions,
): Promise<MergeRequest> {
  if (!repositoryPolicy.push(source)) throw new Refusal('forbidden', 'User access was denied')
  const target = options.target_project === undefined ? source : await projectNamed(app, actor, options.target_project)
  const target_branch = options.target ?? target.project.default_branch
  const commits = await listCommits(source.dir, {
    from: `refs/heads/${branch}`,
    not: [`refs/heads/${source.project.default_branch}`],
    limit: 2,
  })
  const { title, description } = wordsFor(branch, commits)
  const requested = options.title ?? title
  const { created } = await createMergeRequestWithCommands(app, actor, source, {
    source_branch: branch,
    target_branch,
    target_project_id: target.project.id,
    title: options.draft && !isDraft(requested) ? `Draft: ${requested}` : requested,
    description: options.description ?? description,
    labels: options.labels,
    squash: options.squash || undefined,
    remove_source_branch: options.remove_source_branch || undefined,
    assignee_ids: await idsOf(app, options.assign),
    milestone_id: await milestoneId(app, target, options.milestone),
  })
  return created
}

async function projectNamed(app: App, actor: User, path: string) {
  const found = await findProjectSubject(app, path, actor)
  if (!found || !projectPolicy.read(found)) throw new Refusal('not_found', `Target project ${path} was not found`)
  return found
}

/** Title and description of a single commit; for several commits, the name of the branch. */
function wordsFor(branch: string, commits: readonly Commit[]): { title: string; description: string | null } {
  const [only, another] = commits
  if (!only || another) return { title: humanised(branch), description: null }
  const body = only.message.split('\n').slice(1).join('\n').trim()
  return { title: only.title || humanised(branch), description: body === '' ? null : body }
}

function humanised(branch: string): string {
  const words = branch.replaceAll(/[-_]+/g, ' ').trim() || branch
  return words.charAt(0).toUpperCase() + words.slice(1)
}

async function idsOf(app: App, names: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (const name of names) {
    const id = /^\d+$/.test(name) ? Number(name) : (await findUserByUsername(app.db, name.replace(/^@/, '')))?.id
    if (id !== undefined) ids.push(id)
  }
  return ids
}

const milestoneId = async (app: App, target: Parameters<typeof milestoneIn>[1], title: string | undefined) =>
  title === undefined ? undefined : (await milestoneIn(app, target, `%"${title.replaceAll('"', '')}"`))?.id

async function change(app: App, actor: User, one: MergeRequest, options: PushOptions): Promise<void> {
  const subject = await subjectFor(app, actor, one)
  if (!subject || !mergeRequestPolicy.update(subject)) throw new Refusal('forbidden', 'User access was denied')
  const { mergeRequest } = subject
  const assigned = new Set((await idsOf(app, options.assign)).concat(await assigneesOf(app, one)))
  for (const id of await idsOf(app, options.unassign)) assigned.delete(id)
  const title = options.title ?? mergeRequest.title
  const milestone_id = await milestoneId(app, subject, options.milestone)
  const input: UpdateInput = {
    ...((options.title !== undefined || options.draft) && {
      title: options.draft && !isDraft(title) ? `Draft: ${title}` : title,
    }),
    ...(options.description !== undefined && { description: options.description }),
    ...(options.labels.length > 0 && { add_labels: options.labels }),
    ...(options.unlabels.length > 0 && { remove_labels: options.unlabels }),
    ...(options.squash && { squash: true }),
    ...(options.remove_source_branch && { remove_source_branch: true }),
    ...(milestone_id !== undefined && { milestone_id }),
    ...((options.assign.length > 0 || options.unassign.length > 0) && { assignee_ids: [...assigned] }),
  }
  if (Object.keys(input).length > 0) await updateMergeRequest(app, actor, subject, one.id, input)
}

async function assigneesOf({ db }: App, { id }: MergeRequest): Promise<number[]> {
  const rows = await db
    .selectFrom('merge_request_assignees')
    .select('user_id')
    .where('merge_request_id', '=', id)
    .execute()
  return rows.map(({ user_id }) => user_id)
}

/** The merge request as the pusher may see it. Null if its project was deleted. */
async function subjectFor(app: App, actor: User, one: MergeRequest) {
  const project = await findProjectById(app.db, one.project_id)
  const mergeRequest = project && (await findMergeRequest(app, project.id, one.iid, actor.id))
  return mergeRequest ? { ...(await loadRepositorySubject(app, project, actor)), mergeRequest } : null
}

async function mergeWhenReady(app: App, actor: User, one: MergeRequest): Promise<void> {
  const subject = await subjectFor(app, actor, one)
  if (subject) await acceptWhenReady(app, actor, subject, {})
}
