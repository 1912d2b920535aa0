/** Tells whether a migration only adds: then versions that do not know the migration can still read and write. */
import type { Db } from '../src/store/database.ts'
import { describeSchema } from './schema.ts'

interface Column {
  readonly type: string
  readonly isNullable: boolean
  /** Whether an insert may leave it out. */
  readonly isOptional: boolean
}

export interface Shape {
  readonly tables: ReadonlyMap<string, ReadonlyMap<string, Column>>
  /** Unique indexes and other constraints on rows. */
  readonly rules: readonly string[]
}

export async function shapeOf(db: Db): Promise<Shape> {
  const tables = (await db.introspection.getTables()).map(({ name, columns }) => {
    const described = columns.map(({ name, dataType, isNullable, hasDefaultValue, isAutoIncrementing }) => {
      const isOptional = isNullable || hasDefaultValue || isAutoIncrementing
      return [name, { type: dataType, isNullable, isOptional }] as const
    })
    return [name, new Map(described)] as const
  })
  const rules = (await describeSchema(db)).filter((line) =>
    /^(index|constraint) .*\b(unique|check|foreign)\b/i.test(line),
  )
  return { tables: new Map(tables), rules }
}

/** What `after` takes away from versions that know only `before`, or demands of them. */
export function contractions(before: Shape, after: Shape): string[] {
  const found: string[] = []
  const added = new Set<string>()
  for (const [table, columns] of before.tables) {
    const now = after.tables.get(table)
    if (!now) {
      found.push(`${table} is gone`)
      continue
    }
    for (const [name, { type, isNullable }] of columns) {
      const column = now.get(name)
      if (!column) found.push(`${table}.${name} is gone`)
      else if (column.type !== type) found.push(`${table}.${name} has another type`)
      else if (isNullable && !column.isNullable) found.push(`${table}.${name} must not be null any more`)
    }
    for (const [name, { isOptional }] of now) {
      if (columns.has(name)) continue
      added.add(name)
      if (!isOptional) found.push(`${table}.${name} is new and has no default`)
    }
  }
  for (const rule of after.rules) {
    if (before.rules.includes(rule)) continue
    const words = rule.match(/\w+/g) ?? []
    const isOnOld = [...before.tables.keys()].some((table) => tableOf(rule) === table)
    if (isOnOld && !words.some((word) => added.has(word))) found.push(`older rows and writers must obey: ${rule}`)
  }
  return found
}

/** `index a: CREATE UNIQUE INDEX a ON public.t …`, or `constraint t.name: …`. */
const tableOf = (rule: string): string | undefined =>
  / on (?:\w+\.)?(\w+)/i.exec(rule)?.[1] ?? /^constraint (\w+)\./.exec(rule)?.[1]
