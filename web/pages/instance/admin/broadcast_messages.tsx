import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { Fold } from '../../../components/settings.tsx'
import { listPage, optional, word } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'

interface Data {
  messages: Listed<Records['BroadcastMessage'][]>
}

const TYPES = [
  ['banner', 'Banner: top of all pages'],
  ['notification', 'Notification: corner of the page'],
] as const

const utc = (written: string | undefined) => written && `${written}Z`

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({ messages: api.list('/broadcast_messages', listPage(query)) }),
  title: () => 'Broadcast messages',
  View: ({ messages }) => (
    <>
      <h1>Broadcast messages</h1>
      <Fold title="New broadcast message" action="create">
        <Form action="create" resets>
          <Field name="message" label="Message" lines={2} required />
          <Choice name="broadcast_type" label="Type" options={TYPES} value="banner" />
          <Field name="starts_at" label="Starts at (UTC)" type="datetime-local" hint="Leave empty to start now." />
          <Field name="ends_at" label="Ends at (UTC)" type="datetime-local" hint="Leave empty to end after one hour." />
          <Button kind="main">Create broadcast message</Button>
        </Form>
      </Fold>
      {messages.items.length === 0 ? (
        <Empty title="No broadcast messages" />
      ) : (
        <Rows label="Broadcast messages">
          {messages.items.map((one) => (
            <Row
              key={one.id}
              title={
                <>
                  {one.message} {one.active && <span class="badge">active</span>}
                </>
              }
              facts={
                <>
                  {one.broadcast_type} · from <Time at={one.starts_at} /> until <Time at={one.ends_at} />
                </>
              }
              aside={
                <ActButton action="remove" fields={{ message: one.id }} kind="danger" confirm="Delete this message?">
                  {' '}
                  Delete{' '}
                </ActButton>
              }
            />
          ))}
        </Rows>
      )}
      <Pages of={messages} />
    </>
  ),
  actions: {
    async create({ api, form }) {
      await api.post('/broadcast_messages', {
        message: text(form, 'message'),
        broadcast_type: word<'banner' | 'notification'>(form, 'broadcast_type'),
        starts_at: utc(optional(form, 'starts_at')),
        ends_at: utc(optional(form, 'ends_at')),
      })
    },
    async remove({ api, form }) {
      await api.delete('/broadcast_messages/{id}', { id: text(form, 'message') })
    },
  },
})
