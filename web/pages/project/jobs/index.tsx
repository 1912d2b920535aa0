/** Jobs of a project, newest first. */
import type { Listed } from '../../../api.ts'
import { jobActions } from '../../../ci-actions.ts'
import { CiTabs, JobRows, type Job, SubTabs } from '../../../components/CiParts.tsx'
import { Empty, Pages } from '../../../components/lists.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import { withQuery } from '../../../query.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data {
  jobs: Listed<Job[]>
}

const SCOPES: Record<string, { text: string; statuses?: string[] }> = {
  all: { text: common.all },
  pending: { text: common.pending, statuses: ['pending', 'waiting_for_resource'] },
  running: { text: common.running, statuses: ['running', 'canceling'] },
  failed: { text: common.failed, statuses: ['failed'] },
  manual: { text: common.manual, statuses: ['manual'] },
  finished: { text: t.finished, statuses: ['success', 'failed', 'canceled'] },
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
  title: () => t.jobs,
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['job.changed'] }),
  actions: jobActions,
  View: ({ project, jobs, query, address }) => (
    <>
      <CiTabs project={project} at="jobs" />
      <h1 class="ci-head">{t.jobs}</h1>
      <SubTabs
        label={common.status}
        tabs={Object.entries(SCOPES).map(([name, scope]) => ({
          text: scope.text,
          href: withQuery(address, { scope: name === 'all' ? null : name }),
          isCurrent: scope === scopeOf(query),
        }))}
      />
      {jobs.items.length > 0 ? (
        <JobRows project={project} jobs={jobs.items} />
      ) : (
        <Empty title={t.noJobs}>
          <p>{rich(t.runPipelineToCreateJobs, { link: (text) => <a href={below(project, 'pipelines')}>{text}</a> })}</p>
        </Empty>
      )}
      <Pages of={jobs} />
    </>
  ),
})
