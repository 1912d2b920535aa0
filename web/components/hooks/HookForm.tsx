import type { Records } from '../../api.ts'
import { flag, flags, optional, word } from '../../fields.ts'
import { text, type FormFields } from '../../page.ts'
import { Button, Choice, Field, Form, Switch } from '../Form.tsx'
import { PairRows, pairsIn } from './PairRows.tsx'
import { HOOK_SCOPES, eventName, type HookScope } from './scopes.ts'

export type Hook = Records['ProjectHook']

const STRATEGIES = [
  ['wildcard', 'Wildcard pattern'],
  ['regex', 'Regular expression'],
  ['all_branches', 'All branches'],
] as const

/** The fields of a webhook; a secret that is left empty stays unchanged. */
export function HookForm({ hook, place: scope, action }: { hook?: Hook; place: HookScope; action: string }) {
  const isOn = (name: string) => hook?.[name as 'push_events'] ?? name === 'push_events'
  const kept = hook && 'Leave empty to keep the current value.'
  return (
    <Form action={action} resets={!hook}>
      <Field
        name="url"
        label="URL"
        // A part in braces is a variable, so the value is not a valid URL yet.
        value={hook?.url}
        required
        placeholder="https://example.com/hook"
      />
      <Field name="name" label="Name" value={hook?.name} />
      <Field name="description" label="Description" value={hook?.description} />
      <Field
        name="token"
        label="Secret token"
        type="password"
        autocomplete="off"
        hint={kept ?? 'Sent with each request so that the receiver can verify the sender.'}
      />
      <Field
        name="signing_token"
        label="Signing token"
        type="password"
        autocomplete="off"
        placeholder="whsec_…"
        hint={kept ?? 'Signs each request. Format: whsec_ followed by 24 to 64 bytes in base64.'}
      />
      <fieldset class="boxes" data-wide>
        <legend>Trigger events</legend>
        {HOOK_SCOPES[scope].events.map((name) => (
          <Switch name={name} label={eventName(name)} isOn={isOn(name)} key={name} />
        ))}
      </fieldset>
      {scope !== 'instance' && (
        <>
          <Choice
            name="branch_filter_strategy"
            label="Branch filter for push events"
            options={STRATEGIES}
            value={hook?.branch_filter_strategy ?? 'wildcard'}
          />
          <Field
            name="push_events_branch_filter"
            label="Branch pattern"
            value={hook?.push_events_branch_filter}
            placeholder="release/*"
            hint="Leave empty for all branches."
          />
        </>
      )}
      <PairRows
        name="header"
        label="Custom headers"
        hint="Sent with every delivery."
        known={hook?.custom_headers.map(({ key }) => key) ?? []}
      />
      <PairRows
        name="variable"
        label="URL variables"
        hint="{name} in the URL is replaced by the value. Values are never shown."
        known={hook?.url_variables.map(({ key }) => key) ?? []}
      />
      <Field
        name="custom_webhook_template"
        label="Custom payload template"
        lines={4}
        value={hook?.custom_webhook_template}
        placeholder={'{ "event": "{{object_kind}}" }'}
        hint="Leave empty for the default payload."
      />
      <Switch
        name="enable_ssl_verification"
        label="Enable SSL verification"
        isOn={hook?.enable_ssl_verification ?? true}
      />
      <Button kind="main">{hook ? 'Save hook' : 'Add hook'}</Button>
    </Form>
  )
}

export const newPairs = (form: FormFields) => ({
  custom_headers: pairsIn(form, 'header'),
  url_variables: pairsIn(form, 'variable'),
})

export const hookFields = (form: FormFields, scope: HookScope) => ({
  url: text(form, 'url'),
  name: text(form, 'name'),
  description: text(form, 'description'),
  token: optional(form, 'token'),
  signing_token: optional(form, 'signing_token'),
  custom_webhook_template: text(form, 'custom_webhook_template').replaceAll('\r\n', '\n'),
  enable_ssl_verification: flag(form, 'enable_ssl_verification'),
  ...flags(form, HOOK_SCOPES[scope].events),
  ...(scope !== 'instance' && {
    push_events_branch_filter: text(form, 'push_events_branch_filter'),
    branch_filter_strategy: word<(typeof STRATEGIES)[number][0]>(form, 'branch_filter_strategy'),
  }),
})
