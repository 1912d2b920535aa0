/** What merge requests of a project need before they are merged: approvals, by whom, and what takes them away. */
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
  ['reset_approvals_on_push', 'New commits take approvals away'],
  ['disable_overriding_approvers_per_merge_request', 'Merge requests have no rules of their own'],
  ['merge_requests_author_approval', 'Authors may approve their own merge requests'],
  ['merge_requests_disable_committers_approval', 'Who wrote a commit of it may not approve'],
  ['require_password_to_approve', 'Approving asks for the password'],
] as const

export const page = declare<Data & Partial<InProject>>({
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
  View: ({ project, rules, settings, members }) =>
    project && (
      <>
        <h1>Merge requests</h1>
        <Notice />
        <p class="quiet">
          How they are merged is among the <a href={below(project, 'edit')}>general settings</a>.
        </p>
        <Chapter title="Approval rules" hint="Every merge request needs these approvals before it is merged.">
          <ApprovalRules
            rules={rules}
            people={members.filter(({ access_level }) => access_level >= 30)}
            mayChange={!project.archived}
            empty="There are no rules: anybody who may merge does so."
          />
        </Chapter>
        <Chapter title="Approvals">
          <Form action="save">
            <Field
              name="approvals_before_merge"
              label="Approvals needed where no rule says how many"
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
