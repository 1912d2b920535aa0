/** One pipeline: status, stages, jobs and test results. */
import type { Listed, Records } from '../../../api.ts'
import { jobActions } from '../../../ci-actions.ts'
import {
  CiTabs,
  Facts,
  JobRows,
  RefLink,
  ShaLink,
  isUnfinished,
  none,
  sourceText,
  type Job,
  SubTabs,
} from '../../../components/CiParts.tsx'
import { Person } from '../../../components/Avatar.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { PipelineGraph } from './PipelineGraph.tsx'
import { State } from '../../../components/State.tsx'
import { Duration, Time } from '../../../components/Time.tsx'
import { Empty, Pages, Row, Rows } from '../../../components/lists.tsx'
import { projectFrame, below, type InProject, type Project } from '../../../layout/project.tsx'
import { page as declare, type Drawn } from '../../../page.ts'
import { undoable } from '../../../undo.ts'
import { withQuery } from '../../../query.ts'
import { TestReport } from './TestReport.tsx'
import { pathOf } from '../../../refs.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/ci.ts'

interface Data {
  pipeline: Records['Pipeline']
  commit: Records['CommitDetail'] | null
  graph: Records['PipelineGraph'] | null
  jobs: Listed<Job[]>
  bridges: Records['Bridge'][]
  tests: Records['TestReportSummary'] | null
  report: Records['TestReport'] | null
  variables: Records['PipelineVariable'][]
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query, me }) {
    const of = { id: params.id!, pipeline_id: params.pipeline! }
    const pipeline = api.get('/projects/{id}/pipelines/{pipeline_id}', of)
    const tab = query.get('tab')
    return {
      pipeline,
      commit: pipeline.then(({ sha }) => api.maybe('/projects/{id}/repository/commits/{sha}', { id: of.id, sha })),
      graph: api.maybe('/projects/{id}/pipelines/{pipeline_id}/graph', of),
      jobs:
        tab === 'jobs'
          ? api.list('/projects/{id}/pipelines/{pipeline_id}/jobs', {
              ...of,
              include_retried: true,
              page: Number(query.get('page')) || 1,
              per_page: 50,
            })
          : none<Job>(),
      bridges: api
        .maybe('/projects/{id}/pipelines/{pipeline_id}/bridges', { ...of, per_page: 100 })
        .then((found) => found ?? []),
      tests: api.maybe('/projects/{id}/pipelines/{pipeline_id}/test_report_summary', of),
      report: tab === 'tests' ? api.maybe('/projects/{id}/pipelines/{pipeline_id}/test_report', of) : null,
      variables: me
        ? api.maybe('/projects/{id}/pipelines/{pipeline_id}/variables', of).then((found) => found ?? [])
        : [],
    }
  },
  title: ({ pipeline }) => `${pipeline.name ?? t.pipelineNumber(pipeline.id)}`,
  live: ({ project, pipeline }) => ({
    path: `/projects/${project.id}/live`,
    events: ['pipeline.changed', 'job.changed'],
    about: (event: { id?: number; pipeline_id?: number }) => (event.pipeline_id ?? event.id) === pipeline.id,
  }),
  actions: {
    ...jobActions,
    async retryAll({ api, params }) {
      await api.post('/projects/{id}/pipelines/{pipeline_id}/retry', { id: params.id!, pipeline_id: params.pipeline! })
      return undoable(t.failedJobsRestarted, 'cancelAll', {}, common.cancel)
    },
    async cancelAll({ api, params }) {
      await api.post('/projects/{id}/pipelines/{pipeline_id}/cancel', { id: params.id!, pipeline_id: params.pipeline! })
      return undoable(t.pipelineCancelled, 'retryAll', {}, common.retry)
    },
    async remove({ api, params }) {
      await api.delete('/projects/{id}/pipelines/{pipeline_id}', { id: params.id!, pipeline_id: params.pipeline! })
      return `/${params.id!}/-/pipelines`
    },
  },
  View(data) {
    const { project, pipeline, commit } = data
    return (
      <>
        <CiTabs project={project} at="pipelines" />
        <div class="head ci-head">
          <div>
            <h1>
              <State of={pipeline.status} /> {pipeline.name ?? t.pipelineNumber(pipeline.id)}{' '}
              {pipeline.detailed_status.group === 'success-with-warnings' && (
                <span class="badge">{t.withWarnings}</span>
              )}
            </h1>
            <p class="quiet">
              {commit && <a href={below(project, `commit/${commit.id}`)}>{commit.title}</a>}
              <span class="ci-line">
                {pipeline.user && <Person of={pipeline.user} />} <span>{sourceText(pipeline.source)}</span>{' '}
                <Time at={pipeline.created_at} />
              </span>
            </p>
          </div>
          <Actions {...data} />
        </div>
        {pipeline.yaml_errors && (
          <p class="fault" role="alert">
            {pipeline.yaml_errors}
          </p>
        )}
        <div class="columns">
          <section>
            <PipelineTabs {...data} />
            <Content {...data} project={project} />
          </section>
          <Aside {...data} project={project} />
        </div>
      </>
    )
  },
})

type Visible = Data & Drawn & { project: Project }

