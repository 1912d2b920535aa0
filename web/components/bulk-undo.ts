/** Undoes a bulk edit of issues or merge requests. */
import type { Records } from '../api.ts'

type Changeable = Pick<Records['Issue'], 'iid' | 'state' | 'labels' | 'milestone' | 'assignees'>
type Fields = Readonly<Record<string, string | number>>

/** One form undoes all changes or none: if the records differed before, each would need its own form. */
export function wayBack(before: readonly Changeable[], after: readonly Changeable[]) {
  const known = new Map(before.map((one) => [one.iid, one]))
  const reverses = after
    .map((now) => ({ iid: now.iid, fields: reverseOf(known.get(now.iid), now) }))
    .filter(({ fields }) => fields === null || Object.keys(fields).length > 0)
  const kinds = new Map(reverses.map(({ fields }) => [JSON.stringify(fields), fields]))
  const [fields] = kinds.values()
  return kinds.size === 1 && fields ? { iids: reverses.map(({ iid }) => iid), ...fields } : null
}

const labelsOf = ({ labels }: Changeable) => labels.map((label) => (typeof label === 'string' ? label : label.name))
const milestoneOf = ({ milestone }: Changeable) => milestone?.id ?? 0
const assigneesOf = ({ assignees }: Changeable) =>
  assignees
    .map(({ id }) => id)
    .toSorted((a, b) => a - b)
    .join(',') || '0'

/** The form fields that restore one record; null if the form cannot express it. */
function reverseOf(was: Changeable | undefined, now: Changeable): Fields | null {
  if (!was) return null
  const [before, after] = [labelsOf(was), labelsOf(now)]
  const lost = before.filter((name) => !after.includes(name))
  const won = after.filter((name) => !before.includes(name))
  if (lost.length > 1 || won.length > 1) return null
  return {
    ...(was.state !== now.state && { state_event: was.state === 'opened' ? 'reopen' : 'close' }),
    ...(lost[0] !== undefined && { add_label: lost[0] }),
    ...(won[0] !== undefined && { remove_label: won[0] }),
    ...(milestoneOf(was) !== milestoneOf(now) && { milestone: milestoneOf(was) }),
    ...(assigneesOf(was) !== assigneesOf(now) && { assignee: assigneesOf(was) }),
  }
}
