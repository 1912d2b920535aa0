import type { Records } from '../../api.ts'
import { flag, flags, optional, word } from '../../fields.ts'
import { text, type FormFields } from '../../page.ts'
import { Button, Choice, Field, Form, Switch } from '../Form.tsx'
import { PairRows, pairsIn } from './PairRows.tsx'
import { HOOK_SCOPES, eventName, type HookScope } from './scopes.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/integrations.ts'

export type Hook = Records['ProjectHook']

const STRATEGIES = [
  ['wildcard', t.wildcardPattern],
  ['regex', t.regularExpression],
  ['all_branches', common.allBranches],
] as const

/** The fields of a webhook; a secret that is left empty stays unchanged. */
export function HookForm({ hook, scope, action }: { hook?: Hook; scope: HookScope; action: string }) {
  const isOn = (name: string) => hook?.[name as 'push_events'] ?? name === 'push_events'
  const kept = hook && t.leaveEmptyToKeepCurrentValue
  return (
    <Form action={action} resets={!hook}>
      <Field
        name="url"
        label={t.url}
        // A part in braces is a variable, so the value is not a valid URL yet.
        value={hook?.url}
        required
        placeholder="https://example.com/hook"
      />
      <Field name="name" label={common.name} value={hook?.name} />
      <Field name="description" label={common.description} value={hook?.description} />
      <Field
        name="token"
        label={t.secretToken}
        type="password"
        autocomplete="off"
        hint={kept ?? t.sentWithEachRequestSo}
      />
      <Field
        name="signing_token"
        label={t.signingToken}
        type="password"
        autocomplete="off"
        placeholder="whsec_…"
        hint={kept ?? t.signsEachRequestFormatWhsec}
      />
      <fieldset class="boxes" data-wide>
        <legend>{t.triggerEvents}</legend>
        {HOOK_SCOPES[scope].events.map((name) => (
          <Switch name={name} label={eventName(name)} isOn={isOn(name)} key={name} />
        ))}
      </fieldset>
      {scope !== 'instance' && (
        <>
          <Choice
            name="branch_filter_strategy"
            label={t.branchFilterForPushEvents}
            options={STRATEGIES}
            value={hook?.branch_filter_strategy ?? 'wildcard'}
          />
          <Field
            name="push_events_branch_filter"
            label={t.branchPattern}
            value={hook?.push_events_branch_filter}
            placeholder="release/*"
            hint={t.leaveEmptyForAllBranches}
          />
        </>
      )}
      <PairRows
        name="header"
        label={t.customHeaders}
        hint={t.sentWithEveryDelivery}
        known={hook?.custom_headers.map(({ key }) => key) ?? []}
      />
      <PairRows
        name="variable"
        label={t.urlVariables}
        hint={t.nameInUrlIsReplaced}
        known={hook?.url_variables.map(({ key }) => key) ?? []}
      />
      <Field
        name="custom_webhook_template"
        label={t.customPayloadTemplate}
        lines={4}
        value={hook?.custom_webhook_template}
        placeholder={'{ "event": "{{object_kind}}" }'}
        hint={t.leaveEmptyForDefaultPayload}
      />
      <Switch
        name="enable_ssl_verification"
        label={t.enableSslVerification}
        isOn={hook?.enable_ssl_verification ?? true}
      />
      <Button kind="main">{hook ? t.saveHook : t.addHook}</Button>
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
