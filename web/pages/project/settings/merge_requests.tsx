/** Merge request settings of a project: required approvals, approvers, and when approvals are reset. */
import type { Records } from '../../../api.ts'
import { ApprovalRules, ruleActions } from '../../../components/ApprovalRules.tsx'
import { Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Chapter, Notice } from '../../../components/settings.tsx'
import { count, flags } from '../../../fields.ts'
import { below, type InProject } from '../../../layout/project.tsx'
import { projectSettingsFrame } from '../../../layout/settings.tsx'
import { developersAmong } from '../../../levels.ts'
import { page as declare } from '../../../page.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'

interface Data {
  rules: Records['ProjectApprovalRule'][]
  settings: Records['ProjectApprovals']
  members: Records['Member'][]
}

const SWITCHES = [
  ['reset_approvals_on_push', t.resetApprovalsOnNewCommits],
  ['disable_overriding_approvers_per_merge_request', t.preventEditingApprovalRules],
  ['merge_requests_author_approval', t.allowApprovalByAuthor],
  ['merge_requests_disable_committers_approval', t.preventApprovalByCommitters],
  ['require_password_to_approve', t.requirePasswordToApprove],
] as const

export const page = declare<Data, InProject>({
  signedIn: true,
  frame: projectSettingsFrame,
  load: ({ api, params }) => {
    const id = params.id!
    return {
      rules: api.get('/projects/{id}/approval_rules', { id, per_page: 100 }),
      settings: api.get('/projects/{id}/approvals', { id }),
      members: api.get('/projects/{id}/members/all', { id, per_page: 100 }),
    }
  },
  title: () => common.mergeRequests,
  actions: {
    ...ruleActions('project'),
    async save({ api, params, form }) {
      await api.post('/projects/{id}/approvals', {
        id: params.id!,
        approvals_before_merge: count(form, 'approvals_before_merge') ?? 0,
        ...flags(
          form,
          SWITCHES.map(([name]) => name),
        ),
      })
      return { flash: { notice: common.saved } }
    },
  },
  View: ({ project, rules, settings, members }) => (
    <>
      <h1>{common.mergeRequests}</h1>
      <Notice />
      <p class="quiet">{rich(t.theMergeMethod, { link: (text) => <a href={below(project, 'edit')}>{text}</a> })}</p>
      <Chapter title={t.approvalRules} hint={t.approvalsRequiredBeforeMergeRequest}>
        <ApprovalRules
          rules={rules}
          people={developersAmong(members)}
          mayChange={project.can.setApprovals}
          empty={t.noApprovalRulesApprovalIsOptional}
        />
      </Chapter>
      <Chapter title={t.approvalSettings}>
        <Form action="save">
          <Field
            name="approvals_before_merge"
            label={t.defaultApprovalsRequired}
            type="number"
            value={settings.approvals_before_merge}
          />
          {SWITCHES.map(([name, label]) => (
            <Switch name={name} label={label} isOn={settings[name]} key={name} />
          ))}
          <Button kind="main">{common.save}</Button>
        </Form>
      </Chapter>
    </>
  ),
})
