/** CI variables: names and values, with the values hidden. */
import type { Listed, Records } from '../api.ts'
import { flag, listPage } from '../fields.ts'
import { text, type Act, type PageRequest } from '../page.ts'
import { withQuery } from '../query.ts'
import { ActButton, Button, Choice, Field, Form, Switch } from './Form.tsx'
import { Pages } from './lists.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/ci.ts'
import './Variables.css'

type Variable = Records['Variable']

export interface VariablesData {
  variables: Listed<Variable[]>
  /** The variable whose form is open. */
  edited: Variable | null
  settings: Records['WebSettings']
}

/** The owner of variables. Variables of the instance apply to every environment. */
export type VariablesScope = 'project' | 'group' | 'instance'

const PATHS = {
  project: '/projects/{id}/variables',
  group: '/groups/{id}/variables',
  instance: '/admin/ci/variables',
} as const

// All have the same calls below their own prefix.
const pathOf = (level: VariablesScope) => PATHS[level] as '/projects/{id}/variables'
const pathOfOne = (level: VariablesScope) => `${PATHS[level]}/{key}` as '/projects/{id}/variables/{key}'
const whereOf = (level: VariablesScope, { params }: Pick<PageRequest, 'params'>) =>
  (level === 'instance' ? {} : { id: params.id! }) as { id: string }
const filterOf = (level: VariablesScope, scope: string | null) =>
  level === 'instance' ? {} : { filter: { environment_scope: scope || '*' } }

export function loadVariables(level: VariablesScope, request: PageRequest) {
  const { api, query } = request
  const key = query.get('variable')
  const where = whereOf(level, request)
  return {
    variables: api.list(pathOf(level), { ...where, ...listPage(query, 50) }),
    edited: key ? api.maybe(pathOfOne(level), { ...where, key, ...filterOf(level, query.get('scope')) }) : null,
    settings: api.get('/application/web_settings', {}),
  }
}

interface VariablesProps extends VariablesData {
  level: VariablesScope
  address: string
}

export const Variables = ({ variables, address, edited, settings, level }: VariablesProps) => (
  <section id="variables">
    <h2>{t.variables}</h2>
    {variables.items.length === 0 ? (
      <p class="quiet">{t.noVariables}</p>
    ) : (
      <div class="ci-scroll" tabIndex={0} role="region" aria-label={t.variables}>
        <table>
          <thead>
            <tr>
              <th scope="col">{common.name}</th>
              <th scope="col">{common.value}</th>
              <th scope="col">{t.environments}</th>
              <th scope="col">
                <span class="spoken">{t.actions}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {variables.items.map((one) => (
              <VariableRow of={one} address={address} key={`${one.key} ${one.environment_scope}`} />
            ))}
          </tbody>
        </table>
      </div>
    )}
    <Pages of={variables} />
    {edited ? (
      <div class="card ci-adding">
        <h3>{t.editKey(edited.key)}</h3>
        <VariableForm action="changeVariable" of={edited} level={level} isProtected={edited.protected} />
        <a href={`${withQuery(address, { variable: null, scope: null })}#variables`}>{common.cancel}</a>
      </div>
    ) : (
      <details class="card ci-adding">
        <summary>{t.addVariable}</summary>
        <VariableForm action="addVariable" level={level} isProtected={settings.protected_ci_variables} />
      </details>
    )}
  </section>
)

const FLAGS = ['protected', 'masked', 'hidden'] as const

function VariableRow({ of, address }: { of: Variable; address: string }) {
  // Variables of the instance have no scope.
  const scope = of.environment_scope ?? '*'
  return (
    <tr>
      <td>
        <code>{of.key}</code>{' '}
        {FLAGS.filter((flag) => of[flag]).map((flag) => (
          <span class="badge" key={flag}>
            {flag}
          </span>
        ))}
        {of.variable_type === 'file' && <span class="badge">{t.file}</span>}
        {of.description && <div class="quiet">{of.description}</div>}
      </td>
      <td>
        {of.value === null ? (
          <span class="quiet">{t.hidden}</span>
        ) : (
          <details class="ci-secret">
            <summary aria-label={t.revealValueOfKey(of.key)}>••••••</summary>
            <code>{of.value}</code>
          </details>
        )}
      </td>
      <td>{scope}</td>
      <td>
        <div class="row">
          <a href={`${withQuery(address, { variable: of.key, scope })}#variables`}>{common.edit}</a>
          <ActButton
            action="removeVariable"
            kind="plain"
            fields={{ key: of.key, scope }}
            id={`variable-${of.key}-${scope}`}
            label={t.deleteName(of.key)}
            confirm={t.deleteNameQuestion(of.key)}
          >
            {common.deleteLabel}
          </ActButton>
        </div>
      </td>
    </tr>
  )
}

const TYPES = [
  ['env_var', t.variable],
  ['file', common.file],
] as const

interface VariableFormProps {
  action: string
  of?: Variable
  level: VariablesScope
  isProtected: boolean
}

const VariableForm = ({ action, of, level, isProtected }: VariableFormProps) => (
  <Form action={action} resets={!of}>
    {of ? (
      <>
        <input type="hidden" name="key" value={of.key} />
        <input type="hidden" name="scope" value={of.environment_scope} />
      </>
    ) : (
      <Field name="key" label={common.name} required pattern="[A-Za-z0-9_]+" hint={t.lettersDigitsAndUnderscores} />
    )}
    <Field name="value" label={common.value} lines={3} value={of?.value} />
    <Choice name="variable_type" label={common.type} options={TYPES} value={of?.variable_type} />
    {level !== 'instance' && (
      <Field
        name="environment_scope"
        label={t.environments}
        value={of?.environment_scope ?? '*'}
        hint={t.forAllEnvironmentsOrPattern}
      />
    )}
    <Field name="description" label={common.description} value={of?.description} />
    <Switch name="protected" label={t.protectedLabel} hint={t.availableOnlyToJobs} isOn={isProtected} />
    <Switch name="masked" label={t.masked} hint={t.hiddenInJobLogs} isOn={of?.masked} />
    <Switch name="expanded" label={t.expanded} hint={t.startsReferenceToAnotherVariable} isOn={!of?.raw} />
    <Button kind="main">{of ? t.saveVariable : t.addVariable}</Button>
  </Form>
)

const fieldsOf = (level: VariablesScope, act: Act) => ({
  ...whereOf(level, act),
  key: text(act.form, 'key'),
  value: text(act.form, 'value').replaceAll('\r\n', '\n'),
  variable_type: text(act.form, 'variable_type') === 'file' ? ('file' as const) : ('env_var' as const),
  ...(level !== 'instance' && { environment_scope: text(act.form, 'environment_scope') || '*' }),
  description: text(act.form, 'description') || null,
  protected: flag(act.form, 'protected'),
  masked: flag(act.form, 'masked'),
  raw: !flag(act.form, 'expanded'),
})

export const variableActions = (level: VariablesScope) => ({
  async addVariable(act: Act) {
    await act.api.post(pathOf(level), fieldsOf(level, act))
  },
  async changeVariable(act: Act) {
    await act.api.put(pathOfOne(level), { ...fieldsOf(level, act), ...filterOf(level, text(act.form, 'scope')) })
    return `${withQuery(act.address, { variable: null, scope: null })}#variables`
  },
  async removeVariable(act: Act) {
    const key = text(act.form, 'key')
    await act.api.delete(pathOfOne(level), { ...whereOf(level, act), key, ...filterOf(level, text(act.form, 'scope')) })
  },
})