function Actions({ pipeline, graph, project }: Visible) {
  const jobs = graph?.stages.flatMap((stage) => stage.jobs) ?? []
  const canRetry = project.can.run && jobs.some(({ status }) => status === 'failed' || status === 'canceled')
  const canCancel =
    project.can.run &&
    (isUnfinished(pipeline.status) || jobs.some(({ status }) => isUnfinished(status) && status !== 'created'))
  return (
    <div class="row">
      {canRetry && (
        <ActButton action="retryAll" kind="main">
          {t.retryFailedJobs}
        </ActButton>
      )}
      {canCancel && <ActButton action="cancelAll">{t.cancelPipeline}</ActButton>}
      {project.can.deletePipelines && (
        <ActButton action="remove" kind="danger" confirm={t.deleteThisPipelineAndAll}>
          {common.deleteLabel}
        </ActButton>
      )}
    </div>
  )
}

function PipelineTabs({ address, query, graph, tests, variables }: Data & Drawn) {
  const tab = (name: string | null, text: string, count?: number) => ({
    text,
    count,
    href: withQuery(address, { tab: name }),
    isCurrent: query.get('tab') === name,
  })
  const count = graph?.stages.reduce((sum, { jobs }) => sum + jobs.length, 0)
  return (
    <SubTabs
      label={t.pipeline}
      tabs={[
        tab(null, t.stages),
        tab('jobs', t.jobs, count),
        tab('tests', t.tests, tests?.total.count),
        ...(variables.length > 0 ? [tab('variables', t.variables, variables.length)] : []),
      ]}
    />
  )
}

/** A bridge job links to its downstream pipeline. */
const linked = (stages: Records['PipelineGraph']['stages'], bridges: Data['bridges']) =>
  stages.map((stage) => ({
    ...stage,
    jobs: stage.jobs.map((job) => {
      const made = job.kind === 'bridge' && bridges.find(({ id }) => id === job.id)?.downstream_pipeline
      return made ? { ...job, web_url: pathOf(made.web_url) } : job
    }),
  }))

function Content({ query, graph, jobs, report, variables, project, bridges }: Visible) {
  switch (query.get('tab')) {
    case 'jobs':
      return (
        <>
          <JobRows project={project} jobs={jobs.items} isOfPipeline />
          {jobs.items.length === 0 && <Empty title={t.noJobs} />}
          <Pages of={jobs} />
        </>
      )
    case 'tests':
      return <TestReport report={report} />
    case 'variables':
      return (
        <div class="ci-scroll">
          <table>
            <thead>
              <tr>
                <th scope="col">{common.name}</th>
                <th scope="col">{common.value}</th>
              </tr>
            </thead>
            <tbody>
              {variables.map(({ key, value }) => (
                <tr key={key}>
                  <td>
                    <code>{key}</code>
                  </td>
                  <td>
                    <code>{value}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    default:
      return graph && graph.stages.length > 0 ? (
        <>
          <PipelineGraph stages={linked(graph.stages, bridges)} />
          {project.can.run && <Waiting graph={graph} />}
        </>
      ) : (
        <Empty title={graph ? t.noJobs : t.jobsAreVisibleOnly} />
      )
  }
}

/** Manual jobs. */
function Waiting({ graph }: { graph: Records['PipelineGraph'] }) {
  const waiting = graph.stages.flatMap(({ jobs }) =>
    jobs.filter(({ kind, status }) => kind === 'job' && (status === 'manual' || status === 'scheduled')),
  )
  if (waiting.length === 0) return null
  return (
    <section>
      <h2>{t.manualJobs}</h2>
      <Rows label={t.manualJobs}>
        {waiting.map((job) => (
          <Row
            key={job.id}
            lead={<State of={job.status} isShort />}
            title={<a href={pathOf(job.web_url ?? '')}>{job.name}</a>}
            aside={
              <ActButton action="play" fields={{ job: job.id }} id={`job-${job.id}`} label={t.runName(job.name)}>
                {' '}
                {t.run}{' '}
              </ActButton>
            }
          />
        ))}
      </Rows>
    </section>
  )
}

function Aside({ pipeline, graph, bridges, project }: Visible) {
  const made = bridges.filter(({ downstream_pipeline }) => downstream_pipeline)
  return (
    <aside>
      <Facts
        of={[
          [common.status, <State of={pipeline.status} />],
          [common.branch, <RefLink project={project} name={pipeline.ref} isTag={pipeline.tag} />],
          [common.commit, <ShaLink project={project} sha={pipeline.sha} />],
          [common.duration, pipeline.duration !== null && <Duration seconds={pipeline.duration} />],
          [common.queued, pipeline.queued_duration !== null && <Duration seconds={pipeline.queued_duration} />],
          [t.finished, pipeline.finished_at && <Time at={pipeline.finished_at} />],
          [t.coverage, pipeline.coverage && `${pipeline.coverage} %`],
        ]}
      />
      {graph?.upstream && (
        <>
          <h2>{t.upstream}</h2>
          <Linked of={graph.upstream} />
        </>
      )}
      {made.length > 0 && (
        <>
          <h2>{t.downstream}</h2>
          {made.map((bridge) => (
            <Linked key={bridge.id} of={bridge.downstream_pipeline!} by={bridge.name} />
          ))}
        </>
      )}
    </aside>
  )
}

const Linked = ({ of, by }: { of: Records['ListedPipeline']; by?: string }) => (
  <p>
    <State of={of.status} isShort /> <a href={pathOf(of.web_url)}>{t.pipelineNumber(of.id)}</a>{' '}
    <span class="quiet">
      {by ? `${by}, ` : ''}
      {pathOf(of.web_url).split('/-/')[0]!.slice(1)}
    </span>
  </p>
)
