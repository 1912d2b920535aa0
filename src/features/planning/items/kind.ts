/**
 * Issues and merge requests are items. All kinds have the columns of `ItemRow`, labels, assignees, notes, to-do items,
 * subscriptions and time tracking. A descriptor says what differs in names.
 */
import type { Row, Tables } from '../../../store/database.ts'

/** The tables of items. */
export type ItemTable = { [T in keyof Tables]: 'discussion_locked' extends keyof Tables[T] ? T : never }[keyof Tables]

/** The columns that all items have. */
export type ItemRow = Pick<Row<ItemTable>, keyof Tables[ItemTable] & keyof Row<ItemTable>>

/** The type of each kind in records of the API, by the key of the kind. The `kind.ts` of a family adds its own. */
// oxlint-disable-next-line no-empty-object-type
export interface ItemTypes {}

export type ItemKey = keyof ItemTypes
export type ItemType = ItemTypes[ItemKey]
/** The column that names an item in other tables. */
export type ItemColumn = `${ItemKey}_id`

/** Roles of users. Each has a link table. */
export const ITEM_ROLES = ['assignees', 'reviewers'] as const
export type ItemRole = (typeof ITEM_ROLES)[number]

export interface ItemKind<T extends ItemTable = ItemTable, R extends ItemRole = 'assignees'> {
  /** Begins the names of events and activities. */
  readonly key: ItemKey
  /** In sentences. */
  readonly noun: string
  readonly one: string
  readonly type: ItemType
  /** Before the number in a reference. */
  readonly sign: string
  readonly table: T
  readonly column: ItemColumn
  /** The link table of labels. */
  readonly labels: `${ItemKey}_labels`
  /** The link tables of users. */
  readonly people: { readonly [role in R]: `${ItemKey}_${role}` }
}

/** An item as the columns of a row that belongs to the item. */
export type ItemColumns = { [column in ItemColumn]: { readonly [name in column]: number } }[ItemColumn]

export const columnsOfItem = ({ column }: Pick<ItemKind, 'column'>, id: number): ItemColumns =>
  ({ [column]: id }) as unknown as ItemColumns

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
