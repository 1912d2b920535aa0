/** One integration: its fields, its events, and a test. */
import { Refused, type Records } from '../../api.ts'
import { flag } from '../../fields.ts'
import { page as declare, text, type FormFields, type Page } from '../../page.ts'
import { sentence } from '../../words.ts'
import { ActButton, Button, Choice, Field, Form, Switch } from '../Form.tsx'
import { State } from '../State.tsx'
import { Notice } from '../settings.tsx'
import { servicesAddress, servicesFrame, type ServiceScope } from './scopes.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'

type Known = Records['KnownService']
type Service = Records['Service']

interface Data {
  known: Known
  /** Null if it was never set up. */
  service: Service | null
}

/** Integrations that write comments. */
const COMMENTING = ['jira']

export function servicePage(scope: ServiceScope): Page<Data> {
  const path = `/${scope}s/{id}/integrations/{slug}` as '/projects/{id}/integrations/{slug}'
  return declare<Data>({
    signedIn: true,
    frame: servicesFrame(scope),
    load: ({ api, params }) => ({
      known: api.get('/integrations', {}).then((all) => {
        const found = all.find(({ slug }) => slug === params.slug)
        if (!found) throw new Refused({ status: 404, headers: {}, body: null })
        return found
      }),
      service: api.maybe(path, { id: params.id!, slug: params.slug! }),
    }),
    title: ({ known }) => known.title,
    View: ({ known, service, params }) => (
      <>
        <p>
          <a href={servicesAddress(scope, params)}>{t.allIntegrations}</a>
        </p>
        <h1>{known.title}</h1>
        <Notice />
        <p class="row">
          {service?.active ? <State of="active" /> : <span class="badge">{common.inactive}</span>}
          {service?.inherited && <span class="badge">{t.inherited}</span>}
        </p>
        {known.retired && <p class="fault">{known.retired}</p>}
        <Form action="save">
          <Switch name="active" label={common.active} isOn={service?.active ?? true} />
          {known.fields.map((field) => (
            <ServiceField
              field={field}
              value={service?.properties[field.name]}
              isSet={service !== null}
              key={field.name}
            />
          ))}
          {known.events.length > 0 && (
            <fieldset class="boxes" data-wide>
              <legend>{t.triggerEvents}</legend>
              {known.events.map((name) => (
                <Switch
                  name={name}
                  label={sentence(name.replace(/_events$/, ''))}
                  isOn={service?.[name as 'push_events'] ?? true}
                  key={name}
                />
              ))}
            </fieldset>
          )}
          {COMMENTING.includes(known.slug) && (
            <Switch
              name="comment_on_event_enabled"
              label={t.enableComments}
              isOn={service?.comment_on_event_enabled ?? true}
            />
          )}
          <Button kind="main">{common.save}</Button>
        </Form>
        {service && (
          <p class="row">
            {!service.inherited && (
              <ActButton action="inherit" confirm={t.replaceTheseSettingsWithInheritedSettings}>
                {t.useInheritedSettings}
              </ActButton>
            )}
            {scope === 'project' && service.active && <ActButton action="test">{t.sendTestEvent}</ActButton>}
            <ActButton action="remove" kind="danger" confirm={t.disableTitleAndDeleteSettings(known.title)}>
              {' '}
              {common.disable}{' '}
            </ActButton>
          </p>
        )}
      </>
    ),
    actions: {
      async save({ api, params, form }) {
        const known = (await api.get('/integrations', {})).find(({ slug }) => slug === params.slug)
        await api.put(path, { id: params.id!, slug: params.slug!, ...(known && inputOf(known, form)) })
        return { flash: { notice: common.saved } }
      },
      async inherit({ api, params }) {
        await api.put(path, { id: params.id!, slug: params.slug!, use_inherited_settings: true })
        return { flash: { notice: t.inheritedSettingsAreNowUsed } }
      },
      async test({ api, params }) {
        const { message } = await api.post('/projects/{id}/integrations/{slug}/test', {
          id: params.id!,
          slug: params.slug!,
        })
        return { flash: { notice: message || t.testSuccessful } }
      },
      async remove({ api, params }) {
        await api.delete(path, { id: params.id!, slug: params.slug! })
        return servicesAddress(scope, params)
      },
    },
  })
}

/** Secrets that are left empty stay unchanged. */
function inputOf({ slug, fields, events }: Known, form: FormFields): Record<string, string | boolean> {
  const own = fields.flatMap(({ name, type }): [string, string | boolean][] => {
    if (type === 'boolean') return [[name, flag(form, name)]]
    const written = text(form, name)
    return (type === 'password' || type === 'number') && written === '' ? [] : [[name, written]]
  })
  return {
    ...Object.fromEntries(own),
    ...Object.fromEntries(events.map((name) => [name, flag(form, name)])),
    active: flag(form, 'active'),
    ...(COMMENTING.includes(slug) && { comment_on_event_enabled: flag(form, 'comment_on_event_enabled') }),
  }
}

interface ServiceFieldProps {
  field: Known['fields'][number]
  value: string | number | boolean | null | undefined
  isSet: boolean
}

function ServiceField({ field: { name, type, required, choices, preset }, value, isSet }: ServiceFieldProps) {
  const now = value ?? preset
  if (type === 'boolean') return <Switch name={name} label={sentence(name)} isOn={now === true} />
  if (type === 'choice')
    return (
      <Choice
        name={name}
        label={sentence(name)}
        options={choices.map((one) => [one, sentence(one)])}
        value={now === null ? null : String(now)}
      />
    )
  const isKept = type === 'password' && isSet
  return (
    <Field
      name={name}
      label={sentence(name)}
      type={type}
      value={now === null ? '' : String(now)}
      required={required && !isKept}
      {...(type === 'password' && { autocomplete: 'off' })}
      {...(isKept && { hint: t.leaveEmptyToKeepCurrentValue })}
    />
  )
}
