/** The audit log of administrators, newest first. */
import type { Listed, Records } from '../../../api.ts'
import { Button, Field } from '../../../components/Form.tsx'
import { Time } from '../../../components/Time.tsx'
import { Empty, Row, Rows } from '../../../components/lists.tsx'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'
import './audit_log.css'

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
  title: () => common.auditLog,
  View: ({ events, query, address }) => {
    const last = events.items.at(-1)
    return (
      <>
        <h1>{common.auditLog}</h1>
        <p class="quiet">{t.changesByAdministratorsEntries}</p>
        <form class="finder" action="/admin/audit_log">
          <Field name="entity_type" label={t.entityType} placeholder={t.user} value={query.get('entity_type')} />
          <Field name="created_after" label={common.from} type="date" value={query.get('created_after')} />
          <Field name="created_before" label={common.to} type="date" value={query.get('created_before')} />
          <Button>{common.filter}</Button>
        </form>
        {events.items.length === 0 ? (
          <Empty title={t.noAuditEvents}>
            <p>{t.changesToSettingsAndUsers}</p>
          </Empty>
        ) : (
          <Rows label={t.auditEvents}>
            {events.items.map((event) => (
              <Row key={event.id} title={event.details.custom_message} facts={<About of={event} />} />
            ))}
          </Rows>
        )}
        {last && events.items.length === PER_PAGE && (
          <p>
            <a href={withQuery(address, { id_before: String(last.id) })}>{t.older}</a>
          </p>
        )}
      </>
    )
  },
})

const About = ({ of: { details, entity_type, entity_id, created_at } }: { of: Event }) => (
  <>
    {t.entityByAuthor(entity_type, details.entity_path ?? entity_id ?? '', details.author_name)}
    {details.acting_as && t.actingAs(details.acting_as)}{' '}
    {rich(t.fromIpAddressTime, { ipAddress: details.ip_address, time: <Time at={created_at} /> })}
    {details.changes.length > 0 && (
      <ul class="audit-changes">
        {details.changes.map((one) => (
          <li key={one.change}>
            <code>{one.change}</code>
            {one.from !== undefined && <> {rich(t.fromShown, { shown: shown(one.from) })}</>}
            {one.to !== undefined && <> {rich(t.toShown, { shown: shown(one.to) })}</>}
          </li>
        ))}
      </ul>
    )}
  </>
)

const shown = (value: unknown) => <q>{typeof value === 'string' ? value : JSON.stringify(value)}</q>
