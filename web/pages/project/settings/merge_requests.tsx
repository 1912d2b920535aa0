/** Merge request settings of a project: required approvals, approvers, and when approvals are reset. */
import type { Records } from '../../../api.ts'
import { ApprovalRules, ruleActions } from '../../../components/ApprovalRules.tsx'
import { Button, Field, Form, Switch } from '../../../components/Form.tsx'
import { Chapter, Notice } from '../../../components/settings.tsx'
import { count, flags } from '../../../fields.ts'
import { below, type InProject } from '../../../layout/project.tsx'
import { projectSettingsFrame } from '../../../layout/settings.tsx'
import { page as declare } from '../../../page.ts'

interface Data {
  rules: Records['ProjectApprovalRule'][]
  settings: Records['ProjectApprovals']
  members: Records['Member'][]
}

const SWITCHES = [
  ['reset_approvals_on_push', 'Reset approvals on new commits'],
  ['disable_overriding_approvers_per_merge_request', 'Prevent editing approval rules in merge requests'],
  ['merge_requests_author_approval', 'Allow approval by the author'],
  ['merge_requests_disable_committers_approval', 'Prevent approval by committers'],
  ['require_password_to_approve', 'Require password to approve'],
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
  title: () => 'Merge requests',
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
      return { told: { notice: 'Saved.' } }
    },
  },
  View: ({ project, rules, settings, members }) => (
    <>
      <h1>Merge requests</h1>
      <Notice />
      <p class="quiet">
        The merge method is in the <a href={below(project, 'edit')}>general settings</a>.
      </p>
      <Chapter title="Approval rules" hint="Approvals required before a merge request can be merged.">
        <ApprovalRules
          rules={rules}
          people={members.filter(({ access_level }) => access_level >= 30)}
          mayChange={!project.archived}
          empty="No approval rules. Approval is optional."
        />
      </Chapter>
      <Chapter title="Approval settings">
        <Form action="save">
          <Field
            name="approvals_before_merge"
            label="Default approvals required"
            type="number"
            value={settings.approvals_before_merge}
          />
          {SWITCHES.map(([name, label]) => (
            <Switch name={name} label={label} isOn={settings[name]} key={name} />
          ))}
          <Button kind="main">Save</Button>
        </Form>
      </Chapter>
    </>
  ),
})
