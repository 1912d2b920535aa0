/**
 * Chooses the rows of a backup that belong to a project or group: all that the database deletes with it. The ids are
 * noted in tables of the temporary database, because there may be millions.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { idList, inIdList, inTextList, isSqlite, textList } from '../../store/dialect.ts'
import type { ForeignKey } from '../../store/foreign-keys.ts'

/** Computed from other rows after the restore, or work that must not be done twice. */
const LEFT_TO_OTHERS = new Set([
  'namespace_ancestors',
  'project_authorizations',
  // A trigger fills it from the jobs.
  'ci_queue',
  // Messages and mails that were about to be sent, and pushes that were in progress.
  'hook_deliveries',
  'hook_replays',
  'delivery_lanes',
  'notifications',
  'notification_mails',
  'pending_changes',
])

/** Deleted before the row that they refer to, instead of with it. */
const TREE = new Set(['namespaces.parent_id', 'projects.namespace_id'])

/**
 * Rows that live as long as another row refers to them, and so are restored with it. `natural` names a unique column:
 * somebody may have created the same again meanwhile.
 */
const COMPANIONS: readonly { table: string; column: string; parent: string; natural?: string; own?: string }[] = [
  { table: 'deploy_key_projects', column: 'key_id', parent: 'keys', natural: 'fingerprint', own: 'user_id is null' },
  { table: 'lfs_object_projects', column: 'lfs_object_id', parent: 'lfs_objects', natural: 'oid' },
  { table: 'projects', column: 'pool_id', parent: 'pools' },
]

const BATCH = 5000

export interface Root {
  readonly table: 'projects' | 'namespaces'
  readonly id: number
}

/** The name of the table with the chosen ids. */
const chosen = (table: string) => `restoring_${table}`

export class Selection {
  readonly #backup: Db
  readonly #living: Db
  readonly #keys: readonly ForeignKey[]
  readonly #root: Root
  /** The tables with chosen rows, each after those that its rows refer to. */
  readonly tables: readonly string[]
  readonly #withId: ReadonlySet<string>

