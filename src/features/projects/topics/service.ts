import { sql } from 'kysely'
import type { Upload } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, notFound, taken } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { NO_AVATAR, avatarChange, keepAvatar, storeAvatar } from '../../identity/users/avatar.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import type { Topic } from './model.ts'

interface TopicInput {
  name?: string | null | undefined
  title?: string | null | undefined
  description?: string | null | undefined
  avatar?: Upload | '' | null | undefined
}

/** Projects may use any topic names. Creates the missing topics. */
export async function ensureTopics({ db, clock }: App, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const created_at = timestamp(clock)
  await db
    .insertInto('topics')
    .values(names.map((name) => ({ name, title: null, description: null, created_at })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

const withFreeName = <T>(change: Promise<T>): Promise<T> =>
  unlessTaken(change, 'topics', [['name']], () => taken('name'))

interface NewTopic extends TopicInput {
  name: string
  title: string
  avatar?: Upload | null | undefined
}

export async function createTopic(app: App, input: NewTopic): Promise<Topic> {
  const { name, title, description = null } = input
  const avatar = input.avatar ? await storeAvatar(app, input.avatar) : NO_AVATAR
  return withFreeName(
    app.db
      .insertInto('topics')
      .values({ name: name.trim(), title, description, curated: true, ...avatar, created_at: timestamp(app.clock) })
      .returningAll()
      .executeTakeFirstOrThrow(),
  ).then(keepAvatar(app, input.avatar))
}

const carried = ({ name }: Topic) => sql<boolean>`lower(name) = lower(${name})`

/** Also renames the topic in all projects that have it. */
export async function updateTopic(app: App, { id }: Topic, input: TopicInput): Promise<void> {
  const { name, title, description } = input
  const avatar = await avatarChange(app, input.avatar)
  const change = {
    ...avatar,
    ...(typeof name === 'string' && { name: name.trim() }),
    ...(typeof title === 'string' && { title }),
    ...(description !== undefined && { description }),
  }
  await withFreeName(
    transact(app, async (app) => {
      const update = app.db.updateTable('topics').where('id', '=', id)
      // The first update locks the row, so that no concurrent request replaces the avatar that is released below.
      const before = await update.set({ curated: true }).returningAll().executeTakeFirst()
      if (!before) throw notFound('Topic') // a concurrent request deleted the topic
      if (change.name !== undefined && change.name !== before.name)
        await app.db.updateTable('project_topics').set({ name: change.name }).where(carried(before)).execute()
      if (avatar.avatar_digest !== undefined) await releaseBlob(app, before.avatar_digest)
      return update
        .set({ ...change, curated: true })
        .returningAll()
        .executeTakeFirstOrThrow()
    }),
  ).then(keepAvatar(app, input.avatar))
}

/** Also removes the topic from all projects. */
export async function deleteTopic(app: App, topic: Topic): Promise<void> {
  await transact(app, async (app) => {
    await removeRow(app, topic)
    await app.db.deleteFrom('project_topics').where(carried(topic)).execute()
  })
}

async function removeRow(app: App, { id }: Topic): Promise<void> {
  const gone = await app.db.deleteFrom('topics').where('id', '=', id).returning('avatar_digest').executeTakeFirst()
  if (!gone) throw notFound('Topic') // a concurrent request deleted the topic
  await releaseBlob(app, gone.avatar_digest)
}

/** Replaces one topic by the other in all projects. */
export async function mergeTopics(app: App, source: Topic, target: Topic): Promise<void> {
  if (source.id === target.id) throw new Refusal('bad_request', 'The source topic and the target topic are identical.')
  await transact(app, async (app) => {
    const having = app.db.selectFrom('project_topics').select('project_id').where(carried(target))
    await app.db.deleteFrom('project_topics').where(carried(source)).where('project_id', 'in', having).execute()
    await app.db.updateTable('project_topics').set({ name: target.name }).where(carried(source)).execute()
    await removeRow(app, source)
  })
}
