/** The merge requests of a project. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../../../api.ts'
import { BulkEdit, changeSeveral } from '../../../components/BulkEdit.tsx'
import {
  Filters,
  Requests,
  StateTabs,
  stateOf,
  filterOf,
  type MergeRequest,
  type StateFilter,
} from '../../../components/MergeRequests.tsx'
import { deletedItemActions } from '../../../components/DeletedItems.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Empty } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, type Me } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'

interface Data {
  requests: Listed<MergeRequest[]>
  counts: Partial<Record<StateFilter, number | null>>
  labels: Records['Label'][]
  milestones: Records['Milestone'][]
  people: Records['UserSummary'][]
}

const PATH = '/projects/{id}/merge_requests'
const COUNTED = ['opened', 'merged', 'closed'] as const

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load({ api, params, query }) {
    const id = params.id!
    const count = async (state: StateFilter) => [state, (await api.list(PATH, { id, state, per_page: 1 })).total]
    return {
      requests: api.list(PATH, { id, state: stateOf(query), ...filterOf(query) }),
      counts: Promise.all(COUNTED.map(count)).then((pairs) => Object.fromEntries(pairs) as Data['counts']),
      labels: api.maybe('/projects/{id}/labels', { id, per_page: 100 }).then((found) => found ?? []),
      people: api.maybe('/projects/{id}/users', { id, per_page: 100 }).then((found) => found ?? []),
      milestones: api
        .maybe('/projects/{id}/milestones', { id, state: 'active', per_page: 100 })
        .then((found) => found ?? []),
    }
  },
  title: () => common.mergeRequests,
  actions: { bulk: changeSeveral('merge_requests'), restore: deletedItemActions('/projects/{id}').restore },
  live: ({ project }) =>
    project
      ? {
          path: `/projects/${project.id}/live`,
          events: ['created', 'updated', 'closed', 'reopened', 'merged'].map((act) => `merge_request.${act}`),
        }
      : null,
  View: ({ project, requests, counts, labels, milestones, people, me }) => {
    const mayPropose = isProposer(project, me)
    return (
      <>
        <div class="head">
          <h1>{common.mergeRequests}</h1>
          {mayPropose && (
            <a class="button" data-kind="main" href={below(project, 'merge_requests/new')}>
              <Icon name="plus" /> {t.newMergeRequest}
            </a>
          )}
        </div>
        <StateTabs counts={counts} />
        <Filters labels={labels.map(({ name }) => name)} milestones={milestones.map(({ title }) => title)} />
        <Requests
          of={requests}
          usualTarget={project.default_branch}
          {...(project.can.createMergeRequest && {
            around: (rows: ComponentChildren) => (
              <BulkEdit of="merge_requests" labels={labels} milestones={milestones} people={people}>
                {rows}
              </BulkEdit>
            ),
          })}
          empty={
            <Empty title={t.noMergeRequests}>
              <p>{t.pushBranchThenCreateMerge}</p>
              {mayPropose && (
                <a class="button" href={below(project, 'merge_requests/new')}>
                  {t.newMergeRequest}
                </a>
              )}
            </Empty>
          }
        />
      </>
    )
  },
})

/** Users without push access propose from their fork, on the fork's page. */
const isProposer = (project: InProject['project'], me: Me | null) =>
  !project.archived && me !== null && (project.can.createMergeRequest || project.forks_count > 0)