  private constructor(backup: Db, living: Db, keys: readonly ForeignKey[], root: Root) {
    this.#backup = backup
    this.#living = living
    this.#root = root
    const edges = keys.filter((key) => isEdge(key))
    const reached = new Set<string>([root.table])
    for (let size = 0; size < reached.size;) {
      size = reached.size
      for (const { parent, table } of edges) if (reached.has(parent)) reached.add(table)
    }
    for (const { parent } of COMPANIONS) reached.add(parent)
    this.#keys = keys.filter(({ table }) => reached.has(table))
    this.#withId = new Set([
      'namespaces',
      ...keys.filter(({ hasId }) => hasId).map(({ table }) => table),
      ...COMPANIONS.map(({ parent }) => parent),
    ])
    this.tables = inOrder(reached, keys)
  }

  static async make(backup: Db, living: Db, keys: readonly ForeignKey[], root: Root): Promise<Selection> {
    const selection = new Selection(backup, living, keys, root)
    await selection.#prepare()
    await selection.#chooseAll()
    if (await selection.#excludeLiving()) await selection.#chooseAll()
    await selection.#addCompanions()
    await selection.#findMissing()
    await selection.#dropOrphans()
    return selection
  }

  get #edges(): ForeignKey[] {
    return this.#keys.filter((key) => isEdge(key) && this.tables.includes(key.parent))
  }

  async #run(text: string): Promise<number> {
    const { numAffectedRows } = await sql.raw(text).execute(this.#backup)
    return Number(numAffectedRows ?? 0)
  }

  async #prepare(): Promise<void> {
    for (const table of this.tables)
      if (this.#withId.has(table)) await this.#run(`create table ${chosen(table)} (id bigint primary key)`)
    // Not chosen; referred to by chosen rows; referred to, but gone; chosen, but not restored; known under another id.
    for (const name of ['excluded', 'references', 'missing', 'dropped'])
      await this.#run(`create table restoring_${name}_of (parent text, id bigint, primary key (parent, id))`)
    await this.#run(`create table restoring_mapped (parent text, id bigint, new_id bigint, primary key (parent, id))`)
    // What was in the bin at that moment was deleted by itself.
    for (const table of ['projects', 'namespaces'])
      await this.#run(`insert into restoring_excluded_of select '${table}', id from ${table} where deleting`)
  }

  async #chooseAll(): Promise<void> {
    for (const table of this.tables) if (this.#withId.has(table)) await this.#run(`delete from ${chosen(table)}`)
    await this.#run(`insert into ${chosen(this.#root.table)} values (${this.#root.id})`)
    const edges = this.#edges
      .filter(({ table }) => this.#withId.has(table))
      .toSorted((a, b) => this.tables.indexOf(a.parent) - this.tables.indexOf(b.parent))
    for (let added = 1; added > 0;) {
      added = 0
      for (const { table, column, parent } of edges)
        added += await this.#run(`insert into ${chosen(table)} select id from ${table} t
          where t.${column} in (select id from ${chosen(parent)})
          and not exists (select 1 from ${chosen(table)} c where c.id = t.id)
          and not exists (select 1 from restoring_excluded_of x where x.parent = '${table}' and x.id = t.id)`)
    }
  }

  /** Rows that still live, such as a project that was transferred, are not restored, nor what belongs to them. */
  async #excludeLiving(): Promise<boolean> {
    let isAny = false
    for (const table of this.tables.filter((table) => this.#withId.has(table)))
      for await (const ids of this.#batches(sql.raw(chosen(table)))) {
        const living = await this.#existing(table, ids)
        isAny ||= living.size > 0
        await this.#note('restoring_excluded_of', table, [...living])
      }
    return isAny
  }

  async #addCompanions(): Promise<void> {
    for (const { table, column, parent, natural, own } of COMPANIONS) {
      if (!this.tables.includes(table)) continue
      await this.#refer({ table, column, parent })
      const conditions = own === undefined ? sql`` : sql`where ${sql.raw(own)}`
      const referred = sql`(select r.id from restoring_references_of r
        where r.parent = ${parent} and r.id in (select id from ${sql.table(parent)} ${conditions})) r`
      for await (const ids of this.#batches(referred)) {
        const living = await this.#existing(parent, ids)
        const gone = ids.filter((id) => !living.has(id))
        const known = natural === undefined ? new Map<number, number>() : await this.#same(parent, natural, gone, own)
        await this.#map(parent, known)
        await this.#choose(
          parent,
          gone.filter((id) => !known.has(id)),
        )
      }
    }
    await this.#run('delete from restoring_references_of')
  }

  /** Ids of living rows with the same value, by the id in the backup. */
  async #same(table: string, column: string, ids: number[], own = 'true'): Promise<Map<number, number>> {
    const [name, value] = [sql.table(table), sql.ref(column)]
    const { rows } = await sql<{ id: number; value: string }>`select id, ${value} as value from ${name}
      where ${inIdList(this.#backup, 'id', idList(this.#backup, ids))}`.execute(this.#backup)
    const texts = textList(
      this.#living,
      rows.map((row) => row.value),
    )
    const { rows: living } = await sql<{ id: number; value: string }>`select id, ${value} as value from ${name}
      where ${inTextList(this.#living, column, texts)} and ${sql.raw(own)}`.execute(this.#living)
    const byValue = new Map(living.map((row) => [row.value, row.id]))
    return new Map(rows.flatMap((row) => (byValue.has(row.value) ? [[row.id, byValue.get(row.value)!]] : [])))
  }

  /** References to rows that neither live nor are chosen. */
  async #findMissing(): Promise<void> {
    for (const key of this.#keys) await this.#refer(key)
    for (const parent of new Set(this.#keys.map((key) => key.parent))) {
      const referred = sql`(select id from restoring_references_of where parent = ${parent}) r`
      for await (const ids of this.#batches(referred)) {
        const living = await this.#existing(parent, ids)
        await this.#note(
          'restoring_missing_of',
          parent,
          ids.filter((id) => !living.has(id)),
        )
      }
    }
  }

  /** Notes the rows outside the selection that chosen rows refer to. */
  async #refer({ table, column, parent }: Pick<ForeignKey, 'table' | 'column' | 'parent'>): Promise<void> {
    const isChosen = this.tables.includes(parent) && this.#withId.has(parent)
    await this.#run(`insert into restoring_references_of select distinct '${parent}', t.${column} from ${table} t
      where t.${column} is not null and ${this.#isChosen(table)}
      ${isChosen ? `and not exists (select 1 from ${chosen(parent)} p where p.id = t.${column})` : ''}
      and not exists (select 1 from restoring_mapped m where m.parent = '${parent}' and m.id = t.${column})
      and not exists (select 1 from restoring_references_of r where r.parent = '${parent}' and r.id = t.${column})`)
  }

  /** The database would have deleted these rows with those that they refer to. */
  async #dropOrphans(): Promise<void> {
    const keys = this.#keys.filter(({ table, onDelete }) => this.#withId.has(table) && onDelete !== 'set null')
    for (let dropped = 1; dropped > 0;) {
      dropped = 0
      for (const { table, column, parent } of keys) {
        const into = (name: string) => `insert into restoring_${name}_of select '${table}', t.id from ${table} t
          join ${chosen(table)} c on c.id = t.id
          join restoring_missing_of m on m.parent = '${parent}' and m.id = t.${column}
          where not exists (select 1 from restoring_${name}_of x where x.parent = '${table}' and x.id = t.id)`
        await this.#run(into('dropped'))
        await this.#run(into('missing'))
        dropped += await this.#run(`delete from ${chosen(table)} where id in
          (select id from restoring_dropped_of where parent = '${table}')`)
      }
    }
  }

  /** The condition on a row `t`. A table without ids is chosen by its references. */
  #isChosen(table: string, schema = ''): string {
    if (this.#withId.has(table)) return `exists (select 1 from ${schema}${chosen(table)} c where c.id = t.id)`
    const ways = this.#edges
      .filter((key) => key.table === table)
      .map(({ column, parent }) => `t.${column} in (select id from ${schema}${chosen(parent)})`)
    return `(${ways.join(' or ')})`
  }

  /** The condition on the rows `t` that are restored. `schema` ends with a dot. */
  condition(table: string, schema = ''): string {
    const orphans = this.#keys
      .filter((key) => key.table === table && key.onDelete !== 'set null')
      .map(({ column, parent }) => ` and not ${isMissing(parent, `t.${column}`, schema)}`)
    return this.#isChosen(table, schema) + orphans.join('')
  }

  /** The value of a reference in the restored row. */
  reference(table: string, column: string, schema = ''): string | null {
    const key = this.#keys.find((one) => one.table === table && one.column === column)
    if (!key) return null
    const { parent, onDelete } = key
    if (onDelete === 'set null')
      return `case when ${isMissing(parent, `t.${column}`, schema)} then null else t.${column} end`
    if (!COMPANIONS.some((one) => one.parent === parent && one.natural !== undefined)) return null
    return `coalesce((select m.new_id from ${schema}restoring_mapped m where m.parent = '${parent}' and m.id = t.${column}), t.${column})`
  }

  /** The foreign keys that a row may violate until all rows are there. */
  lateKeys(): ForeignKey[] {
    const position = (table: string) => this.tables.indexOf(table)
    return this.#keys.filter(({ table, parent }) => position(parent) >= position(table))
  }

  /** Rows that belong to the project or group, and are not restored because they refer to something that is gone. */
  async leftOut(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const table of this.tables) {
      const left = this.#withId.has(table)
        ? `select count(*) as n from restoring_dropped_of where parent = '${table}'`
        : `select count(*) as n from ${table} t where ${this.#isChosen(table)} and not (${this.condition(table)})`
      const { rows } = await sql.raw<{ n: number }>(left).execute(this.#backup)
      if (rows[0]!.n > 0) counts[table] = rows[0]!.n
    }
    return counts
  }

  /** Columns of the chosen rows of a table, in batches. */
  async *rows<T extends { id: number }>(table: string, columns: readonly string[]): AsyncGenerator<T[]> {
    if (!this.tables.includes(table)) return
    for await (const ids of this.#batches(sql.raw(chosen(table)))) {
      const { rows } = await sql<T>`select id, ${sql.raw(columns.join(', '))} from ${sql.table(table)}
        where ${inIdList(this.#backup, 'id', idList(this.#backup, ids))} order by id`.execute(this.#backup)
      yield rows
    }
  }

  async *#batches(from: RawBuilder<unknown>): AsyncGenerator<number[]> {
    for (let last = 0; ;) {
      const { rows } = await sql<{ id: number }>`select id from ${from} where id > ${last} order by id
        limit ${sql.lit(BATCH)}`.execute(this.#backup)
      if (rows.length > 0) yield rows.map(({ id }) => Number(id))
      if (rows.length < BATCH) return
      last = Number(rows.at(-1)!.id)
    }
  }

  async #existing(table: string, ids: readonly number[]): Promise<Set<number>> {
    const { rows } = await sql<{ id: number }>`select id from ${sql.table(table)}
      where ${inIdList(this.#living, 'id', idList(this.#living, ids))}`.execute(this.#living)
    return new Set(rows.map(({ id }) => id))
  }

  async #note(into: string, parent: string, ids: readonly number[]): Promise<void> {
    if (ids.length > 0)
      await sql`insert into ${sql.table(into)} select ${this.#text(parent)}, id from ${this.#each(ids)}`.execute(
        this.#backup,
      )
  }

  async #choose(table: string, ids: readonly number[]): Promise<void> {
    if (ids.length > 0)
      await sql`insert into ${sql.table(chosen(table))} select id from ${this.#each(ids)}`.execute(this.#backup)
  }

  /** Notes the ids that living rows have instead. */
  async #map(parent: string, ids: ReadonlyMap<number, number>): Promise<void> {
    if (ids.size === 0) return
    const pairs = JSON.stringify([...ids])
    const each = isSqlite(this.#backup)
      ? sql`select ${parent}, value ->> 0, value ->> 1 from json_each(${pairs})`
      : sql`select ${parent}::text, (value ->> 0)::bigint, (value ->> 1)::bigint
          from json_array_elements(${pairs}::json) as pairs (value)`
    await sql`insert into restoring_mapped ${each}`.execute(this.#backup)
  }

  #text(value: string): RawBuilder<unknown> {
    return isSqlite(this.#backup) ? sql`${value}` : sql`${value}::text`
  }

  /** The ids as a table with the column `id`. */
  #each(ids: readonly number[]): RawBuilder<unknown> {
    const list = idList(this.#backup, ids)
    return isSqlite(this.#backup)
      ? sql`(select value as id from json_each(${list})) ids`
      : sql`(select unnest(${list}::bigint[]) as id) ids`
  }
}

const isEdge = ({ table, column, onDelete }: ForeignKey) =>
  !LEFT_TO_OTHERS.has(table) && (onDelete === 'cascade' || TREE.has(`${table}.${column}`))

const isMissing = (parent: string, column: string, schema = '') =>
  `exists (select 1 from ${schema}restoring_missing_of m where m.parent = '${parent}' and m.id = ${column})`

/** Each table after those that it refers to. In a circle, one of them is earlier. */
function inOrder(tables: ReadonlySet<string>, keys: readonly ForeignKey[]): string[] {
  const order = new Set<string>()
  const open = new Set<string>()
  const add = (table: string) => {
    if (order.has(table) || open.has(table)) return
    open.add(table)
    for (const key of keys) if (key.table === table && tables.has(key.parent)) add(key.parent)
    order.add(table)
  }
  for (const table of [...tables].toSorted()) add(table)
  return [...order]
}
