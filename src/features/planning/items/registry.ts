/**
 * The registered kinds of items. A family registers its kind as `items` in its family.ts. What the kinds share loops
 * over all of them, also over kinds of contexts above planning.
 */
import type { RawBuilder } from 'kysely'
import type { z } from 'zod'
import type { Policy, Resource } from '../../../api/endpoint.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { SeenFrom } from '../seeing.ts'
import type { ItemKey, ItemKind, ItemRow } from './kind.ts'
import type { ItemRules } from './readers.ts'

/** The fields of all records of items. */
export interface ItemRecord {
  readonly id: number
  readonly title: string
  readonly web_url: string
}

/** The columns that references, to-do items and activities need. */
export type ListedItem = Pick<ItemRow, 'id' | 'iid' | 'project_id' | 'author_id' | 'title'>

/** Threads of an item that a new issue continues. */
export type FollowUp = (
  app: App,
  actor: User,
  project: Row<'projects'>,
  input: { readonly iid: number; readonly discussion?: string | null | undefined },
) => Promise<{
  /** The default description of the issue. */
  readonly description: string
  /** Resolves the threads, in the transaction that creates the issue. */
  settle(app: TransactionApp, issue: { readonly id: number; readonly iid: number }): Promise<void>
} | null>

type ItemPolicy = Record<'read' | 'participate' | 'update', (subject: ProjectSubject) => boolean>

export interface RegisteredKind extends ItemKind, ItemRules {
  /** The path of one item. */
  readonly path: `/${string}`
  readonly resource: Resource<ProjectSubject, ItemPolicy>
  /** The ability to read an item, and who may read items of public projects. */
  readonly reading: keyof ItemPolicy
  readonly by: 'user' | 'visitor'
  itemOf(subject: ProjectSubject): ItemRow
  /** The status of the answer to added time. */
  readonly timeAdded: 200 | 201
  readonly entity: z.ZodType<ItemRecord>
  /** The records of a page. */
  present(app: App, viewer: User, page: readonly { id: number }[], how: { isMixed: boolean }): Promise<unknown[]>
  /** The records of to-do items. */
  presentTargets(app: App, viewer: User, ids: readonly number[]): Promise<readonly ItemRecord[]>
  /** The name of the table in the conditions below. */
  readonly alias: string
  /** Columns besides those of `ListedItem` that decide who sees an item. */
  readonly ruling?: readonly (keyof Row<'issues'>)[]
  /** A condition: whether the viewer sees the item, in a project that the viewer may read. */
  sees(viewer: number, from: SeenFrom): RawBuilder<boolean>
  /** A condition: whether the viewer sees the project's items, except those with a stricter rule. */
  seesAll(from: SeenFrom): RawBuilder<boolean>
  /** The stored states that viewers see as this one. */
  statesIn(state: 'opened' | 'closed' | 'merged'): readonly string[]
  /** Ids of the item's own commits, which it does not refer to. */
  commitsOf?(app: App, project: Row<'projects'>, id: number): Promise<readonly string[]>
  /** Null if there is no such item or thread, or the user may not resolve threads. Absent: it has no threads. */
  readonly followUp?: FollowUp
  /** More to-do items for a new item, besides those of mentioned users. */
  addTodos?(app: App, item: ListedItem, by: number, source: string | null): Promise<void>
}

type Registration<S extends ProjectSubject, P extends Policy<S>> = Omit<
  RegisteredKind,
  'resource' | 'reading' | 'itemOf'
> & {
  readonly resource: Resource<S, P & Record<keyof ItemPolicy, (subject: S) => boolean>>
  readonly reading: keyof P & string
  itemOf(subject: S): ItemRow
}

/** Shared code uses only what all subjects of items have. */
export const registeredKind = <S extends ProjectSubject, P extends Policy<S>>(
  kind: Registration<S, P>,
): RegisteredKind => kind as unknown as RegisteredKind

let registered: readonly RegisteredKind[] = []

/** Called once, when the families are put together. */
export const registerItemKinds = (kinds: readonly RegisteredKind[]): void => void (registered = kinds)

export const itemKinds = (): readonly RegisteredKind[] => registered

export const itemKind = (key: ItemKey): RegisteredKind => registered.find((kind) => kind.key === key)!

/** The item that the columns of a row name. */
type Naming = { readonly project_id?: number } & { readonly [column in ItemKind['column']]?: number | null }

export function itemIn(row: Naming) {
  const kind = registered.find(({ column }) => typeof row[column] === 'number')
  return kind ? { kind, id: row[kind.column]! } : null
}
