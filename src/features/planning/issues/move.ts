/** Moves or copies an issue to another project. */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { absoluteReferences } from './absolute-references.ts'
import { moveUploadAddresses, uploadSecrets } from './upload-addresses.ts'
import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { findProjectSubject, pathWithNamespace } from '../../projects/projects/queries.ts'
import { copyUploads } from '../../projects/uploads/service.ts'
import { copyAwards } from '../award-emoji/copy.ts'
import { recordItem } from '../events/service.ts'
import { nextIid, transactNumbered } from '../iids.ts'
import { addLinks, labelsOfItems } from '../items/links.ts'
import { itemReaders } from '../items/readers.ts'
import { labelsTitled } from '../labels/queries.ts'
import { milestonesOf } from '../milestones/queries.ts'
import { copyNotes } from '../notes/copy.ts'
import { addSystemNotes } from '../notes/system.ts'
import { isSeenFrom } from '../scopes.ts'
import { copyMentions, copyReferenceNotes } from '../references/copy.ts'
import { timestampChanges } from '../timestamps.ts'
import { issueKind } from './kind.ts'
import { assertIssueAllowed } from './limits.ts'
import type { Issue } from './model.ts'
import { issuesPolicy, type IssueSubject } from './policy.ts'
import { assigneesOf } from './queries.ts'
import { issueRules } from './rules.ts'
import { lockIssue } from './service.ts'

const refusal = (text: string) => new Refusal('bad_request', text)
const insufficient = (verb: string) => refusal(`Cannot ${verb} issue due to insufficient permissions!`)

async function targetOf(app: App, actor: User, to: number): Promise<ProjectSubject> {
  const target = await findProjectSubject(app, String(to), actor)
  if (!target || !issuesPolicy.read(target)) throw notFound('Project')
  return target
}

const mayPlan = (subject: ProjectSubject) => issuesPolicy.createIssue(subject) && subject.level >= Reporter

