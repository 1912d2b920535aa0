/** The issues of a project. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../../../api.ts'
import { BulkEdit, changeSeveral } from '../../../components/BulkEdit.tsx'
import { deletedItemActions } from '../../../components/DeletedItems.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { IssueList, narrowedBy, filterOf, type Counts, type Issue } from '../../../components/IssueList.tsx'
import { PlanningTabs } from '../../../layout/planning.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'

interface Data {
  issues: Listed<Issue[]>
  counts: Counts
  labels: Records['Label'][] | null
  milestones: Records['Milestone'][] | null
  people: Records['UserSummary'][] | null
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query, me }) => {
    const id = params.id!
    const per_page = 100
    return {
      issues: api.list('/projects/{id}/issues', { id, ...filterOf(query) }),
      counts: api
        .get('/projects/{id}/issues_statistics', { id, ...narrowedBy(query) })
        .then(({ statistics }) => statistics.counts),
      labels: api.maybe('/projects/{id}/labels', { id, per_page }),
      milestones: api.maybe('/projects/{id}/milestones', { id, per_page, state: 'active', include_ancestors: true }),
      people: me ? api.maybe('/projects/{id}/users', { id, per_page }) : null,
    }
  },
  title: () => common.issues,
  actions: { bulk: changeSeveral('issues'), restore: deletedItemActions('/projects/{id}').restore },
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['issue.created', 'issue.updated'] }),
  View: ({ project, ...data }) => (
    <>
      <PlanningTabs project={project} at="issues" />
      <div class="head">
        <h1>{common.issues}</h1>
        {project.can.createIssue && (
          <a class="button" data-kind="main" href={below(project, 'issues/new')}>
            <Icon name="plus" /> {t.newIssue}
          </a>
        )}
      </div>
      <IssueList
        {...data}
        hint={project.can.createIssue && <a href={below(project, 'issues/new')}>{t.openFirstIssue}</a>}
        {...(project.can.plan && {
          around: (rows: ComponentChildren) => (
            <BulkEdit
              of="issues"
              labels={data.labels ?? []}
              milestones={data.milestones ?? []}
              people={data.people ?? []}
            >
              {rows}
            </BulkEdit>
          ),
        })}
      />
    </>
  ),
})
