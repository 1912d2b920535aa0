/** The properties of an issue: labels, milestone, assignees and the like. */
import type { ComponentChildren } from 'preact'
import type { Records } from '../../../api.ts'
import { Avatar, Person } from '../../../components/Avatar.tsx'
import { ActButton, Button, Choice, Field, Form, Switch, fold } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Label, State } from '../../../components/State.tsx'
import { TimeTracking } from '../../../components/TimeTracking.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import type { Me } from '../../../page.ts'
import { PlanFields, type Choices } from './Fields.tsx'
import { pathOf } from '../../../refs.ts'

export interface Related {
  participants: Records['UserSummary'][]
  requests: Records['MergeRequest'][]
  links: Records['LinkedIssue'][]
}

interface SidebarProps extends Related, Choices {
  project: Project
  issue: Records['Issue']
  me: Me | null
  mayPlan: boolean
}

export function Sidebar({ project, issue, me, mayPlan, participants, requests, links, ...choices }: SidebarProps) {
  const names = issue.labels.map((label) => (typeof label === 'string' ? label : label.name))
  return (
    <>
      <dl class="properties">
        <Property name="Assignees">
          {issue.assignees.length === 0
            ? 'None'
            : issue.assignees.map((one) => (
                <div key={one.id}>
                  <Person of={one} />
                </div>
              ))}
        </Property>
        <Property name="Labels">
          {names.length === 0
            ? 'None'
            : names.map((name) => (
                <Label
                  of={choices.labels.find((label) => label.name === name) ?? { name }}
                  href={below(project, `issues?label_name[]=${encodeURIComponent(name)}`)}
                  key={name}
                />
              ))}
        </Property>
        <Property name="Milestone">
          {issue.milestone ? <a href={pathOf(issue.milestone.web_url)}>{issue.milestone.title}</a> : 'None'}
        </Property>
        <Property name="Due date">{issue.due_date ?? 'None'}</Property>
        {issue.weight !== null && <Property name="Weight">{issue.weight}</Property>}
        <Property name="Time tracking">
          <TimeTracking of={issue.time_stats} mayPlan={mayPlan} />
        </Property>
      </dl>
      {mayPlan && (
        <details class="edit" onReset={fold}>
          <summary>Edit</summary>
          <Form action="plan" resets>
            <PlanFields {...choices} chosen={{ ...issue, labels: names }} />
            <Switch name="confidential" label="Confidential" isOn={issue.confidential} />
            <Switch
              name="discussion_locked"
              label="Lock discussion"
              hint="Only project members can comment."
              isOn={issue.discussion_locked}
            />
            <Button kind="main">Save</Button>
          </Form>
        </details>
      )}
      {me && (
        <div class="row">
          <ActButton action="follow" fields={{ on: String(!issue.subscribed) }}>
            {issue.subscribed ? 'Unsubscribe' : 'Subscribe'}
          </ActButton>
          <ActButton action="remember">
            <Icon name="todo" /> Add a to-do item
          </ActButton>
        </div>
      )}
      <h2>Participants</h2>
      <ul class="faces">
        {participants.map((one) => (
          <li key={one.id}>
            <a href={`/${one.username}`} aria-label={one.name} title={one.name}>
              <Avatar of={one} size={24} />
            </a>
          </li>
        ))}
      </ul>
      {requests.length > 0 && (
        <>
          <h2>Related merge requests</h2>
          <ul class="related">
            {requests.map((one) => (
              <li key={one.id}>
                <State of={one.state} isShort /> <a href={pathOf(one.web_url)}>{one.title}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      {(links.length > 0 || mayPlan) && <h2>Linked issues</h2>}
      <ul class="related">
        {links.map((one) => (
          <li key={one.id}>
            <State of={one.state} isShort /> <a href={pathOf(one.web_url)}>{one.title}</a>{' '}
            {one.link_type !== 'relates_to' && <span class="badge">{one.link_type.replaceAll('_', ' ')}</span>}
            {mayPlan && (
              <ActButton
                action="unlink"
                id={`unlink-${one.issue_link_id}`}
                kind="plain"
                fields={{ link: one.issue_link_id }}
                label={`Remove link to ${one.title}`}
              >
                <Icon name="cross" />
              </ActButton>
            )}
          </li>
        ))}
      </ul>
      {mayPlan && (
        <Form action="link" class="link-form" resets>
          <Choice
            name="link_type"
            label="Relationship"
            isQuiet
            options={[
              ['relates_to', 'Relates to'],
              ['blocks', 'Blocks'],
              ['is_blocked_by', 'Is blocked by'],
            ]}
          />
          <Field name="target" label="Issue to link" isQuiet required placeholder="#3 or group/project#3" />
          <Button>Link</Button>
        </Form>
      )}
      {mayPlan && issue.moved_to_id === null && (
        <details class="edit" onReset={fold}>
          <summary>Move to another project</summary>
          <Form action="move" confirm="Move this issue? The issue is closed here and links to the new issue.">
            <Field name="project" label="Project path" required placeholder="group/project" />
            <Button>Move issue</Button>
          </Form>
        </details>
      )}
    </>
  )
}

const Property = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)
