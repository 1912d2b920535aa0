/** Approval rules of a project, and additional ones of a merge request. */
import type { Records } from '../api.ts'
import { count } from '../fields.ts'
import { text, texts, type Act, type Page } from '../page.ts'
import { Faces } from './MergeRequests.tsx'
import { ActButton, Button, Field, Form, fold } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Row, Rows } from './lists.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/merge-requests.ts'
import './ApprovalRules.css'

/** The common fields of project and merge request rules. */
export type Rule = Pick<
  Records['ProjectApprovalRule'],
  'id' | 'name' | 'rule_type' | 'approvals_required' | 'users' | 'groups' | 'contains_hidden_groups'
>
type Someone = Pick<Records['UserSummary'], 'id' | 'name' | 'username'>

interface RulesProps {
  rules: readonly Rule[]
  /** Users who can be named: developers and above. */
  people: readonly Someone[]
  mayChange: boolean
  empty: string
}

export function ApprovalRules({ rules, people, mayChange, empty }: RulesProps) {
  return (
    <>
      {rules.length === 0 ? (
        <p class="quiet">{empty}</p>
      ) : (
        <Rows label={t.approvalRules}>
          {rules.map((rule) => (
            <RuleRow rule={rule} people={people} mayChange={mayChange} key={rule.id} />
          ))}
        </Rows>
      )}
      {mayChange && (
        <details class="edit" onReset={fold}>
          <summary>
            <Icon name="plus" /> {t.addApprovalRule}
          </summary>
          <Form action="addRule" class="rule-form" resets>
            <RuleFields people={people} />
            <Button kind="main">{t.addApprovalRule}</Button>
          </Form>
        </details>
      )}
    </>
  )
}

function RuleRow({ rule, people, mayChange }: Omit<RulesProps, 'rules' | 'empty'> & { rule: Rule }) {
  const isByFile = rule.rule_type === 'code_owner'
  return (
    <Row
      lead={<Icon name="check" />}
      title={rule.name}
      facts={
        <>
          <span class="row">
            {t.approvalsFromWho(rule.approvals_required, who(rule))}
            <Faces of={rule.users} label={t.approversOfName(rule.name)} />
          </span>
          {isByFile && t.requiredByCodeowners}
          {mayChange && !isByFile && (
            <details class="edit" onReset={fold}>
              <summary>
                {common.edit}
                <span class="spoken"> {rule.name}</span>
              </summary>
              <Form action="changeRule" id={`rule-${rule.id}`} class="rule-form" resets>
                <input type="hidden" name="rule" value={rule.id} />
                <RuleFields rule={rule} people={people} />
                <Button kind="main">{t.saveRule}</Button>
              </Form>
            </details>
          )}
        </>
      }
      aside={
        mayChange &&
        !isByFile && (
          <ActButton
            action="removeRule"
            id={`remove-rule-${rule.id}`}
            fields={{ rule: rule.id }}
            kind="plain"
            label={t.removeRule(rule.name)}
            confirm={t.removeRuleQuestion(rule.name)}
          >
            <Icon name="trash" />
          </ActButton>
        )
      }
    />
  )
}

function who({ rule_type, users, groups, contains_hidden_groups }: Rule): string {
  const names = [...users.map(({ name }) => name), ...groups.map(({ full_path }) => full_path)]
  if (contains_hidden_groups) names.push(t.privateGroups)
  return rule_type === 'any_approver' || names.length === 0 ? t.anyEligibleUser : names.join(', ')
}

function RuleFields({ rule, people }: { rule?: Rule; people: readonly Someone[] }) {
  const known = new Map([...people, ...(rule?.users ?? [])].map((person) => [person.id, person]))
  const names = new Set(rule?.users.map(({ id }) => id))
  return (
    <>
      <Field name="name" label={common.name} required value={rule?.name} />
      <Field
        name="approvals_required"
        label={t.approvalsRequired}
        type="number"
        required
        value={rule?.approvals_required ?? 1}
      />
      {rule?.rule_type !== 'any_approver' && (
        <>
          <fieldset class="pick">
            <legend>{common.users}</legend>
            {[...known.values()].map((one) => (
              <label key={one.id}>
                <input type="checkbox" name="user_ids[]" value={one.id} defaultChecked={names.has(one.id)} />
                {one.name} <span class="quiet">@{one.username}</span>
              </label>
            ))}
          </fieldset>
          <Field
            name="groups"
            label={common.groups}
            value={rule?.groups.map(({ full_path }) => full_path).join(', ')}
            hint={t.commaSeparatedGroupPathsWithout}
          />
        </>
      )}
    </>
  )
}

/** For a project, or for the merge request in `params.iid`. */
export function ruleActions(scope: 'project' | 'merge_request'): NonNullable<Page['actions']> {
  const before = scope === 'project' ? '/projects/{id}' : '/projects/{id}/merge_requests/{merge_request_iid}'
  // Both have the same fields; the types are those of projects.
  const all = `${before}/approval_rules` as '/projects/{id}/approval_rules'
  const one = `${all}/{approval_rule_id}` as const
  const at = ({ params }: Act) =>
    ({ id: params.id!, ...(scope === 'merge_request' && { merge_request_iid: params.iid! }) }) as { id: string }
  const which = (act: Act) => ({ ...at(act), approval_rule_id: text(act.form, 'rule') })

  return {
    async addRule(act) {
      const input = await inputOf(act)
      const isOpen = input.user_ids.length === 0 && input.group_ids.length === 0
      await act.api.post(all, { ...at(act), ...input, rule_type: isOpen ? 'any_approver' : 'regular' })
    },
    async changeRule(act) {
      const { name, approvals_required, ...named } = await inputOf(act)
      const isNaming = act.form.groups !== undefined
      await act.api.put(one, { ...which(act), name, approvals_required, ...(isNaming && named) })
    },
    async removeRule(act) {
      await act.api.delete(one, which(act))
    },
  }
}

async function inputOf({ api, form }: Act) {
  const paths = text(form, 'groups')
    .split(/[\s,]+/)
    .filter(Boolean)
  const groups = await Promise.all(paths.map((id) => api.get('/groups/{id}', { id, with_projects: false })))
  return {
    name: text(form, 'name'),
    approvals_required: count(form, 'approvals_required') ?? 0,
    user_ids: texts(form, 'user_ids').map(Number),
    group_ids: groups.map(({ id }) => id),
  }
}
