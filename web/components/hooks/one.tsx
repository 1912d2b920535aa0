/** One webhook: its deliveries with their answers, and buttons to redeliver. */
import type { Listed, Records } from '../../api.ts'
import { listPage, optional } from '../../fields.ts'
import { page as declare, text, texts, type Page } from '../../page.ts'
import { withQuery } from '../../query.ts'
import { ActButton, Button, Choice, Field, Form } from '../Form.tsx'
import { State } from '../State.tsx'
import { Time } from '../Time.tsx'
import { Empty, Pages, Row, Rows } from '../lists.tsx'
import { Chapter, Facts, Fold, Notice } from '../settings.tsx'
import { HookForm, hookFields, newPairs, type Hook } from './HookForm.tsx'
import { HOOK_SCOPES, eventName, idOf, pathsOf, type HookScope } from './scopes.ts'
import { rich } from '../../rich.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'
import './one.css'

type Delivery = Records['HookEvent']

interface Data {
  hook: Hook
  deliveries: Listed<Delivery[]>
  shown: Delivery | null
}

const RESULTS = [
  ['', t.allStatuses],
  ['successful', t.successful],
  ['client_failure', t.clientError4xx],
  ['server_failure', t.serverError5xxNoResponse],
] as const
type Result = Exclude<(typeof RESULTS)[number][0], ''>

export function hookPage(scope: HookScope): Page<Data> {
  const { frame, address, events } = HOOK_SCOPES[scope]
  const paths = pathsOf(scope)
  return declare<Data>({
    signedIn: true,
    frame,
    load({ api, params, query }) {
      const of = { ...idOf(params), hook_id: params.hook_id! }
      const status = (query.get('status') || undefined) as Result | undefined
      const hook_log_id = query.get('delivery')
      return {
        hook: api.get(paths.one, of),
        deliveries: api.list(paths.events, { ...of, status, ...listPage(query, 20) }),
        shown: hook_log_id ? api.maybe(paths.event, { ...of, hook_log_id }) : null,
      }
    },
    title: ({ hook }) => hook.name || hook.url,
    View: ({ hook, deliveries, shown, params, address: here, query }) => (
      <>
        <p>
          <a href={address(params)}>{t.allHooks}</a>
        </p>
        <h1>{hook.name || hook.url}</h1>
        <Notice />
        <p class="row quiet">
          <State of={hook.alert_status === 'executable' ? 'active' : 'failed'} />
          <span>{hook.url}</span>
          {hook.disabled_until && <span>{rich(t.pausedUntilTime, { time: <Time at={hook.disabled_until} /> })}</span>}
        </p>
        <div class="row">
          <Form action="test" class="inline">
            {scope !== 'instance' && (
              <Choice
                name="trigger"
                label={t.event}
                isQuiet
                options={events.map((name) => [name, eventName(name)])}
                value="push_events"
              />
            )}
            <Button>{t.sendTestEvent}</Button>
          </Form>
          <ActButton action="remove" kind="danger" confirm={t.deleteThisHookAndLog}>
            {' '}
            {common.deleteLabel}{' '}
          </ActButton>
        </div>
        <Fold title={t.editHook} action="save">
          <HookForm hook={hook} scope={scope} action="save" />
        </Fold>
        {shown && <Visible delivery={shown} />}
        <Chapter title={t.deliveries} id="deliveries">
          <form class="finder" action={here.split('?', 1)[0]!}>
            <Choice name="status" label={common.status} isQuiet options={RESULTS} value={query.get('status')} />
            <button class="button">{common.filter}</button>
          </form>
          {deliveries.items.length === 0 ? (
            <Empty title={t.noDeliveries}>
              <p>{t.deliveriesAndResponsesAreKept}</p>
            </Empty>
          ) : (
            <Rows label={t.deliveries}>
              {deliveries.items.map((one) => (
                <Row
                  key={one.id}
                  lead={<State of={isTaken(one) ? 'success' : 'failed'} isShort />}
                  title={
                    <a
                      href={withQuery(here, { delivery: one.id, page: deliveries.page })}
                      aria-current={shown?.id === one.id ? 'true' : undefined}
                    >
                      {eventName(one.trigger)} <span class="badge">{one.response_status}</span>
                    </a>
                  }
                  facts={rich(t.timeTook, {
                    time: <Time at={one.created_at} />,
                    executionDuration: one.execution_duration.toFixed(2),
                  })}
                  aside={
                    <ActButton action="resend" fields={{ delivery: one.id }}>
                      {' '}
                      {t.redeliver}{' '}
                    </ActButton>
                  }
                />
              ))}
            </Rows>
          )}
          <Pages of={deliveries} />
        </Chapter>
        <Fold title={t.redeliverMissedEvents} action="replay">
          <p class="quiet">{t.sendsAllEvents}</p>
          <Form action="replay">
            <Field name="since" label={t.sinceUtc} type="datetime-local" required />
            <Field name="until" label={t.untilUtc} type="datetime-local" />
            <Button>{t.redeliver}</Button>
          </Form>
        </Fold>
      </>
    ),
    actions: {
      async save({ api, params, form }) {
        const of = { ...idOf(params), hook_id: params.hook_id! }
        const { url_variables, custom_headers } = newPairs(form)
        // One by one: the values of the remaining ones are not readable, so they cannot be sent again.
        for (const pair of url_variables) await api.put(paths.variable, { ...of, ...pair })
        for (const pair of custom_headers) await api.put(paths.header, { ...of, ...pair })
        await api.put(paths.one, { ...of, ...hookFields(form, scope) })
        for (const key of texts(form, 'variable_gone')) await api.delete(paths.variable, { ...of, key })
        for (const key of texts(form, 'header_gone')) await api.delete(paths.header, { ...of, key })
        return { flash: { notice: t.hookSaved } }
      },
      async remove({ api, params }) {
        await api.delete(paths.one, { ...idOf(params), hook_id: params.hook_id! })
        return address(params)
      },
      async test({ api, params, form }) {
        const of = { ...idOf(params), hook_id: params.hook_id! }
        if (scope === 'instance') {
          await api.post('/hooks/{hook_id}', { hook_id: of.hook_id })
          return { flash: { notice: t.testEventSent } }
        }
        const path = `/${scope}s/{id}/hooks/{hook_id}/test/{trigger}` as '/projects/{id}/hooks/{hook_id}/test/{trigger}'
        await api.post(path, { ...of, trigger: text(form, 'trigger') })
        return { flash: { notice: t.testEventSentSeeResponseBelow } }
      },
      async resend({ api, params, form }) {
        const of = { ...idOf(params), hook_id: params.hook_id!, hook_log_id: text(form, 'delivery') }
        const { response_status } = await api.post(paths.resend, of)
        return { flash: { notice: t.redeliveredResponseStatus(response_status) } }
      },
      async replay({ api, params, form }) {
        const moment = (name: string) => {
          const written = optional(form, name)
          return written && `${written}Z`
        }
        const of = { ...idOf(params), hook_id: params.hook_id! }
        const { events } = await api.post(paths.replay, { ...of, since: moment('since'), until: moment('until') })
        return { flash: { notice: t.eventsDeliveriesQueued(events) } }
      },
    },
  })
}

