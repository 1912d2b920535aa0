/** Custom attributes that administrators set on users, groups and projects, as filter and as part of lists. */
import { sql } from 'kysely'
import { z } from 'zod'
import { Json } from '../../api/json.ts'
import { bool, entity, text } from '../../api/wire.ts'
import type { User } from '../../context.ts'
import type { Db } from '../../store/database.ts'
import { idList, inIdList, textsIn } from '../../store/dialect.ts'
import type { Condition } from '../../store/lists.ts'

export const CustomAttributeEntity = entity({ key: z.string(), value: z.string() }).meta({ id: 'CustomAttribute' })

export type CustomAttribute = z.infer<typeof CustomAttributeEntity>
export type Whose = 'user_id' | 'group_id' | 'project_id'

const MOST_ATTRIBUTES = 20

/** The query parameters of a list. For callers who are not administrators the filter is ignored. */
export const attributeFilters = {
  custom_attributes: z
    .record(text, text)
    .refine((attributes) => Object.keys(attributes).length <= MOST_ATTRIBUTES)
    .nullish(),
  with_custom_attributes: bool.nullish(),
}

export interface AttributeOptions {
  custom_attributes?: Readonly<Record<string, string>> | null | undefined
  with_custom_attributes?: boolean | null | undefined
}

/** The values of the condition below. */
export interface AttributeFilter {
  /** A JSON list. */
  attributes?: string
  attribute_count?: number
}

/** The length prefix makes the text of each pair unique. */
const written = ([key, value]: readonly [string, string]) => `${Array.from(key).length} ${key}${value}`
const WRITTEN = sql`length(c.key) || ' ' || c.key || c.value`

export function attributeFilter(viewer: User | null, { custom_attributes }: AttributeOptions): AttributeFilter {
  const entries = Object.entries(custom_attributes ?? {})
  if (entries.length === 0 || !viewer?.admin) return {}
  return { attributes: JSON.stringify(entries.map(written)), attribute_count: entries.length }
}

/** A condition: the row of `table` has all of the given attributes. */
export const hasAttributes = (table: 'users' | 'namespaces' | 'projects', whose: Whose): Condition<AttributeFilter> => {
  const owner = sql.ref(`c.${whose}`)
  return {
    test: (w, { db }) => sql`(select count(*) from custom_attributes c
      where ${owner} = ${sql.ref(`${table}.id`)} and ${WRITTEN} in (${textsIn(db, w.attributes!)})) = ${w.attribute_count}`,
    set: (w, { db }) => sql`select ${owner} from custom_attributes c
      where ${owner} is not null and ${WRITTEN} in (${textsIn(db, w.attributes!)})
      group by ${owner} having count(*) = ${w.attribute_count}`,
    counted: ['custom_attributes'],
  }
}

/** Lists of attributes, by owner id, sorted by key. */
export async function attributesOf(
  db: Db,
  whose: Whose,
  ids: readonly number[],
): Promise<(id: number) => CustomAttribute[]> {
  const rows = await db
    .selectFrom('custom_attributes')
    .select([whose, 'key', 'value'])
    .where(inIdList(db, whose, idList(db, ids)))
    .orderBy('key')
    .execute()
  const byOwner = Map.groupBy(rows as ({ [id in Whose]?: number | null } & CustomAttribute)[], (row) => row[whose])
  return (id) => (byOwner.get(id) ?? []).map(({ key, value }) => ({ key, value }))
}

/** Adds the custom attributes to the records if an administrator asks for them. */
export async function withAttributes<T>(
  db: Db,
  viewer: User | null,
  whose: Whose,
  owners: readonly { readonly id: number }[],
  { with_custom_attributes }: AttributeOptions,
  records: readonly Json<T>[],
): Promise<Json<T>[]> {
  if (!with_custom_attributes || !viewer?.admin) return [...records]
  const attributes = await attributesOf(
    db,
    whose,
    owners.map(({ id }) => id),
  )
  return records.map((record) => {
    const value = record.value as T & { id: number }
    return Json.of<T>({ ...value, custom_attributes: attributes(value.id) })
  })
}
