/** To-do items for users whom a text mentions. */
import type { App, User } from '../../../context.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { mergeRequestReaders, type MergeRequestRow } from '../merge-requests.ts'
import { namesIn, mentionedPeople, type Mentions } from './mentions.ts'
import { addTodos, type Target } from './service.ts'

export interface Text {
  readonly target: Target
  readonly note?: { readonly id: number }
  readonly source: string | null
  /** Of these users, those who may read the text. */
  readonly readers: (ids: readonly number[]) => Promise<User[]>
}

/** For mentioned users who may read the text. */
export async function createMentionTodos(
  app: App,
  by: User,
  { target, note, source, readers }: Text,
  named: Mentions,
): Promise<void> {
  if (named.size === 0) return
  const people = await mentionedPeople(app, by, target.project_id, named)
  const seeing = new Set((await readers([...people.addressed, ...people.mentioned])).map(({ id }) => id))
  for (const [action, some] of [
    ['directly_addressed', people.addressed],
    ['mentioned', people.mentioned],
  ] as const) {
    await addTodos(
      app,
      { target, by: by.id, action, ...(note && { note: note.id }), source },
      some.filter((id) => seeing.has(id)),
    )
  }
}

/** The text of a merge request, or of a note on it. */
export async function textOfMergeRequest(
  app: App,
  by: User,
  one: MergeRequestRow,
  source: string | null,
  note?: { readonly id: number; readonly internal: boolean },
): Promise<Text> {
  const place = await findProjectSubject(app, String(one.project_id), by)
  return {
    target: { project_id: one.project_id, merge_request_id: one.id },
    ...(note && { note }),
    source,
    readers: async (ids) => (place ? mergeRequestReaders(app, place, ids, one, note) : []),
  }
}

type Titled = { readonly title: string; readonly description: string | null }
type Changes = { readonly [field: string]: readonly [unknown, unknown] }

/** Mentions in title and description that were not there before the change. */
export async function namesAdded(item: Titled, changes: Changes): Promise<Mentions> {
  const textsOf = (side: 0 | 1) =>
    (['title', 'description'] as const).map((field) =>
      changes[field] ? (changes[field][side] as string | null) : item[field],
    )
  const before = await namesIn(textsOf(0))
  const after = await namesIn(textsOf(1))
  for (const name of before.keys()) after.delete(name)
  return after
}
