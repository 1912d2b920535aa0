import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { binaryText, idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { askTogether, lookup } from '../../../store/lookups.ts'
import { hasWork, isAt, isSeenFrom, type PlanningScope, type ScopeSubject, type ScopeRow } from '../scopes.ts'
import { subscribedLookup } from '../subscriptions/queries.ts'
import { NONE, countLookups, countsFrom } from './counts.ts'
import { presentLabel, type LabelRecord, type LoadedLabel } from './entity.ts'
import type { Label } from './model.ts'

const labelsSeenFrom = (db: Db, scope: ScopeRow) =>
  db.selectFrom('labels').selectAll('labels').where(isSeenFrom(scope, 'labels'))

export const byTitle = (db: Db) => sql.raw(binaryText(db, 'labels.title'))

/** The label of a project goes before a group label with the same title. */
const nearest = (labels: readonly Label[]): Label | undefined =>
  labels.find(({ project_id }) => project_id !== null) ?? labels[0]

/** Labels with exactly these titles, by title. */
export async function labelsTitled(db: Db, scope: ScopeRow, titles: readonly string[]): Promise<Map<string, Label>> {
  if (titles.length === 0) return new Map()
  const found = await labelsSeenFrom(db, scope).where('title', 'in', titles).orderBy('id').execute()
  return new Map(
    Array.from(
      Map.groupBy(found, ({ title }) => title),
      ([title, some]) => [title, nearest(some)!],
    ),
  )
}

/** Finds by id, else by title. */
async function findLabel(db: Db, scope: ScopeRow, given: string, input: { own: boolean }): Promise<Label | null> {
  const id = /^\d{1,15}$/.test(given) ? Number(given) : 0
  const found = await labelsSeenFrom(db, scope)
    .where((eb) => eb.or([eb('id', '=', id), eb('title', '=', given)]))
    .$if(input.own, (query) => query.where(isAt(scope, 'labels')))
    .orderBy('id')
    .execute()
  return found.find((label) => label.id === id) ?? nearest(found) ?? null
}

export async function findVisibleLabel(db: Db, scope: ScopeRow, id: number): Promise<Label | null> {
  return (await labelsSeenFrom(db, scope).where('id', '=', id).executeTakeFirst()) ?? null
}

/** The records of a page of labels, in a fixed number of queries. */
export async function presentLabels(
  { db }: App,
  viewer: User | null,
  scope: ScopeSubject,
  labels: readonly Label[],
  { counts = true }: { counts?: boolean } = {},
): Promise<LabelRecord[]> {
  if (labels.length === 0) return []
  const { project } = scope
  const ids = labels.map(({ id }) => id)
  const list = idList(db, ids)
  const found = await askTogether(db, {
    ...countLookups(viewer, scope, counts ? list : null),
    subscribed: subscribedLookup(viewer?.id ?? 0, list, project?.id ?? null),
    priorities: lookup(
      priorities,
      project && { project: project.id, labels: list },
      (rows) => new Map(rows.map(({ label_id, priority }) => [label_id, priority])),
    ),
  })
  const counted = counts ? countsFrom(found) : null
  return labels.map((label) => {
    const loaded: LoadedLabel = {
      ...label,
      counts: counted && (counted.get(label.id) ?? NONE),
      subscribed: found.subscribed.has(label.id),
      ...(project && { priority: found.priorities.get(label.id) ?? null }),
    }
    return presentLabel(loaded)
  })
}

export async function presentOneLabel(
  app: App,
  viewer: User | null,
  scope: ScopeSubject,
  label: Label,
): Promise<LabelRecord> {
  return (await presentLabels(app, viewer, scope, [label]))[0]!
}

const priorities = hotQuery((db, p: { project: number; labels: string }) =>
  db
    .selectFrom('label_priorities')
    .select(['label_id', 'priority'])
    .where('project_id', '=', p.project)
    .where(inIdList(db, 'label_id', p.labels)),
)

/** `…/labels/:label_id`: an id or a title. Labels of ancestor groups are found, too. */
export const label = ({ resource }: PlanningScope) =>
  child(resource, {
    name: 'Label',
    key: 'label',
    params: { label_id: text },
    find: async (app, scope, { label_id }) =>
      hasWork(scope) ? findLabel(app.db, scope, label_id, { own: false }) : null,
  })

/** The same for changes: only labels of the scope itself. */
export const ownLabel = ({ resource }: PlanningScope) =>
  child(resource, {
    name: 'Label',
    key: 'label',
    params: { label_id: text },
    find: (app, scope, { label_id }) => findLabel(app.db, scope, label_id, { own: true }),
  })

/** `…/labels` with the label in the body. */
export const labelByBody = ({ resource }: PlanningScope) =>
  child(resource, {
    name: 'Label',
    key: 'label',
    params: { name: text.nullish(), label_id: text.nullish() },
    find: (app, scope, { name, label_id }) => findLabel(app.db, scope, name ?? label_id!, { own: true }),
  })
