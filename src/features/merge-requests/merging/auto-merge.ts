/** Auto-merge: merges when the pipeline of the head succeeds. */
import { timestamp } from '../../../clock.ts'
import { on, type App, type TransactionApp, type User } from '../../../context.ts'
import { Refusal, unauthenticated } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { findUser } from '../../identity/users/queries.ts'
import { addSystemNotes, type SystemNote } from '../../planning/notes/system.ts'
import { timestampChanges } from '../../planning/timestamps.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { mergeFacts } from '../mergeability/facts.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { findMergeRequest } from '../merge-requests/queries.ts'
import { CALLED_OFF, CALLED_OFF_NOTE, lockMergeRequest } from '../merge-requests/service.ts'
import { RETARGETED, acceptMergeRequest, assertMergeable, type AcceptInput } from './accept.ts'
import { mayMergeInto } from '../../repository/repositories/rights.ts'

const ACTIVE = ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'scheduled', 'canceling']

/** Enables auto-merge while the pipeline runs. Merges at once where no pipeline is pending. */
export async function acceptWhenReady(
  app: App,
  actor: User,
  subject: MergeRequestSubject,
  input: AcceptInput,
): Promise<MergeRequest> {
  const { mergeRequest: seen } = subject
  if (!(await mayMergeInto(app, subject, seen.target_branch))) throw unauthenticated()
  const one = await freshlyChecked(app, seen, subject.project)
  const facts = (await mergeFacts(app.db, [one])).get(one.id)!
  if (!ACTIVE.includes(facts.pipeline.status ?? '')) return acceptMergeRequest(app, actor, subject, input)
  assertMergeable(facts, { beside: ['pipeline'] })
  if (input.sha && input.sha !== one.head_sha) throw new Refusal('conflict', 'SHA does not match HEAD of source branch')
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, one.id)
    if (locked.state !== 'opened' || locked.head_sha !== one.head_sha) {
      throw new Refusal('conflict', 'SHA does not match HEAD of source branch')
    }
    if (locked.target_branch !== one.target_branch) throw new Refusal('conflict', RETARGETED)
    const updated = await app.db
      .updateTable('merge_requests')
      .set({
        auto_merge: true,
        auto_merge_wish: JSON.stringify({ ...input, sha: one.head_sha }),
        merge_user_id: actor.id,
        ...(typeof input.should_remove_source_branch === 'boolean' && {
          should_remove_source_branch: input.should_remove_source_branch,
        }),
        updated_by_id: actor.id,
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', locked.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (!locked.auto_merge) {
      const body = `enabled an automatic merge when the pipeline for ${one.head_sha} succeeds`
      await tell(app, actor, locked, { action: 'merge', body })
      await emit(app, 'merge_request.updated', {
        id: locked.id,
        project_id: locked.project_id,
        by: actor.id,
        changes: { auto_merge: [false, true], ...timestampChanges(locked, updated) },
      })
    }
    return updated
  })
}

const tell = (app: TransactionApp, actor: User, { id, project_id }: MergeRequest, note: SystemNote) =>
  addSystemNotes(app, actor, { project_id, merge_request_id: id }, [note])

/** For users who may merge it, and for its author. */
export async function cancelAutoMerge(app: App, actor: User, subject: MergeRequestSubject): Promise<MergeRequest> {
  const { mergeRequest: seen } = subject
  const isAuthor = seen.author_id === actor.id
  if (!isAuthor && !(await mayMergeInto(app, subject, seen.target_branch))) throw unauthenticated()
  return transact(app, async (app) => {
    const locked = await lockMergeRequest(app, seen.id)
    if (locked.state !== 'opened') throw new Refusal('not_allowed')
    if (!locked.auto_merge) throw new Refusal('not_acceptable', 'Method Not Allowed')
    const updated = await app.db
      .updateTable('merge_requests')
      .set({
        ...CALLED_OFF,
        updated_by_id: actor.id,
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', locked.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await tell(app, actor, locked, CALLED_OFF_NOTE)
    await emit(app, 'merge_request.updated', {
      id: locked.id,
      project_id: locked.project_id,
      by: actor.id,
      changes: { auto_merge: [true, false], ...timestampChanges(locked, updated) },
    })
    return updated
  })
}

/** This pipeline may be the last one that auto-merge waited for. */
export const mergeWhenSucceeded = on(
  'pipeline.changed',
  'merging',
  async (app, { id }) => {
    const pipeline = await app.db
      .selectFrom('pipelines')
      .select(['sha', 'source_sha'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!pipeline) return
    const waiting = await app.db
      .selectFrom('merge_requests')
      .selectAll()
      .where('head_sha', '=', pipeline.source_sha ?? pipeline.sha)
      .where('auto_merge', '=', true)
      .where('state', '=', 'opened')
      .execute()
    for (const one of waiting) await mergeIfReady(app, one)
  },
  { when: ({ status }) => status === 'success' || status === 'skipped' },
)

async function mergeIfReady(app: App, one: MergeRequest): Promise<void> {
  const { status } = (await mergeFacts(app.db, [one])).get(one.id)!.pipeline
  const [actor, project] = await Promise.all([
    one.merge_user_id === null ? null : findUser(app.db, one.merge_user_id),
    findProjectById(app.db, one.project_id),
  ])
  if (!actor || !project) return
  if (status !== 'success' && !(status === 'skipped' && project.allow_merge_on_skipped_pipeline)) return
  const target = await loadRepositorySubject(app, project, actor)
  const current = await findMergeRequest(app, project.id, one.iid, actor.id)
  if (!current?.auto_merge) return
  const input = JSON.parse(one.auto_merge_wish ?? '{}') as AcceptInput
  try {
    await acceptMergeRequest(app, actor, { ...target, mergeRequest: current }, input)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    await noteUnmergeable(app, one, error.message)
  }
}

async function noteUnmergeable(app: App, { id, project_id }: MergeRequest, why: string): Promise<void> {
  await transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('merge_requests')
      .set({ merge_error: why })
      .where('id', '=', id)
      .where('state', '=', 'opened')
      .executeTakeFirst()
    if (numUpdatedRows > 0n) await emit(app, 'merge_request.unmergeable', { id, project_id })
  })
}
