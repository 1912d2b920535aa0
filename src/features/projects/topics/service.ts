import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, invalid, notFound, type FieldErrors } from '../../../errors.ts'
import { uniqueViolation } from '../../../store/dialect.ts'
import { sql } from 'kysely'
import { transact } from '../../../store/transact.ts'
import type { Topic } from './model.ts'

const LONGEST_NAME = 255
const LONGEST_DESCRIPTION = 1024

interface TopicWish {
  name?: string | null | undefined
  title?: string | null | undefined
  description?: string | null | undefined
}

/** Projects name topics as they like: those that are new are made. */
export async function ensureTopics({ db, clock }: App, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const created_at = timestamp(clock)
  await db
    .insertInto('topics')
    .values(names.map((name) => ({ name, title: null, description: null, created_at })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

function assertValid({ name, title, description }: TopicWish): void {
  const faults: FieldErrors = {}
  const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]
  for (const [field, value] of Object.entries({ name, title })) {
    if (typeof value !== 'string') continue
    if (value.trim() === '') faults[field] = ["can't be blank"]
    else if (value.length > LONGEST_NAME) faults[field] = tooLong(LONGEST_NAME)
  }
  if (description && description.length > LONGEST_DESCRIPTION) faults.description = tooLong(LONGEST_DESCRIPTION)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

async function refusingTwins<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (uniqueViolation(error) === 'topics_name_unique') throw invalid({ name: ['has already been taken'] })
    throw error
  }
}

export async function createTopic(app: App, wish: TopicWish & { name: string; title: string }): Promise<Topic> {
  assertValid(wish)
  const { name, title, description = null } = wish
  return refusingTwins(() =>
    app.db
      .insertInto('topics')
      .values({ name: name.trim(), title, description, curated: true, created_at: timestamp(app.clock) })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
}

const carried = ({ name }: Topic) => sql<boolean>`lower(name) = lower(${name})`

/** Projects that have it have it by its new name. */
export async function updateTopic(app: App, topic: Topic, { name, title, description }: TopicWish): Promise<void> {
  assertValid({ name, title, description })
  const change = {
    curated: true,
    ...(typeof name === 'string' && { name: name.trim() }),
    ...(typeof title === 'string' && { title }),
    ...(description !== undefined && { description }),
  }
  await refusingTwins(() =>
    transact(app, async (app) => {
      await app.db.updateTable('topics').set(change).where('id', '=', topic.id).execute()
      if (change.name === undefined || change.name === topic.name) return
      await app.db.updateTable('project_topics').set({ name: change.name }).where(carried(topic)).execute()
    }),
  )
}

/** No project has it any more. */
export async function deleteTopic(app: App, topic: Topic): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('topics').where('id', '=', topic.id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Topic') // somebody was faster
    await app.db.deleteFrom('project_topics').where(carried(topic)).execute()
  })
}

/** Whatever has the one has the other instead. */
export async function mergeTopics(app: App, source: Topic, target: Topic): Promise<void> {
  if (source.id === target.id) throw new Refusal('bad_request', 'The source topic and the target topic are identical.')
  await transact(app, async (app) => {
    const having = app.db.selectFrom('project_topics').select('project_id').where(carried(target))
    await app.db.deleteFrom('project_topics').where(carried(source)).where('project_id', 'in', having).execute()
    await app.db.updateTable('project_topics').set({ name: target.name }).where(carried(source)).execute()
    await app.db.deleteFrom('topics').where('id', '=', source.id).execute()
  })
}
