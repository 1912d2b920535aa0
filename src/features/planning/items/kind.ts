/**
 * Issues and merge requests are items. Both have the columns of `ItemRow`, labels, assignees, notes, to-do items,
 * subscriptions and time tracking. A descriptor says what differs in names.
 */
import type { Row, Tables } from '../../../store/database.ts'

/** The tables of items. */
export type ItemTable = { [T in keyof Tables]: 'discussion_locked' extends keyof Tables[T] ? T : never }[keyof Tables]

/** The columns that all items have. */
export type ItemRow = Pick<Row<ItemTable>, keyof Tables[ItemTable] & keyof Row<ItemTable>>

export type ItemKey = 'issue' | 'merge_request'

/** Roles of users. Each has a link table. */
export const ITEM_ROLES = ['assignees', 'reviewers'] as const
export type ItemRole = (typeof ITEM_ROLES)[number]

export interface ItemKind<T extends ItemTable = ItemTable, R extends ItemRole = 'assignees'> {
  /** Begins the names of events and activities. */
  readonly key: ItemKey
  /** In sentences. */
  readonly noun: 'issue' | 'merge request'
  readonly one: 'an issue' | 'a merge request'
  /** In records of the API. */
  readonly type: 'Issue' | 'MergeRequest'
  /** Before the number in a reference. */
  readonly sign: '#' | '!'
  readonly table: T
  /** The column that names an item in other tables. */
  readonly column: `${ItemKey}_id`
  /** The link table of labels. */
  readonly labels: `${ItemKey}_labels`
  /** The link tables of users. */
  readonly people: { readonly [role in R]: `${ItemKey}_${role}` }
}

/** An item as the columns of a row that belongs to the item. */
export type ItemColumns = { readonly issue_id: number } | { readonly merge_request_id: number }

export const columnsOfItem = ({ column }: Pick<ItemKind, 'column'>, id: number): ItemColumns =>
  column === 'issue_id' ? { issue_id: id } : { merge_request_id: id }

/** The same, with the project. */
export const targetOfItem = (
  kind: Pick<ItemKind, 'column'>,
  { id, project_id }: { readonly id: number; readonly project_id: number },
): ItemColumns & { readonly project_id: number } => ({ project_id, ...columnsOfItem(kind, id) })

/** Builds a value once per kind. */
export function perKind<V>(build: (kind: ItemKind) => V): (kind: ItemKind) => V {
  const built = new Map<ItemKey, V>()
  return (kind) => {
    const value = built.get(kind.key) ?? build(kind)
    built.set(kind.key, value)
    return value
  }
}
