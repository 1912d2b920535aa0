/** Properties of a merge request, with forms for users who may change them. */
import type { ComponentChildren } from 'preact'
import type { Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { ActButton, Button, Choice, Field, Form } from '../../../components/Form.tsx'
import { Icon, type IconName } from '../../../components/Icon.tsx'
import { Faces, RequestState, labelsOf } from '../../../components/MergeRequests.tsx'
import { Label } from '../../../components/State.tsx'
import { TimeTracking } from '../../../components/TimeTracking.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import type { Me } from '../../../page.ts'
import type { Detail } from './Head.tsx'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './Side.css'

type Reviewer = Records['MergeRequestReviewer']

export interface SideData {
  reviewers: Reviewer[]
  participants: Records['UserSummary'][]
  blocks: Records['MergeRequestDependency'][]
  blockees: Records['MergeRequestDependency'][]
  closes: Records['ClosedIssue'][]
  labels: Records['Label'][]
  milestones: Records['Milestone'][]
  members: Records['Member'][]
}

interface SideProps extends SideData {
  one: Detail
  project: Project
  me: Me | null
}

export function Side(props: SideProps) {
  const { one, project, participants, members, labels, milestones } = props
  // Current values stay selectable, even if they are not offered otherwise.
  const known = new Map([...members, ...one.assignees, ...one.reviewers].map((person) => [person.id, person]))
  const people = [...known.values()].map(({ id, name, username }) => [String(id), `${name} (@${username})`] as const)
  const names = new Set([...labels, ...labelsOf(one)].map(({ name }) => name))
  const plans = new Map([...milestones, ...(one.milestone ? [one.milestone] : [])].map(({ id, title }) => [id, title]))
  const ids = (users: readonly { id: number }[]) => users.map(({ id }) => String(id))
  return (
    <aside class="side" aria-label={common.properties}>
      <Property title={common.assignees}>
        <People of={one.assignees} />
        {one.can.plan && (
          <Change what="assignees" action="assign">
            <Choice
              name="assignee_ids[]"
              label={common.assignees}
              isQuiet
              multiple
              options={people}
              values={ids(one.assignees)}
            />
          </Change>
        )}
      </Property>
      <Property title={t.reviewers}>
        <Reviewers of={props.reviewers} />
        {one.can.plan && (
          <Change what="reviewers" action="askReview">
            <Choice
              name="reviewer_ids[]"
              label={t.reviewers}
              isQuiet
              multiple
              options={people}
              values={ids(one.reviewers)}
            />
          </Change>
        )}
      </Property>
      <Property title={common.labels}>
        {one.labels.length === 0 ? (
          <span class="quiet">{common.none}</span>
        ) : (
          <span class="row">
            {labelsOf(one).map((label) => (
              <Label
                of={labels.find(({ name }) => name === label.name) ?? label}
                href={below(project, `merge_requests?labels=${encodeURIComponent(label.name)}`)}
                key={label.name}
              />
            ))}
          </span>
        )}
        {one.can.plan && names.size > 0 && (
          <Change what="labels" action="label">
            <Choice
              name="labels[]"
              label={common.labels}
              isQuiet
              multiple
              options={[...names].map((name) => [name, name] as const)}
              values={labelsOf(one).map(({ name }) => name)}
            />
          </Change>
        )}
      </Property>
      <Property title={common.milestone}>
        {one.milestone ? (
          <a href={below(project, `milestones/${one.milestone.iid}`)}>{one.milestone.title}</a>
        ) : (
          <span class="quiet">{common.none}</span>
        )}
        {one.can.plan && plans.size > 0 && (
          <Change what="milestone" action="plan">
            <Choice
              name="milestone_id"
              label={common.milestone}
              isQuiet
              value={one.milestone?.id ?? '0'}
              options={[['0', common.none], ...[...plans].map(([id, title]) => [String(id), title] as const)]}
            />
          </Change>
        )}
      </Property>
      <Property title={t.timeTracking}>
        <TimeTracking of={one.time_stats} mayPlan={one.can.update} />
      </Property>
      <Dependencies {...props} />
      {props.closes.length > 0 && (
        <Property title={t.closesIssues}>
          <ul>
            {props.closes.map((issue) => (
              <li key={issue.id}>
                <a href={pathOf(issue.web_url)}>
                  {issue.references.short} {issue.title}
                </a>
              </li>
            ))}
          </ul>
        </Property>
      )}
      <Property title={common.participants}>
        <Faces of={participants} label={common.participants} />
      </Property>
      {(one.can.subscribe || one.can.remember) && (
        <Property title={common.notifications}>
          <div class="row">
            {one.can.subscribe && (
              <ActButton action="subscribe" fields={{ wish: one.subscribed ? 'off' : 'on' }}>
                {one.subscribed ? common.unsubscribe : common.subscribe}
              </ActButton>
            )}
            {one.can.remember && (
              <ActButton action="remind">
                <Icon name="todo" /> {t.addToDoItem}
              </ActButton>
            )}
          </div>
        </Property>
      )}
      <Property title={t.reference}>
        <code>{one.references.full}</code>
      </Property>
    </aside>
  )
}

const Property = ({ title, children, id }: { title: string; children: ComponentChildren; id?: string }) => (
  <section class="property" id={id}>
    <h2>{title}</h2>
    {children}
  </section>
)

/** A collapsed form. */
const Change = ({ what, action, children }: { what: string; action: string; children: ComponentChildren }) => (
  <details class="property-change">
    <summary>{t.editWhat(what)}</summary>
    <Form action={action}>
      {children}
      <Button>{common.save}</Button>
    </Form>
  </details>
)

const People = ({ of }: { of: readonly Records['UserSummary'][] }) =>
  of.length === 0 ? (
    <span class="quiet">{common.none}</span>
  ) : (
    <ul>
      {of.map((person) => (
        <li key={person.id}>
          <Person of={person} />
        </li>
      ))}
    </ul>
  )

const REVIEWS: Record<Reviewer['state'], readonly [tone: string, icon: IconName, word: string]> = {
  unreviewed: ['idle', 'clock', t.reviewPending],
  reviewed: ['busy', 'comment', t.commented],
  requested_changes: ['bad', 'cross', t.requestedChanges],
  approved: ['good', 'check', 'approved'],
  unapproved: ['idle', 'clock', t.revokedApproval],
}

function Reviewers({ of }: { of: readonly Reviewer[] }) {
  if (of.length === 0) return <span class="quiet">{common.none}</span>
  return (
    <ul>
      {of.map(({ user, state }) => {
        const [tone, icon, word] = REVIEWS[state]
        return (
          <li key={user.id} class="row" data-review={state}>
            <Person of={user} />
            <span class="state" data-tone={tone} title={word}>
              <Icon name={icon} />
              <span class="spoken">{word}</span>
            </span>
          </li>
        )
      })}
    </ul>
  )
}

function Dependencies({ one: { can }, blocks, blockees }: SideProps) {
  if (blocks.length === 0 && blockees.length === 0 && !can.update) return null
  return (
    <Property title={t.dependencies} id="dependencies">
      {blocks.length === 0 && blockees.length === 0 && <span class="quiet">{common.none}</span>}
      {blocks.length > 0 && (
        <>
          <h3>{t.dependsOn}</h3>
          <ul>
            {blocks.map((block) => (
              <li class="row" key={block.id}>
                <Linked one={block.blocking_merge_request} />
                {can.update && (
                  <ActButton
                    action="unblock"
                    id={`unblock-${block.id}`}
                    fields={{ block_id: block.id }}
                    kind="plain"
                    label={t.removeDependency}
                  >
                    <Icon name="trash" />
                  </ActButton>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
      {blockees.length > 0 && (
        <>
          <h3>{common.blocks}</h3>
          <ul>
            {blockees.map((block) => (
              <li class="row" key={block.id}>
                <Linked one={block.blocked_merge_request} />
              </li>
            ))}
          </ul>
        </>
      )}
      {can.update && (
        <details class="property-change">
          <summary>{t.addDependency}</summary>
          <Form action="block" resets>
            <Field name="reference" label={t.mergeRequestToMergeFirst} placeholder="!12" required />
            <Button>{common.add}</Button>
          </Form>
        </details>
      )}
    </Property>
  )
}

/** A record that the viewer may not see is shown as hidden. */
const Linked = ({ one }: { one: Records['MergeRequest'] | null }) =>
  one ? (
    <>
      <RequestState of={one} isShort />
      <a href={pathOf(one.web_url)}>
        {one.references.short} {one.title}
      </a>
    </>
  ) : (
    <span class="quiet">{t.privateMergeRequest}</span>
  )
