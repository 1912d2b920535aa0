/** The audit log of administrators, newest first. */
import type { Listed, Records } from '../../../api.ts'
import { Button, Field } from '../../../components/Form.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'

type Event = Records['AuditEvent']

interface Data {
  events: Listed<Event[]>
}

const PER_PAGE = 50

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({
    events: api.list('/audit_events', {
      per_page: PER_PAGE,
      entity_type: query.get('entity_type') || undefined,
      created_after: query.get('created_after') || undefined,
      created_before: query.get('created_before') || undefined,
      id_before: Number(query.get('id_before')) || undefined,
    }),
  }),
  title: () => 'Audit log',
  View: ({ events, query, address }) => {
    const last = events.items.at(-1)
    return (
      <>
        <h1>Audit log</h1>
        <p class="quiet">Changes by administrators. Entries are kept for one year.</p>
        <form class="finder" action="/admin/audit_log">
          <Field name="entity_type" label="Entity type" placeholder="User" value={query.get('entity_type')} />
          <Field name="created_after" label="From" type="date" value={query.get('created_after')} />
          <Field name="created_before" label="To" type="date" value={query.get('created_before')} />
          <Button>Filter</Button>
        </form>
        {events.items.length === 0 ? (
          <Empty title="No audit events">
            <p>Changes to settings and users, and actions taken on behalf of other users, appear here.</p>
          </Empty>
        ) : (
          <Rows label="Audit events">
            {events.items.map((event) => (
              <Row key={event.id} title={event.details.custom_message} facts={<About of={event} />} />
            ))}
          </Rows>
        )}
        {last && events.items.length === PER_PAGE && (
          <p>
            <a href={withQuery(address, { id_before: String(last.id) })}>Older</a>
          </p>
        )}
      </>
    )
  },
})

const About = ({ of: { details, entity_type, entity_id, created_at } }: { of: Event }) => (
  <>
    {entity_type} {details.entity_path ?? entity_id} · by {details.author_name}
    {details.acting_as && ` as @${details.acting_as}`} · from {details.ip_address} · <Time at={created_at} />
    {details.changes.length > 0 && (
      <ul class="audit-changes">
        {details.changes.map((one) => (
          <li key={one.change}>
            <code>{one.change}</code>
            {one.from !== undefined && <> from {shown(one.from)}</>}
            {one.to !== undefined && <> to {shown(one.to)}</>}
          </li>
        ))}
      </ul>
    )}
  </>
)

const shown = (value: unknown) => <q>{typeof value === 'string' ? value : JSON.stringify(value)}</q>
