/** One job: its live log, its artifacts, and its actions. */
import type { Records } from '../../../../api.ts'
import { jobActions, variablesOf } from '../../../../ci-actions.ts'
import {
  CiTabs,
  Facts,
  RefLink,
  ShaLink,
  Size,
  failureText,
  isUnfinished,
  type Job,
} from '../../../../components/CiParts.tsx'
import { Person } from '../../../../components/Avatar.tsx'
import { ActButton, Button, Field, Form } from '../../../../components/Form.tsx'
import { Icon } from '../../../../components/Icon.tsx'
import { Log, OFTEN_MS, type Part } from './Log.tsx'
import { State } from '../../../../components/State.tsx'
import { Duration, Time } from '../../../../components/Time.tsx'
import { VariableRows } from '../../../../components/VariableRows.tsx'
import { Empty } from '../../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../../layout/project.tsx'
import { page as declare, type Drawn } from '../../../../page.ts'
import { pauseOf } from '../../../../polling.ts'
import { withQuery } from '../../../../query.ts'
import { pathOf } from '../../../../refs.ts'
import { rich } from '../../../../rich.ts'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/ci.ts'
import './index.css'

interface Data {
  job: Job
  part: Part
  found: Records['TraceMatches'] | null
  settings: Records['WebSettings']
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load({ api, params, query }) {
    const of = { id: params.id!, job_id: params.job! }
    const search = query.get('search')?.trim()
    const line = Number(query.get('line'))
    return {
      job: api.get('/projects/{id}/jobs/{job_id}', of),
      part: api.get('/projects/{id}/jobs/{job_id}/trace_part', { ...of, ...(line > 0 && { line: Math.trunc(line) }) }),
      settings: api.get('/application/web_settings', {}),
      found: search ? api.get('/projects/{id}/jobs/{job_id}/trace_search', { ...of, search }) : null,
    }
  },
  title: ({ job }) => `${job.name} (#${job.id})`,
  live: ({ project, job }) => ({
    path: `/projects/${project.id}/live`,
    events: ['job.changed'],
    about: ({ id }) => id === job.id,
  }),
  actions: {
    async play(act) {
      await act.api.post('/projects/{id}/jobs/{job_id}/play', {
        id: act.params.id!,
        job_id: act.params.job!,
        ...(variablesOf(act).length > 0 && { job_variables_attributes: variablesOf(act) }),
      })
    },
    cancel: jobActions.cancel,
    async retry({ api, params }) {
      const made = await api.post('/projects/{id}/jobs/{job_id}/retry', { id: params.id!, job_id: params.job! })
      return pathOf(made.web_url)
    },
    async erase({ api, params }) {
      await api.post('/projects/{id}/jobs/{job_id}/erase', { id: params.id!, job_id: params.job! })
    },
    async keep({ api, params }) {
      await api.post('/projects/{id}/jobs/{job_id}/artifacts/keep', { id: params.id!, job_id: params.job! })
    },
    async removeArtifacts({ api, params }) {
      await api.delete('/projects/{id}/jobs/{job_id}/artifacts', { id: params.id!, job_id: params.job! })
    },
  },
  View(data) {
    const { project, job } = data
    return (
      <>
        <CiTabs project={project} at="jobs" />
        <div class="head ci-head">
          <div>
            <h1>
              <State of={job.status} /> {job.name}
            </h1>
            <p class="quiet ci-line">
              <a href={pathOf(job.pipeline.web_url)}>{t.pipelineNumber(job.pipeline.id)}</a> <span>{job.stage}</span>{' '}
              {job.user && <Person of={job.user} />} <Time at={job.started_at ?? job.created_at} />
            </p>
          </div>
          {project.can.run && <Actions job={job} />}
        </div>
        <div class="columns">
          <section class="job-log">
            {job.failure_reason && <p class="fault">{t.jobFailedFailureText(failureText(job.failure_reason))}</p>}
            <Written {...data} project={project} />
          </section>
          <Aside job={job} project={project} />
        </div>
      </>
    )
  },
})

function Actions({ job }: { job: Job }) {
  const isOver = !isUnfinished(job.status) && !['manual', 'skipped'].includes(job.status)
  const holdsSomething = job.artifacts.length > 0 && !job.erased_at
  return (
    <div class="row">
      {job.status === 'scheduled' && (
        <ActButton action="play" kind="main">
          {' '}
          {t.run}{' '}
        </ActButton>
      )}
      {isOver && (
        <ActButton action="retry" {...(job.status !== 'success' && { kind: 'main' as const })}>
          {common.retry}
        </ActButton>
      )}
      {isUnfinished(job.status) && job.status !== 'canceling' && (
        <ActButton action="cancel" fields={{ job: job.id }}>
          {common.cancel}
        </ActButton>
      )}
      {isOver && holdsSomething && (
        <ActButton action="erase" kind="danger" confirm={t.eraseJobLogAndArtifacts}>
          {t.erase}
        </ActButton>
      )}
    </div>
  )
}

