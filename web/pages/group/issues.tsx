/** Issues of all projects of a group. */
import type { Listed, Records } from '../../api.ts'
import { IssueList, narrowedBy, filterOf, type Counts, type Issue } from '../../components/IssueList.tsx'
import { groupFrame, type InGroup } from '../../layout/group.tsx'
import { GroupPlanningTabs } from '../../layout/planning.tsx'
import { page as declare } from '../../page.ts'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/planning.ts'

interface Data {
  issues: Listed<Issue[]>
  counts: Counts
  labels: Records['Label'][] | null
  milestones: Records['Milestone'][] | null
}

export const page = declare<Data, InGroup>({
  frame: groupFrame,
  load: ({ api, params, query }) => {
    const id = params.id!
    const per_page = 100
    return {
      issues: api.list('/groups/{id}/issues', { id, scope: 'all', ...filterOf(query) }),
      counts: api
        .get('/groups/{id}/issues_statistics', { id, scope: 'all', ...narrowedBy(query) })
        .then(({ statistics }) => statistics.counts),
      labels: api.maybe('/groups/{id}/labels', { id, per_page }),
      milestones: api.maybe('/groups/{id}/milestones', { id, per_page, state: 'active', include_ancestors: true }),
    }
  },
  title: () => common.issues,
  View: ({ group, issues, counts, labels, milestones }) => (
    <>
      <GroupPlanningTabs group={group} at="issues" />
      <h1>{common.issues}</h1>
      <IssueList
        issues={issues}
        counts={counts}
        labels={labels}
        milestones={milestones}
        hint={<p>{t.issuesFromAllProjects}</p>}
      />
    </>
  ),
})
