/** Jobs of a project, newest first. */
import type { Listed } from '../../../api.ts'
import { jobActions } from '../../../ci-actions.ts'
import { CiTabs, JobRows, type Job, SubTabs } from '../../../components/CiParts.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'

interface Data {
  jobs: Listed<Job[]>
}

const SCOPES: Record<string, { text: string; statuses?: string[] }> = {
  all: { text: 'All' },
  pending: { text: 'Pending', statuses: ['pending', 'waiting_for_resource'] },
  running: { text: 'Running', statuses: ['running', 'canceling'] },
  failed: { text: 'Failed', statuses: ['failed'] },
  manual: { text: 'Manual', statuses: ['manual'] },
  finished: { text: 'Finished', statuses: ['success', 'failed', 'canceled'] },
}

const scopeOf = (query: URLSearchParams) => SCOPES[query.get('scope') ?? 'all'] ?? SCOPES.all!

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: ({ api, params, query }) => ({
    jobs: api.list('/projects/{id}/jobs', {
      id: params.id!,
      scope: scopeOf(query).statuses,
      page: Number(query.get('page')) || 1,
      per_page: 20,
    }),
  }),
  title: () => 'Jobs',
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['job.changed'] }),
  actions: jobActions,
  View: ({ project, jobs, query, address }) => (
    <>
      <CiTabs project={project} at="jobs" />
      <h1 class="ci-head">Jobs</h1>
      <SubTabs
        label="Status"
        tabs={Object.entries(SCOPES).map(([name, scope]) => ({
          text: scope.text,
          href: withQuery(address, { scope: name === 'all' ? null : name }),
          isCurrent: scope === scopeOf(query),
        }))}
      />
      {jobs.items.length > 0 ? (
        <JobRows project={project} jobs={jobs.items} />
      ) : (
        <Empty title="No jobs">
          <p>
            Run a <a href={below(project, 'pipelines')}>pipeline</a> to create jobs.
          </p>
        </Empty>
      )}
      <Pages of={jobs} />
    </>
  ),
})
