/** The changed attributes of issues and merge requests in messages. */
import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hookLabel, hookText, hookUsers, rowTime } from './shared.ts'

/** Old and new value per attribute, as events store them. */
export type Changes = Readonly<Record<string, readonly [unknown, unknown]>>

type Payload = Record<string, { previous: unknown; current: unknown }>

export const STATE_IDS: Readonly<Record<string, number>> = { opened: 1, closed: 2, merged: 3, locked: 4 }

const OF_STATE = ['state', 'closed_at']
const AUTOMATIC = ['updated_at', 'updated_by_id', 'last_edited_at', 'last_edited_by_id']

/** A change of state gets a message of its own, before the one for other changes. */
export function partsOf(changes: Changes): { action: string; changes: Changes }[] {
  const { state } = changes
  if (!state) return [{ action: 'update', changes }]
  const only = (keep: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(changes).filter(([name]) => keep(name)))
  const isOther = (name: string) => !OF_STATE.includes(name)
  const ofState = { action: state[1] === 'closed' ? 'close' : 'reopen', changes: only((name) => !isEdit(name)) }
  return Object.keys(changes).some((name) => isEdit(name))
    ? [ofState, { action: 'update', changes: only(isOther) }]
    : [ofState]
}

const isEdit = (name: string) => !OF_STATE.includes(name) && !AUTOMATIC.includes(name)

const LINKED = { label_ids: 'labels', assignee_ids: 'assignees', reviewer_ids: 'reviewers' } as const
const RENAMED: Readonly<Record<string, string>> = { auto_merge: 'merge_when_pipeline_succeeds' }
/** Attributes that no message contains. */
const UNTOLD = ['squash', 'allow_collaboration']

export async function hookChanges(app: App, changes: Changes, webUrl: string): Promise<Payload> {
  const changed: Payload = {}
  for (const [name, [previous, current]] of Object.entries(changes)) {
    const linked = LINKED[name as keyof typeof LINKED]
    if (UNTOLD.includes(name)) continue
    if (linked) {
      const load = linked === 'labels' ? labelsById : hookUsers
      changed[linked] = {
        previous: await load(app, previous as number[]),
        current: await load(app, current as number[]),
      }
    } else if (name === 'state') {
      changed['state'] = { previous, current }
      changed['state_id'] = { previous: STATE_IDS[String(previous)], current: STATE_IDS[String(current)] }
    } else if (name === 'force_remove_source_branch') {
      changed['merge_params'] = { previous: { [name]: previous }, current: { [name]: current } }
    } else if (name === 'draft') {
      changed['draft'] = changed['work_in_progress'] = { previous, current }
    } else {
      const shown = (value: unknown) => shownAs(app, name, value, webUrl)
      changed[RENAMED[name] ?? name] = { previous: shown(previous), current: shown(current) }
    }
  }
  return changed
}

function shownAs(app: App, name: string, value: unknown, webUrl: string): unknown {
  if (name.endsWith('_at')) return rowTime(value as string | null)
  return name === 'description' ? hookText(app, value as string | null, webUrl) : value
}

async function labelsById({ db }: App, ids: readonly number[]) {
  if (ids.length === 0) return []
  const labels = await db
    .selectFrom('labels')
    .selectAll()
    .where(inIdList(db, 'id', idList(db, ids)))
    .orderBy('id')
    .execute()
  return labels.map(hookLabel)
}

const NEVER_CHANGES = ['url', 'action', 'time_change', 'human_time_change', 'human_time_estimate']

/** For a new record: every attribute that is set, with null as the old value. */
export function openingChanges(attributes: object, relations: Readonly<Record<string, readonly unknown[]>>): Payload {
  const plain = Object.entries(attributes).filter(
    ([name, value]) => value !== null && typeof value !== 'object' && !NEVER_CHANGES.includes(name),
  )
  const linked = Object.entries(relations).filter(([, records]) => records.length > 0)
  return Object.fromEntries([
    ...plain.map(([name, current]) => [name, { previous: null, current }] as const),
    ...linked.map(([name, current]) => [name, { previous: [], current }] as const),
  ])
}

/** Seconds that a change added to the time spent. */
export function timeChange(changes: Changes): number {
  const [before, after] = (changes['total_time_spent'] ?? [0, 0]) as readonly [number, number]
  return after - before
}
