/** Lists of a kind of item: of a project, of a group, of the instance. */
import { sql, type RawBuilder } from 'kysely'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { binaryText } from '../../../store/dialect.ts'
import { longList, type Condition, type OrderInput, type Sort, type Visible } from '../../../store/lists.ts'
import type { Cut, Page } from '../../../store/pages.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { ScopeSubject } from '../scopes.ts'
import {
  NOBODY,
  lastOf,
  ofItsProject,
  plannedValues,
  seenBy,
  type PlannedFilter,
  type PlannedValues,
} from './conditions.ts'
import type { ItemKind } from './kind.ts'

type Order = (db: Db, sort: Sort) => RawBuilder<unknown>

/** The orders of all kinds. */
const plannedOrders = (table: string) => ({
  created_at: () => sql.ref(`${table}.created_at`),
  updated_at: () => sql.ref(`${table}.updated_at`),
  title: (db: Db) => sql.raw(binaryText(db, `${table}.title`)),
  popularity: () => sql.ref(`${table}.upvotes`),
  label_priority: (db: Db, sort: Sort) =>
    sql`coalesce(${sql.ref(`${table}.label_priority`)}, ${lastOf(db, sort, 'number')})`,
})

interface ListPlan<F extends PlannedFilter, V extends PlannedValues, O extends string> {
  kind: ItemKind
  /** Besides those of all kinds. */
  orders: { [name in Exclude<O, keyof ReturnType<typeof plannedOrders>>]: Order }
  /** Most selective conditions first. */
  conditions: { [name in keyof V]?: Condition<V> }
  /** The values of the kind's own conditions. Null if nothing can match. */
  values(app: App, viewer: User | null, filter: F): Partial<V> | null
  /** Whether the viewer may list items of the project. */
  reads(subject: ProjectSubject): boolean
  /** Absent: such a viewer sees all items of the project. */
  inProject?: { visible: Visible<V>; seesAll(subject: ProjectSubject): boolean }
  /** A condition on the project `p` of every listed item. */
  live: RawBuilder<unknown>
  visible: Visible<V>
  /** Whether lists exclude archived projects by default. */
  hidesArchived(isGroup: boolean): boolean
}

const NOTHING = { items: [], total: 0 }

export function itemLists<F extends PlannedFilter, V extends PlannedValues, O extends string>(plan: ListPlan<F, V, O>) {
  const { kind, conditions, inProject } = plan
  type Filter = F & OrderInput<O>
  type Listed = Promise<Page<{ id: number }>>
  const inItsProject = ofItsProject(kind)
  const common = {
    table: kind.table,
    columns: ['id'],
    facets: true,
    conditions,
    orders: { ...plannedOrders(kind.table), ...plan.orders } as { [name in O]: Order },
    usual: (): readonly [O, Sort] => ['created_at' as O, 'desc'],
  } as const

  const ofProject = longList<V, typeof kind.table, O, 'id'>({
    ...common,
    counted: [],
    followed: { scope: 'project' },
    always: (w, { column }) => [sql`${column('project_id')} = ${w.project}`],
    ...(inProject && { visible: inProject.visible }),
  })

  const ofAll = longList<V, typeof kind.table, O, 'id'>({
    ...common,
    counted: ['projects'],
    followed: {},
    always: () => [inItsProject(plan.live)],
    visible: plan.visible,
  })

  /** Null if nothing can match. */
  function valuesOf(app: App, viewer: User | null, filter: F): PlannedValues | null {
    const own = plan.values(app, viewer, filter)
    if (!own) return null
    const { state } = filter
    const planned = plannedValues(app, viewer, filter)
    if (planned.author === NOBODY || planned.assignee === NOBODY) return null
    return { ...planned, ...(state && state !== 'all' && { state }), ...own }
  }

  /** Items of a project. Empty if the viewer may list none. */
  async function listOfProject(app: App, subject: ProjectSubject, filter: Filter, cut: Cut): Listed {
    const { project, viewer } = subject
    const values = plan.reads(subject) ? valuesOf(app, viewer, filter) : null
    if (!values) return NOTHING
    const seen = inProject && !inProject.seesAll(subject) ? { seen_by: viewer?.id ?? 0 } : {}
    return ofProject(app.db, { ...values, ...seen, project: project.id } as V, cut, filter)
  }

  /** Items of all projects the viewer may see, or of a group. */
  async function listAll(app: App, viewer: User | null, filter: Filter & { group?: number }, cut: Cut): Listed {
    const values = valuesOf(app, viewer, filter)
    if (!values) return NOTHING
    const { group, non_archived } = filter
    const scope = {
      ...(group !== undefined && { group }),
      ...((non_archived ?? plan.hidesArchived(group !== undefined)) && { non_archived: true as const }),
    }
    return ofAll(app.db, { ...values, ...seenBy(viewer), ...scope } as V, cut, filter)
  }

  /** Of a project, or of the projects of a group. */
  const listAt = (app: App, { project, namespace, viewer, level }: ScopeSubject, filter: Filter, cut: Cut): Listed =>
    project
      ? listOfProject(app, { project, namespace, viewer, level, open: openVisibilities(viewer) }, filter, cut)
      : listAll(app, viewer, { ...filter, group: namespace.id }, cut)

  return { ofProject, ofAll, listOfProject, listAll, listAt }
}

export type ItemLists<F extends PlannedFilter, O extends string> = ReturnType<typeof itemLists<F, PlannedValues, O>>
