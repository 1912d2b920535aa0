/** The properties of an issue: labels, milestone, assignees and the like. */
import type { ComponentChildren } from 'preact'
import type { Can } from '../../../abilities.ts'
import type { Records } from '../../../api.ts'
import { Avatar, Person } from '../../../components/Avatar.tsx'
import { ActButton, Button, Choice, Field, Form, Switch, fold } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Label, State } from '../../../components/State.tsx'
import { TimeTracking } from '../../../components/TimeTracking.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import { PlanFields, type Choices } from './Fields.tsx'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'
import './Sidebar.css'

export interface Related {
  participants: Records['UserSummary'][]
  requests: Records['MergeRequest'][]
  links: Records['LinkedIssue'][]
}

interface SidebarProps extends Related, Choices {
  project: Project
  issue: Records['Issue'] & { can: Can<'issue'> }
}

export function Sidebar({ project, issue, participants, requests, links, ...choices }: SidebarProps) {
  const names = issue.labels.map((label) => (typeof label === 'string' ? label : label.name))
  return (
    <>
      <dl class="properties">
        <Property name="Assignees">
          {issue.assignees.length === 0
            ? common.none
            : issue.assignees.map((one) => (
                <div key={one.id}>
                  <Person of={one} />
                </div>
              ))}
        </Property>
        <Property name="Labels">
          {names.length === 0
            ? common.none
            : names.map((name) => (
                <Label
                  of={choices.labels.find((label) => label.name === name) ?? { name }}
                  href={below(project, `issues?label_name[]=${encodeURIComponent(name)}`)}
                  key={name}
                />
              ))}
        </Property>
        <Property name="Milestone">
          {issue.milestone ? <a href={pathOf(issue.milestone.web_url)}>{issue.milestone.title}</a> : common.none}
        </Property>
        <Property name="Due date">{issue.due_date ?? common.none}</Property>
        {issue.weight !== null && <Property name="Weight">{issue.weight}</Property>}
        <Property name="Time tracking">
          <TimeTracking of={issue.time_stats} mayPlan={issue.can.update} />
        </Property>
      </dl>
      {issue.can.plan && (
        <details class="edit" onReset={fold}>
          <summary>{common.edit}</summary>
          <Form action="plan" resets>
            <PlanFields {...choices} chosen={{ ...issue, labels: names }} />
            <Switch name="confidential" label={t.confidential} isOn={issue.confidential} />
            <Switch
              name="discussion_locked"
              label={t.lockDiscussion}
              hint={t.onlyProjectMembersCanComment}
              isOn={issue.discussion_locked}
            />
            <Button kind="main">{common.save}</Button>
          </Form>
        </details>
      )}
      {issue.can.subscribe && (
        <div class="row">
          <ActButton action="follow" fields={{ on: String(!issue.subscribed) }}>
            {issue.subscribed ? common.unsubscribe : common.subscribe}
          </ActButton>
          <ActButton action="remember">
            <Icon name="todo" /> {t.addToDoItem}
          </ActButton>
        </div>
      )}
      <h2>{common.participants}</h2>
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
          <h2>{t.relatedMergeRequests}</h2>
          <ul class="related">
            {requests.map((one) => (
              <li key={one.id}>
                <State of={one.state} isShort /> <a href={pathOf(one.web_url)}>{one.title}</a>
              </li>
            ))}
          </ul>
        </>
      )}
      {(links.length > 0 || issue.can.plan) && <h2>{t.linkedIssues}</h2>}
      <ul class="related">
        {links.map((one) => (
          <li key={one.id}>
            <State of={one.state} isShort /> <a href={pathOf(one.web_url)}>{one.title}</a>{' '}
            {one.link_type !== 'relates_to' && <span class="badge">{one.link_type.replaceAll('_', ' ')}</span>}
            {issue.can.plan && (
              <ActButton
                action="unlink"
                id={`unlink-${one.issue_link_id}`}
                kind="plain"
                fields={{ link: one.issue_link_id }}
                label={t.removeLinkToTitle(one.title)}
              >
                <Icon name="cross" />
              </ActButton>
            )}
          </li>
        ))}
      </ul>
      {issue.can.plan && (
        <Form action="link" class="link-form" resets>
          <Choice
            name="link_type"
            label={t.relationship}
            isQuiet
            options={[
              ['relates_to', t.relatesTo],
              ['blocks', common.blocks],
              ['is_blocked_by', t.isBlockedBy],
            ]}
          />
          <Field name="target" label={t.issueToLink} isQuiet required placeholder="#3 or group/project#3" />
          <Button>{t.link}</Button>
        </Form>
      )}
      {issue.can.plan && issue.moved_to_id === null && (
        <details class="edit" onReset={fold}>
          <summary>{t.moveToAnotherProject}</summary>
          <Form action="move" confirm={t.moveThisIssueIssue}>
            <Field name="project" label={t.projectPath} required placeholder="group/project" />
            <Button>{t.moveIssue}</Button>
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
