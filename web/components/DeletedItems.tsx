/** Deleted issues, merge requests, labels and milestones, with forms that restore them or delete them for good. */
import type { Listed, Records } from '../api.ts'
import { text, type Act, type Flash } from '../page.ts'
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import { undoable } from '../undo.ts'
import { Person } from './Avatar.tsx'
import { ActButton } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Empty, Pages, Row, Rows } from './lists.tsx'
import { Time } from './Time.tsx'

type DeletedItem = Records['DeletedItem']

const ICONS = { issue: 'issue', merge_request: 'merge-request', label: 'tag', milestone: 'clock' } as const
const SIGNS: Readonly<Partial<Record<DeletedItem['kind'], string>>> = { issue: '#', merge_request: '!' }

/** The title, with the number of what has one. */
const nameOf = ({ kind, iid, title }: DeletedItem) => (SIGNS[kind] && iid ? `${title} ${SIGNS[kind]}${iid}` : title)

export const DeletedItems = ({ items }: { items: Listed<DeletedItem[]> }) => (
  <>
    <h1>{t.deletedItems}</h1>
    {items.items.length === 0 ? (
      <Empty title={t.noDeletedItems}>
        <p>{t.deletedItemsAreKept}</p>
      </Empty>
    ) : (
      <Rows label={t.deletedItems}>
        {items.items.map((item) => (
          <DeletedRow item={item} key={item.id} />
        ))}
      </Rows>
    )}
    <Pages of={items} />
  </>
)

function DeletedRow({ item }: { item: DeletedItem }) {
  const fields = { item: String(item.id) }
  const name = nameOf(item)
  return (
    <Row
      lead={<Icon name={ICONS[item.kind]} />}
      title={name}
      facts={rich(t.deletedByUntil, {
        user: <Person of={item.deleted_by} />,
        time: <Time at={item.deleted_at} />,
        until: item.restorable_until.slice(0, 10),
      })}
      aside={
        <>
          <ActButton action="restore" fields={fields} id={`restore-${item.id}`} label={t.restoreTitle(name)}>
            {common.restore}
          </ActButton>
          <ActButton
            action="purge"
            fields={fields}
            id={`purge-${item.id}`}
            kind="danger"
            label={t.deleteTitlePermanently(name)}
            confirm={t.deleteTitlePermanently(name)}
          >
            {common.deletePermanently}
          </ActButton>
        </>
      }
    />
  )
}

type Scope = '/projects/{id}' | '/groups/{id}'

interface Deleted {
  readonly kind: DeletedItem['kind']
  readonly title: string
}

/** The message after a deletion offers to restore the record, unless records are deleted permanently here. */
export async function deletedItemFlash(
  { api, params }: Act,
  scope: Scope,
  { kind, title }: Deleted,
  done: string,
): Promise<Flash> {
  const [item] = await api.get(`${scope}/deleted_items`, { id: params.id!, kind, per_page: 1 })
  // Another user may have deleted another record at the same time.
  return item?.title === title ? undoable(done, 'restore', { item: item.id }) : { flash: { done } }
}

/** For the pages of a project and of a group. */
export const deletedItemActions = (scope: Scope) => {
  const which = ({ params, form }: Act) => ({ id: params.id!, deleted_item_id: text(form, 'item') })
  return {
    async restore(act: Act) {
      await act.api.post(`${scope}/deleted_items/{deleted_item_id}/restore`, which(act))
    },
    async purge(act: Act) {
      await act.api.delete(`${scope}/deleted_items/{deleted_item_id}`, which(act))
    },
  }
}
