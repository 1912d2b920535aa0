/** A milestone of a group, and its issues in all projects. */
import { Refused, type Listed, type Records } from '../../../api.ts'
import { ActButton, Button, Folded, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { IssueRow } from '../../../components/IssueList.tsx'
import { Dates, MilestoneFields, milestoneOf, type Milestone } from '../../../components/Milestones.tsx'
import { Prose, State } from '../../../components/State.tsx'
import { Empty, Pages, Rows } from '../../../components/lists.tsx'
import { groupFrame, type InGroup } from '../../../layout/group.tsx'
import { page as declare, text, type PageRequest } from '../../../page.ts'
import { deletedItemFlash } from '../../../components/DeletedItems.tsx'
import { undoable } from '../../../undo.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  milestone: Milestone
  issues: Listed<Records['Issue'][]>
  html: string | null
}

async function find({ api, params }: PageRequest) {
  const [found] = await api.get('/groups/{id}/milestones', { id: params.id!, iids: [Number(params.iid)] })
  if (!found) throw new Refused({ status: 404, headers: {}, body: null })
  return found
}

const MILESTONE = '/groups/{id}/milestones/{milestone_id}'

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  async load(request) {
    const milestone = await find(request)
    const { api, params, query, me } = request
    const { description } = milestone
    return {
      milestone,
      html: me && description ? api.post('/markdown', { text: description, gfm: true }).then(({ html }) => html) : null,
      issues: api.list('/groups/{id}/issues', {
        id: params.id!,
        scope: 'all',
        milestone: milestone.title,
        with_labels_details: true,
        per_page: 50,
        page: Number(query.get('page')) || 1,
      }),
    }
  },
  title: ({ milestone }) => milestone.title,
  actions: {
    async turn(act) {
      const { id } = await find(act)
      const state_event = text(act.form, 'to') === 'close' ? 'close' : 'activate'
      await act.api.put(MILESTONE, { id: act.params.id!, milestone_id: id, state_event })
      return state_event === 'close'
        ? undoable(t.milestoneClosed, 'turn', { to: 'activate' })
        : undoable(t.milestoneReopened, 'turn', { to: 'close' })
    },
    async change(act) {
      const { id } = await find(act)
      await act.api.put(MILESTONE, { id: act.params.id!, milestone_id: id, ...milestoneOf(act.form) })
    },
    async destroy(act) {
      const { id, title } = await find(act)
      await act.api.delete(MILESTONE, { id: act.params.id!, milestone_id: id })
      const flash = await deletedItemFlash(act, '/groups/{id}', { kind: 'milestone', title }, t.milestoneDeleted(title))
      return { ...flash, to: `/groups/${act.params.id}/-/milestones` }
    },
  },
  View: ({ milestone, issues, html, group }) => {
    const isActive = milestone.state === 'active'
    return (
      <>
        <div class="head">
          <div>
            <h1>{milestone.title}</h1>
            <p class="row">
              <State of={isActive ? 'opened' : 'closed'} /> <Dates of={milestone} />
            </p>
          </div>
          {group.can.plan && (
            <div class="row">
              <ActButton action="turn" fields={{ to: isActive ? 'close' : 'activate' }}>
                {isActive ? t.closeMilestone : t.reopenMilestone}
              </ActButton>
              <ActButton action="destroy" kind="danger" confirm={t.deleteTitle(milestone.title)}>
                <Icon name="trash" /> {common.deleteLabel}
              </ActButton>
            </div>
          )}
        </div>
        {html !== null ? (
          <Prose html={html} />
        ) : (
          milestone.description && <p class="plain-text">{milestone.description}</p>
        )}
        {group.can.plan && (
          <Folded action="change">
            <summary>{common.edit}</summary>
            <Form action="change" class="narrow" resets>
              <MilestoneFields milestone={milestone} />
              <Button kind="main">{common.save}</Button>
            </Form>
          </Folded>
        )}
        <h2>{common.issues}</h2>
        {issues.items.length === 0 ? (
          <Empty title={t.noIssues} />
        ) : (
          <Rows label={common.issues}>
            {issues.items.map((issue) => (
              <IssueRow issue={issue} key={issue.id} />
            ))}
          </Rows>
        )}
        <Pages of={issues} />
      </>
    )
  },
})
