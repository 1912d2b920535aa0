import type { Listed, Records } from '../../../api.ts'
import { ActButton, Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { Fold } from '../../../components/settings.tsx'
import { listPage, optional, word } from '../../../fields.ts'
import { adminFrame } from '../../../layout/settings.tsx'
import { page as declare, text } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/admin.ts'

interface Data {
  messages: Listed<Records['BroadcastMessage'][]>
}

const TYPES = [
  ['banner', t.bannerTopOfAllPages],
  ['notification', t.notificationCornerOfPage],
] as const

const utc = (written: string | undefined) => written && `${written}Z`

export const page = declare<Data>({
  signedIn: true,
  frame: adminFrame,
  load: ({ api, query }) => ({ messages: api.list('/broadcast_messages', listPage(query)) }),
  title: () => common.broadcastMessages,
  View: ({ messages }) => (
    <>
      <h1>{common.broadcastMessages}</h1>
      <Fold title={t.newBroadcastMessage} action="create">
        <Form action="create" resets>
          <Field name="message" label={common.message} lines={2} required />
          <Choice name="broadcast_type" label={common.type} options={TYPES} value="banner" />
          <Field name="starts_at" label={t.startsAtUtc} type="datetime-local" hint={t.leaveEmptyToStartNow} />
          <Field name="ends_at" label={t.endsAtUtc} type="datetime-local" hint={t.leaveEmptyToEndAfter} />
          <Button kind="main">{t.createBroadcastMessage}</Button>
        </Form>
      </Fold>
      {messages.items.length === 0 ? (
        <Empty title={t.noBroadcastMessages} />
      ) : (
        <Rows label={common.broadcastMessages}>
          {messages.items.map((one) => (
            <Row
              key={one.id}
              title={
                <>
                  {one.message} {one.active && <span class="badge">{t.active}</span>}
                </>
              }
              facts={rich(t.broadcastTypeFromTimeUntilTime2, {
                broadcastType: one.broadcast_type,
                time: <Time at={one.starts_at} />,
                time2: <Time at={one.ends_at} />,
              })}
              aside={
                <ActButton action="remove" fields={{ message: one.id }} kind="danger" confirm={t.deleteThisMessage}>
                  {' '}
                  {common.deleteLabel}{' '}
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