/** The old issue stays, closed, and links to the new one. */
export async function moveIssue(app: App, actor: User, subject: IssueSubject, to: number): Promise<Issue> {
  const target = await targetOf(app, actor, to)
  const { project, namespace } = subject
  if (target.project.id === project.id) throw refusal('Cannot move issue to project it originates from!')
  if (!mayPlan(subject) || !mayPlan(target)) throw insufficient('move')
  return transactNumbered(app, { project_id: target.project.id }, 'issues', async (app) => {
    const iid = await nextIid(app.db, { project_id: target.project.id }, 'issues')
    const issue = await lockIssue(app, subject.issue.id)
    if (issue.moved_to_id !== null) throw insufficient('move')
    const moved = await copyInto(app, subject, issue, target, {
      iid,
      author: issue.author_id,
      withNotes: true,
      withAwards: true,
    })
    await takeLinks(app, issue, moved)
    const now = timestamp(app.clock)
    const closing = issue.state === 'opened' && { state: 'closed' as const, closed_at: now, closed_by_id: actor.id }
    const left = await app.db
      .updateTable('issues')
      .set({ moved_to_id: moved.id, updated_by_id: actor.id, updated_at: now, ...closing })
      .where('id', '=', issue.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const [here, there] = [pathWithNamespace(project, namespace), pathWithNamespace(target.project, target.namespace)]
    await tell(app, actor, issue, `moved to ${there}#${moved.iid}`, moved)
    await tell(app, actor, moved, `moved from ${here}#${issue.iid}`, issue)
    if (closing) await recordItem(app, actor.id, issueKind, issue, 'closed')
    await recordItem(app, actor.id, issueKind, moved, 'created')
    const changes = {
      ...(closing && { state: ['opened', 'closed'] as const }),
      moved_to_id: [null, moved.id] as const,
      ...timestampChanges(issue, left),
    }
    await emit(app, 'issue.moved', { id: issue.id, project_id: project.id, to: moved.id, by: actor.id, changes })
    await emit(app, 'issue.created', { id: moved.id, project_id: moved.project_id, by: actor.id })
    return moved
  })
}

/** Links of the issue now point to the moved one. */
async function takeLinks({ db }: App, { id }: Issue, moved: Issue): Promise<void> {
  for (const end of ['source_id', 'target_id'] as const)
    await db
      .updateTable('issue_links')
      .set({ [end]: moved.id })
      .where(end, '=', id)
      .execute()
}

export async function cloneIssue(
  app: App,
  actor: User,
  subject: IssueSubject,
  to: number,
  { withNotes }: { withNotes: boolean },
): Promise<Issue> {
  const target = await targetOf(app, actor, to)
  if (!mayPlan(subject) || !mayPlan(target)) throw insufficient('clone')
  return transactNumbered(app, { project_id: target.project.id }, 'issues', async (app) => {
    const iid = await nextIid(app.db, { project_id: target.project.id }, 'issues')
    const issue = await lockIssue(app, subject.issue.id)
    const cloned = await copyInto(app, subject, issue, target, { iid, author: actor.id, withNotes, withAwards: false })
    const [here, there] = [subject, target].map(({ project, namespace }) => pathWithNamespace(project, namespace))
    await tell(app, actor, issue, `cloned to ${there}#${cloned.iid}`, cloned)
    await tell(app, actor, cloned, `cloned from ${here}#${issue.iid}`, issue)
    await recordItem(app, actor.id, issueKind, cloned, 'created')
    await emit(app, 'issue.created', { id: cloned.id, project_id: cloned.project_id, by: actor.id })
    return cloned
  })
}

const tell = (app: TransactionApp, actor: User, { id, project_id }: Issue, body: string, other: Issue) =>
  addSystemNotes(app, actor, { project_id, issue_id: id }, [{ action: 'moved', body, about: { issue_id: other.id } }])

interface CopyOptions {
  readonly iid: number
  readonly author: number | null
  readonly withNotes: boolean
  readonly withAwards: boolean
}

/** Labels and milestone are kept where the other project has some with the same title. */
async function copyInto(
  app: TransactionApp,
  { project, namespace }: ProjectSubject,
  issue: Issue,
  target: ProjectSubject,
  { iid, author, withNotes, withAwards }: CopyOptions,
): Promise<Issue> {
  const { db } = app
  const rewrite = rewriterFor(app, { project, namespace }, target)
  const titles = ((await labelsOfItems(db, issueKind, [issue.id])).get(issue.id) ?? []).map(({ title }) => title)
  const labels = await labelsTitled(db, target, titles)
  const milestone = (await milestonesOf(db, [issue.milestone_id])).get(issue.milestone_id ?? 0)
  const twin = await db
    .selectFrom('milestones')
    .select('id')
    .where(isSeenFrom(target, 'milestones'))
    .where('title', '=', milestone?.title ?? '')
    .executeTakeFirst()
  await assertIssueAllowed(db, target.project.id, iid)
  // Triggers maintain these columns for the copy.
  const {
    id: _id,
    version: _version,
    user_notes_count: _notes,
    merge_requests_count: _requests,
    upvotes: _up,
    downvotes: _down,
    milestone_due: _due,
    label_priority: _priority,
    ...columns
  } = issue
  const copy = await db
    .insertInto('issues')
    .values({
      ...columns,
      description: issue.description && (await rewrite([issue.description]))[0]!,
      project_id: target.project.id,
      iid,
      author_id: author,
      state: 'opened',
      closed_at: null,
      closed_by_id: null,
      moved_to_id: null,
      duplicated_to_id: null,
      relative_position: null,
      milestone_id: twin?.id ?? null,
      updated_at: timestamp(app.clock),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  const assigned = (await assigneesOf(db, [issue.id])).get(issue.id) ?? []
  const assignees = await itemReaders(app, issueRules, target, assigned, copy)
  await addLinks(app, issueKind, copy.id, { labels: [...labels.values()], assignees })
  const to = { issue_id: copy.id, project_id: target.project.id }
  if (withAwards) await copyAwards(app, 'issue_id', new Map([[issue.id, copy.id]]))
  const follow = async (notes: ReadonlyMap<number, number>) => {
    if (withAwards) await copyAwards(app, 'note_id', notes)
    await copyReferenceNotes(app, notes, to)
    await copyMentions(app, notes, to)
  }
  if (withNotes) await copyNotes(app, { issue_id: issue.id }, to, { rewrite, follow })
  return copy
}

/** Further uploads of an issue are not copied; their URLs stay valid. */
const MOST_UPLOADS = 500

/** Rewrites texts for another project: references get the path of their project, and uploads are copied. */
function rewriterFor(
  app: TransactionApp,
  { project, namespace }: Pick<ProjectSubject, 'project' | 'namespace'>,
  target: ProjectSubject,
): (texts: readonly string[]) => Promise<string[]> {
  if (target.project.id === project.id) return async (texts) => [...texts]
  const path = pathWithNamespace(project, namespace)
  const move = {
    from: path,
    to: pathWithNamespace(target.project, target.namespace),
    secrets: new Map<string, string>(),
  }
  return async (texts) => {
    const named = [...new Set(texts.flatMap(uploadSecrets))].filter((secret) => !move.secrets.has(secret))
    const uploads = named.slice(0, MOST_UPLOADS - move.secrets.size)
    for (const [old, now] of await copyUploads(app, uploads, project.id, target.project.id)) move.secrets.set(old, now)
    return texts.map((text) =>
      moveUploadAddresses(absoluteReferences(text, { namespace: namespace.full_path, path }), move),
    )
  }
}
