/** The commits of a merge request. */
import type { Listed, Records } from '../../../../api.ts'
import { Empty, Pages } from '../../../../components/lists.tsx'
import { projectFrame, type InProject } from '../../../../layout/project.tsx'
import { page as declare } from '../../../../page.ts'
import { stateActions } from '../actions.ts'
import { CommitRows } from '../Commits.tsx'
import { Head, liveOf, loadOne, requestParams, type InRequest } from '../Head.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'

interface Data extends InRequest {
  commits: Listed<Records['Commit'][]>
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load: (request) => ({
    one: loadOne(request),
    commits: request.api.list('/projects/{id}/merge_requests/{merge_request_iid}/commits', {
      ...requestParams(request),
      page: Number(request.query.get('page')) || 1,
      per_page: 50,
    }),
  }),
  title: ({ one }) => t.commitsTitle(one.title, one.iid),
  actions: stateActions,
  live: ({ one }) => liveOf(one),
  View: ({ one, project, commits }) => (
    <>
      <Head one={one} project={project} tab="commits" />
      {commits.items.length === 0 ? (
        <Empty title={common.noCommits}>
          <p>{t.pushCommitsToSourceBranch(one.source_branch)}</p>
        </Empty>
      ) : (
        <CommitRows commits={commits.items} project={project} />
      )}
      <Pages of={commits} />
    </>
  ),
})
