import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, conflict, forbidden, notFound } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import { findDiscussion } from '../../planning/discussions/queries.ts'
import type { PositionInput } from '../../planning/notes/positions.ts'
import { resolveNotes } from '../../planning/notes/resolving.ts'
import {
  assertSayable,
  finished,
  positionIn,
  prepareNote,
  type NoteOutcome,
  type Where,
} from '../../planning/notes/service.ts'
import { noteablePolicy, type NoteableSubject } from '../../planning/notes/noteable.ts'
import { markReviewed } from '../merge-requests/service.ts'
import type { DraftNote } from './model.ts'

export interface DraftInput {
  readonly note: string
  readonly in_reply_to_discussion_id?: string | null | undefined
  readonly resolve_discussion?: boolean | null | undefined
  readonly commit_id?: string | null | undefined
  readonly position?: PositionInput | null | undefined
}

/** All drafts are published in one transaction. */
const MOST_DRAFTS = 200

export async function createDraft(
  app: App,
  actor: User,
  subject: NoteableSubject,
  input: DraftInput,
): Promise<DraftNote> {
  assertSayable(input.note)
  const { topic } = subject
  const answered = input.in_reply_to_discussion_id
  const discussion = answered ? await findDiscussion(app, subject, answered) : null
  if (answered && !discussion) throw notFound('Discussion')
  if (discussion?.[0]!.system) throw forbidden()
  const commit = discussion || !input.commit_id ? null : ((await topic.commitNamed?.(app, input.commit_id)) ?? null)
  const stored = discussion ? null : await storedPositionOf(app, subject, input.position, commit)
  const now = timestamp(app.clock)
  const created = transact(app, async ({ db }) => {
    const { total } = await db
      .selectFrom('draft_notes')
      .select(sql<number>`count(*)`.as('total'))
      .where('merge_request_id', '=', topic.id)
      .where('author_id', '=', actor.id)
      .executeTakeFirstOrThrow()
    if (Number(total) >= MOST_DRAFTS) throw new Refusal('bad_request', `A review has at most ${MOST_DRAFTS} notes`)
    return db
      .insertInto('draft_notes')
      .values({
        merge_request_id: topic.id!,
        author_id: actor.id,
        note: input.note,
        discussion_id: discussion?.[0]!.discussion_id ?? null,
        resolve_discussion: Boolean(discussion && input.resolve_discussion),
        commit_sha: commit,
        position: stored?.position ?? null,
        line_code: stored?.line_code ?? null,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return unlessOrphan(created, notFound)
}

/** Keeps the position as submitted. Publishing finds where the line is by then. */
async function storedPositionOf(
  app: App,
  { topic }: NoteableSubject,
  position: PositionInput | null | undefined,
  commit: string | null,
) {
  const stored = await positionIn(app, topic, position, commit)
  return stored && { position: JSON.stringify(stored.original ?? stored.position), line_code: stored.line_code }
}

export async function updateDraft(
  app: App,
  subject: NoteableSubject,
  { id, discussion_id, commit_sha }: DraftNote,
  { note, position }: { note?: string | undefined; position?: PositionInput | null | undefined },
): Promise<DraftNote> {
  if (note !== undefined) assertSayable(note)
  const stored = discussion_id === null ? await storedPositionOf(app, subject, position, commit_sha) : null
  const updated = await app.db
    .updateTable('draft_notes')
    .set({ ...(note !== undefined && { note }), ...stored, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound() // deleted by another request meanwhile
  return updated
}

export async function deleteDraft({ db }: App, { id }: DraftNote): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('draft_notes').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
}

/** Publishes all of these drafts or none. */
export async function publishDrafts(
  app: App,
  actor: User,
  subject: NoteableSubject,
  drafts: readonly DraftNote[],
): Promise<void> {
  if (drafts.length === 0) return
  const ready: { draft: DraftNote; publish: (app: TransactionApp) => Promise<NoteOutcome> }[] = []
  for (const draft of drafts) {
    const where = await whereOf(app, subject, draft)
    ready.push({
      draft,
      publish: await prepareNote(
        app,
        actor,
        subject,
        { body: draft.note, commit: draft.commit_sha, review: true },
        where,
      ),
    })
  }
  const outcomes = await transact(app, async (app) => {
    const taken = await app.db
      .deleteFrom('draft_notes')
      .where(
        'id',
        'in',
        drafts.map(({ id }) => id),
      )
      .returning(['id', 'note', 'position'])
      .execute()
    const byId = new Map(taken.map((row) => [row.id, row]))
    const isAsSeen = ({ id, note, position }: DraftNote) =>
      byId.get(id)?.note === note && byId.get(id)?.position === position
    if (!drafts.every(isAsSeen)) throw conflict('Draft notes were changed meanwhile')
    const all: NoteOutcome[] = []
    for (const { draft, publish } of ready) {
      all.push(await publish(app))
      const { discussion_id, resolve_discussion } = draft
      if (discussion_id !== null && resolve_discussion && noteablePolicy.resolve(subject))
        await resolveNotes(app, actor, subject.topic, { discussion_id }, true)
    }
    await markReviewed(app, actor, subject.topic.id!)
    const notes = all.flatMap(({ note }) => note?.id ?? [])
    const event = { id: subject.topic.id!, project_id: subject.project.id, by: actor.id, notes }
    if (notes.length > 0) await emit(app, 'merge_request.reviewed', event)
    return all
  })
  for (const one of outcomes) await finished(app, one)
}

/** A reply to a deleted discussion starts a discussion of its own. */
async function whereOf(
  app: App,
  subject: NoteableSubject,
  { discussion_id, position, commit_sha }: DraftNote,
): Promise<Where> {
  const discussion = discussion_id === null ? null : await findDiscussion(app, subject, discussion_id)
  if (discussion) return { discussion }
  const given = position === null ? null : (JSON.parse(position) as PositionInput)
  const stored = given && ((await subject.topic.resolvePosition?.(app, given, commit_sha)) ?? null)
  return stored || commit_sha !== null ? { position: stored } : { alone: true }
}