const isTaken = ({ response_status }: Delivery) => response_status.startsWith('2')

/** Longer texts are cut; the API has the whole. */
const LONGEST = 20_000

const shorten = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… truncated` : text)
const headersText = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function Visible({ delivery }: { delivery: Delivery }) {
  return (
    <Chapter title={t.deliveryNumber(delivery.id)} id="delivery">
      <Facts
        of={[
          [t.event, eventName(delivery.trigger)],
          [t.responseStatus, delivery.response_status],
          [common.duration, `${delivery.execution_duration.toFixed(3)} s`],
          [t.sent, <Time at={delivery.created_at} />],
        ]}
      />
      {delivery.internal_error_message && <p class="fault">{delivery.internal_error_message}</p>}
      <ActButton action="resend" fields={{ delivery: delivery.id }} kind="main">
        {t.redeliver}
      </ActButton>
      <h3>{t.request}</h3>
      <Text label={t.requestHeaders} text={headersText(delivery.request_headers)} />
      <Text label={t.requestBody} text={JSON.stringify(delivery.request_data, null, 2)} />
      <h3>{t.response}</h3>
      <Text label={t.responseHeaders} text={headersText(delivery.response_headers)} />
      <Text label={t.responseBody} text={delivery.response_body} />
    </Chapter>
  )
}

const Text = ({ label, text }: { label: string; text: string }) =>
  text ? (
    <pre class="box" aria-label={label} tabIndex={0}>
      {shorten(text)}
    </pre>
  ) : (
    <p class="quiet">{t.empty}</p>
  )
