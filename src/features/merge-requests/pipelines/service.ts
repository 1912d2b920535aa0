/** Merge request pipelines: only jobs whose rules ask for them, on the head or on the trial merge. */
import type { Variable } from '../../../ci/config/variables.ts'
import type { App, User } from '../../../context.ts'
import { findUser, withUsers } from '../../identity/users/queries.ts'
import { createPipeline, type Made } from '../../ci/pipelines/create.ts'
import { openFrom } from '../../ci/pipelines/merge-requests.ts'
import { slugOfRef, variablesFrom } from '../../ci/pipelines/predefined.ts'
import { isProtectedRef, mayRunOn } from '../../ci/pipelines/rights.ts'
import { findProjectById, pathWithNamespace, webUrlOf, type Project } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { tryMerge } from '../merge-refs/service.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { labelsOfItems, usersOfItems } from '../../planning/items/links.ts'
import { mergeRequestKind } from '../merge-requests/kind.ts'
import { headRef, mergeRef } from '../versions/refs.ts'

export interface RunOptions {
  /** For an automatic run that may have happened already: the time of its cause. */
  readonly since?: string
}

/** The pipeline of a fork runs in the fork, unless the actor may run pipelines in the target. */
export async function runMergeRequest(
  app: App,
  actor: User,
  one: MergeRequest,
  { since }: RunOptions = {},
): Promise<Made> {
  const { head_sha: sha, source_project_id, project_id, source_branch } = one
  const target = await findProjectById(app.db, project_id)
  const source = source_project_id === null ? null : await findProjectById(app.db, source_project_id)
  if (!target || !source || sha === null) return { pipeline: null, errors: ['Commit not found'] }
  const project = source.id === target.id ? target : await projectFor(app, actor, one, target, source)
  const merged = project.id === target.id ? await mergedFor(app, actor, one, target) : null
  return createPipeline(app, {
    project,
    actor,
    source: 'merge_request_event',
    ref: merged ? mergeRef(one.iid) : headRef(one.iid),
    tag: false,
    sha: merged?.sha ?? sha,
    mergeRequest: {
      id: one.id,
      variables: await mergeRequestVariables(app, one, target, source, merged),
      base_sha: merged?.target_sha ?? one.base_sha,
      branch: source_branch,
      target: project.id === target.id ? one.target_branch : null,
      ...(merged && { merged }),
    },
    isForeign: source.id !== project.id,
    ...(since !== undefined && { cause: { of: ['merge request', one.id, sha], since } }),
  })
}

interface MergedResult {
  readonly sha: string
  readonly source_sha: string
  readonly target_sha: string
}

/** The trial merge, where the project enables merged results pipelines. Null if the branches cannot be merged. */
async function mergedFor(app: App, actor: User, one: MergeRequest, project: Project): Promise<MergedResult | null> {
  if (!project.merge_pipelines_enabled || one.state !== 'opened') return null
  const { dir } = await loadRepositorySubject(app, project, null)
  const merged = await tryMerge(app, actor, { project, dir, mergeRequest: one })
  const [target_sha, source_sha] = merged?.parents ?? []
  // If the source has moved since, the newer push gets a pipeline of its own.
  if (!merged || target_sha === undefined || source_sha !== one.head_sha) return null
  return { sha: merged.id, source_sha, target_sha }
}

async function projectFor(
  app: App,
  actor: User,
  { target_branch, source_branch }: MergeRequest,
  target: Project,
  source: Project,
): Promise<Project> {
  const subject = await loadRepositorySubject(app, target, actor)
  for (const ref of [target_branch, source_branch])
    if (!(await mayRunOn(app, subject, { ref, tag: false }))) return source
  return target
}

async function mergeRequestVariables(
  app: App,
  one: MergeRequest,
  target: Project,
  source: Project,
  merged: MergedResult | null,
): Promise<Variable[]> {
  const [labels, assigned, milestone, to, from, targetTip] = await Promise.all([
    labelsOfItems(app.db, mergeRequestKind, [one.id]),
    usersOfItems(app.db, mergeRequestKind, 'assignees', [one.id]),
    one.milestone_id === null
      ? null
      : app.db.selectFrom('milestones').select('title').where('id', '=', one.milestone_id).executeTakeFirst(),
    loadRepositorySubject(app, target, null),
    loadRepositorySubject(app, source, null),
    app.db
      .selectFrom('merge_request_versions')
      .select('id')
      .where('merge_request_id', '=', one.id)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst(),
  ])
  const people = await withUsers(
    app.db,
    (assigned.get(one.id) ?? []).map((user_id) => ({ user_id })),
    { user: 'user_id' },
  )
  const isGuarded = (project: Project, ref: string) => isProtectedRef(app, project.id, { ref, tag: false })
  const own = variablesFrom({
    CI_COMMIT_REF_NAME: one.source_branch,
    CI_COMMIT_REF_SLUG: slugOfRef(one.source_branch),
    CI_MERGE_REQUEST_ID: one.id,
    CI_MERGE_REQUEST_IID: one.iid,
    CI_MERGE_REQUEST_TITLE: one.title,
    CI_MERGE_REQUEST_DESCRIPTION: (one.description ?? '').slice(0, 2700),
    CI_MERGE_REQUEST_DRAFT: one.draft,
    CI_MERGE_REQUEST_LABELS: (labels.get(one.id) ?? []).map(({ title }) => title).join(',') || null,
    CI_MERGE_REQUEST_ASSIGNEES: people.flatMap(({ user }) => user?.username ?? []).join(', ') || null,
    CI_MERGE_REQUEST_MILESTONE: milestone?.title,
    CI_MERGE_REQUEST_REF_PATH: merged ? mergeRef(one.iid) : headRef(one.iid),
    CI_MERGE_REQUEST_EVENT_TYPE: merged ? 'merged_result' : 'detached',
    CI_MERGE_REQUEST_DIFF_ID: targetTip?.id,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: one.base_sha,
    CI_MERGE_REQUEST_PROJECT_ID: target.id,
    CI_MERGE_REQUEST_PROJECT_PATH: pathWithNamespace(target, to.namespace),
    CI_MERGE_REQUEST_PROJECT_URL: webUrlOf(app, to),
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: source.id,
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: pathWithNamespace(source, from.namespace),
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: webUrlOf(app, from),
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: one.source_branch,
    CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED: await isGuarded(source, one.source_branch),
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: merged?.source_sha ?? '',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: one.target_branch,
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: await isGuarded(target, one.target_branch),
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: merged?.target_sha ?? '',
    CI_MERGE_REQUEST_SQUASH_ON_MERGE: one.squash,
  })
  const open = await openFrom(app, { project_id: source.id, ref: one.source_branch, tag: false })
  return [...own, ...open]
}

/** Runs the pipeline as the user who created or pushed. Creates none where no job asks for it. */
export async function followMergeRequest(app: App, id: number, by: number | null, since: string): Promise<void> {
  const one = await app.db.selectFrom('merge_requests').selectAll().where('id', '=', id).executeTakeFirst()
  const actor = by === null ? null : await findUser(app.db, by)
  if (one?.state === 'opened' && actor) await runMergeRequest(app, actor, one, { since })
}