function Written({ job, part, found, settings, project, query, address }: Data & Drawn & { project: Project }) {
  const isRunning = job.status === 'running' || job.status === 'canceling'
  if (job.status === 'manual') return <Manual isOwn={project.can.run} />
  if (job.erased_at)
    return (
      <Empty title={t.logErased}>
        <Time at={job.erased_at} />
      </Empty>
    )
  if (part.size === 0 && !isRunning) return <Empty title={WAITS[job.status] ?? t.noLog} />
  const path = `/projects/${project.id}/jobs/${job.id}/trace_part`
  return (
    <>
      <div class="log-tools">
        <form role="search" aria-label={t.log}>
          <Field
            name="search"
            type="search"
            label={t.searchLog}
            isQuiet
            placeholder={t.searchLog}
            value={query.get('search')}
          />
          <Button>{common.search}</Button>
        </form>
        <a href={`/api/v4/projects/${project.id}/jobs/${job.id}/trace`}>
          {rich(t.fullLogSize, { size: <Size bytes={part.size} /> })}
        </a>
      </div>
      {found && <Matches found={found} search={query.get('search') ?? ''} address={address} />}
      <Log
        part={part}
        path={path}
        address={address}
        isRunning={isRunning}
        pause={pauseOf(settings, OFTEN_MS)}
        key={query.get('line')}
      />
    </>
  )
}

const WAITS: Record<string, string> = {
  created: t.waitingForPreviousJobs,
  pending: t.waitingForRunner,
  waiting_for_resource: t.waitingForResource,
  preparing: common.preparing,
  scheduled: common.scheduled,
  skipped: common.skipped,
}

const Manual = ({ isOwn }: { isOwn: boolean }) => (
  <Empty title={t.thisJobMustBeStartedManually}>
    {isOwn && (
      <Form action="play" class="ci-narrow">
        <VariableRows />
        <Button kind="main">{t.runJob}</Button>
      </Form>
    )}
  </Empty>
)

function Matches({ found, search, address }: { found: Records['TraceMatches']; search: string; address: string }) {
  return (
    <section class="card log-found" aria-label={common.searchResults}>
      <header>
        {t.linesFound(found.matches.length, found.more, search)}
        <a href={withQuery(address, { search: null })}>{common.close}</a>
      </header>
      <ol class="ci-bounded" tabIndex={0} aria-label={t.matchingLines}>
        {found.matches.map(({ line, text }) => (
          <li key={line}>
            <a href={`${withQuery(address, { line: Math.max(1, line - 20) })}#L${line}`}>
              <span class="log-number">{line}</span> <code>{text}</code>
            </a>
          </li>
        ))}
      </ol>
    </section>
  )
}

function Aside({ job, project }: { job: Job; project: Project }) {
  return (
    <aside>
      <Facts
        of={[
          [common.branch, <RefLink project={project} name={job.ref} isTag={job.tag} />],
          [common.commit, job.commit && <ShaLink project={project} sha={job.commit.id} />],
          ['', job.commit?.title],
          [common.duration, job.duration !== null && <Duration seconds={job.duration} />],
          [common.queued, job.queued_duration !== null && <Duration seconds={job.queued_duration} />],
          [t.finished, job.finished_at && <Time at={job.finished_at} />],
          [t.runner, job.runner && `#${job.runner.id} ${job.runner.description ?? ''}`],
          [common.tags, job.tag_list.length > 0 && job.tag_list.join(', ')],
          [t.coverage, job.coverage !== null && `${job.coverage} %`],
        ]}
      />
      <Artifacts job={job} project={project} />
    </aside>
  )
}

function Artifacts({ job, project }: { job: Job; project: Project }) {
  if (!job.artifacts_file) return null
  return (
    <section class="card ci-artifacts">
      <header>
        <Icon name="folder" /> {rich(t.artifactsSize, { size: <Size bytes={job.artifacts_file.size} /> })}
      </header>
      <p class="row">
        <a class="button" href={below(project, `jobs/${job.id}/artifacts/browse`)}>
          {t.browse}
        </a>
        <a class="button" href={below(project, `jobs/${job.id}/artifacts/download`)} download>
          <Icon name="download" /> {common.download}
        </a>
      </p>
      {job.artifacts_expire_at && (
        <p class="quiet">
          {rich(t.expiresTime, { time: <Time at={job.artifacts_expire_at} /> })}{' '}
          {project.can.run && (
            <ActButton action="keep" kind="plain">
              {' '}
              {t.keepArtifacts}{' '}
            </ActButton>
          )}
        </p>
      )}
      {project.can.deleteArtifacts && (
        <ActButton action="removeArtifacts" kind="plain" confirm={t.deleteJobArtifacts}>
          {t.deleteArtifacts}
        </ActButton>
      )}
    </section>
  )
}
