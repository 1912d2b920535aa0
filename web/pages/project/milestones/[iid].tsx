/** A milestone and its issues. */
import { Refused, type Listed, type Records } from '../../../api.ts'
import { ActButton, Button, Folded, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { IssueRow } from '../../../components/IssueList.tsx'
import { Dates, MilestoneFields, Progress, milestoneOf, type Counted } from '../../../components/Milestones.tsx'
import { State } from '../../../components/State.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text, type PageRequest } from '../../../page.ts'
import { deletedItemFlash } from '../../../components/DeletedItems.tsx'
import { undoable } from '../../../undo.ts'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  milestone: Counted
  issues: Listed<Records['Issue'][]>
  requests: Records['MergeRequest'][]
  html: string | null
}

/** By its number in the project; the API needs its id. */
async function find({ api, params }: PageRequest) {
  const [found] = await api.get('/projects/{id}/milestones', { id: params.id!, iids: [Number(params.iid)] })
  if (!found) throw new Refused({ status: 404, headers: {}, body: null })
  return found
}

const MILESTONE = '/projects/{id}/milestones/{milestone_id}'

export const page = declare<Data, InProject>({
  frame: projectFrame,
  async load(request) {
    const { api, params, query, me } = request
    const id = params.id!
    const milestone = await find(request)
    const { title, description } = milestone
    return {
      milestone: api
        .maybe('/projects/{id}/issues_statistics', { id, milestone: title })
        .then((found) => ({ ...milestone, counts: found?.statistics.counts ?? null })),
      issues: api.list('/projects/{id}/issues', {
        id,
        milestone: title,
        with_labels_details: true,
        per_page: 50,
        page: Number(query.get('page')) || 1,
      }),
      requests: api
        .maybe(`${MILESTONE}/merge_requests`, { id, milestone_id: milestone.id, per_page: 50 })
        .then((found) => found ?? []),
      html:
        me && description
          ? api.post('/markdown', { text: description, gfm: true, project: id }).then(({ html }) => html)
          : null,
    }
  },
  title: ({ milestone }) => milestone.title,
  actions: {
    async change(act) {
      const { id } = await find(act)
      await act.api.put(MILESTONE, { id: act.params.id!, milestone_id: id, ...milestoneOf(act.form) })
    },
    async turn(act) {
      const { id } = await find(act)
      const state_event = text(act.form, 'to') === 'close' ? 'close' : 'activate'
      await act.api.put(MILESTONE, { id: act.params.id!, milestone_id: id, state_event })
      return state_event === 'close'
        ? undoable(t.milestoneClosed, 'turn', { to: 'activate' })
        : undoable(t.milestoneReopened, 'turn', { to: 'close' })
    },
    async destroy(act) {
      const { id, title } = await find(act)
      await act.api.delete(MILESTONE, { id: act.params.id!, milestone_id: id })
      const flash = await deletedItemFlash(
        act,
        '/projects/{id}',
        { kind: 'milestone', title },
        t.milestoneDeleted(title),
      )
      return { ...flash, to: `/${act.params.id}/-/milestones` }
    },
  },
  View: ({ project, milestone, issues, requests, html }) => {
    const isActive = milestone.state === 'active'
    return (
      <>
        <div class="head">
          <div>
            <h1>{milestone.title}</h1>
            <p class="row">
              <State of={isActive ? 'opened' : 'closed'} /> <Dates of={milestone} />
            </p>
            <Progress of={milestone.counts} />
          </div>
          {project.can.plan && (
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
          <div class="prose" dangerouslySetInnerHTML={{ __html: html }} />
        ) : (
          milestone.description && <p class="plain-text">{milestone.description}</p>
        )}
        {project.can.plan && (
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
          <Empty title={t.noIssues}>
            <a href={below(project, 'issues')}>{t.assignIssuesToThisMilestone}</a>
          </Empty>
        ) : (
          <Rows label={common.issues}>
            {issues.items.map((issue) => (
              <IssueRow issue={issue} key={issue.id} />
            ))}
          </Rows>
        )}
        <Pages of={issues} />
        {requests.length > 0 && (
          <>
            <h2>{common.mergeRequests}</h2>
            <Rows label={common.mergeRequests}>
              {requests.map((one) => (
                <Row
                  key={one.id}
                  lead={<State of={one.state} isShort />}
                  title={<a href={pathOf(one.web_url)}>{one.title}</a>}
                />
              ))}
            </Rows>
          </>
        )}
      </>
    )
  },
})
