/** Shared parts of pipeline and job pages. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../api.ts'
import { below, type Project } from '../layout/project.tsx'
import { pathOf, locationAddress } from '../refs.ts'
import { ActButton } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { State, lookOf } from './State.tsx'
import { Duration, Time } from './Time.tsx'
import { Row, Rows, Tabs, type Tab } from './lists.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/ci.ts'
import './CiParts.css'

export type Job = Records['Job']
export type ListedPipeline = Records['ListedPipeline']

/** Whether the status may still change. */
export const isUnfinished = (status: string): boolean =>
  ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'canceling', 'scheduled'].includes(status)

const TABS = [
  ['pipelines', common.pipelines],
  ['jobs', t.jobs],
  ['environments', t.environments],
  ['pipeline_schedules', t.schedules],
  ['ci/editor', t.editor],
] as const

export function CiTabs({ project, at }: { project: Project; at: (typeof TABS)[number][0] | 'settings/ci_cd' }) {
  const tabs = TABS.map(([rest, text]) => ({ text, href: below(project, rest), isCurrent: rest === at }))
  const settings = { text: common.settings, href: below(project, 'settings/ci_cd'), isCurrent: at === 'settings/ci_cd' }
  return <SubTabs label={t.ciCd} tabs={project.can.administer ? [...tabs, settings] : tabs} />
}

/** Tabs inside a page, aligned with its content. */
export const SubTabs = (props: { tabs: readonly Tab[]; label: string }) => (
  <div class="ci-tabs">
    <Tabs {...props} />
  </div>
)

export const RefLink = ({ project, name, isTag = false }: { project: Project; name: string; isTag?: boolean }) => {
  const request = /^refs\/merge-requests\/(\d+)\//.exec(name)
  if (request)
    return (
      <a href={below(project, `merge_requests/${request[1]}`)}>
        <Icon name="merge-request" /> !{request[1]}
      </a>
    )
  return (
    <a href={locationAddress(project, 'tree', name)}>
      <Icon name={isTag ? 'tag' : 'branch'} /> {name}
    </a>
  )
}

export const ShaLink = ({ project, sha }: { project: Project; sha: string }) => (
  <a class="ci-sha" href={below(project, `commit/${sha}`)}>
    {sha.slice(0, 8)}
  </a>
)

export const sourceText = (source: string): string => source.replaceAll('_', ' ')

const StateWord = ({ of }: { of: string }) => <>{lookOf(of)[2]}</>

export function PipelineRows({ project, pipelines }: { project: Project; pipelines: readonly ListedPipeline[] }) {
  return (
    <Rows label={common.pipelines}>
      {pipelines.map((one) => (
        <Row
          key={one.id}
          lead={<State of={one.status} isShort />}
          title={<a href={pathOf(one.web_url)}>{one.name ?? t.pipelineNumber(one.id)}</a>}
          facts={
            <>
              <StateWord of={one.status} />, {sourceText(one.source)} <RefLink project={project} name={one.ref} />{' '}
              <ShaLink project={project} sha={one.sha} /> <Time at={one.created_at} />
            </>
          }
        />
      ))}
    </Rows>
  )
}

export function JobRows({ project, jobs, isOfPipeline = false }: JobRowsProps) {
  return (
    <Rows label={t.jobs}>
      {jobs.map((job) => (
        <Row
          key={job.id}
          id={`job-${job.id}`}
          lead={<State of={job.status} isShort />}
          title={<a href={below(project, `jobs/${job.id}`)}>{job.name}</a>}
          facts={
            <>
              #{job.id}, {job.stage}
              {!isOfPipeline && (
                <>
                  , <a href={pathOf(job.pipeline.web_url)}>{t.pipelineInline(job.pipeline.id)}</a>{' '}
                  <RefLink project={project} name={job.ref} isTag={job.tag} />{' '}
                  {job.commit && <ShaLink project={project} sha={job.commit.id} />}
                </>
              )}{' '}
              {job.failure_reason && failureText(job.failure_reason)} {job.allow_failure && t.allowedToFail}{' '}
              {job.finished_at && <Time at={job.finished_at} />}
            </>
          }
          aside={
            <>
              {job.duration !== null && <Duration seconds={job.duration} />}
              {project.can.run && <JobButtons job={job} />}
            </>
          }
        />
      ))}
    </Rows>
  )
}

interface JobRowsProps {
  project: Project
  jobs: readonly Job[]
  /** The page already names the pipeline. */
  isOfPipeline?: boolean
}

/** Buttons for the possible actions on a job. The page must have the actions `play`, `retry` and `cancel`. */
function JobButtons({ job }: { job: Pick<Job, 'id' | 'status' | 'name'> }) {
  const fields = { job: job.id }
  const id = `job-${job.id}`
  if (job.status === 'manual' || job.status === 'scheduled')
    return (
      <ActButton action="play" fields={fields} id={id} label={t.runName(job.name)}>
        {' '}
        {t.run}{' '}
      </ActButton>
    )
  if (isUnfinished(job.status))
    return job.status === 'canceling' ? null : (
      <ActButton action="cancel" fields={fields} id={id} label={t.cancelName(job.name)}>
        {common.cancel}
      </ActButton>
    )
  if (job.status === 'skipped') return null
  return (
    <ActButton action="retry" fields={fields} id={id} label={t.retryName(job.name)}>
      {common.retry}
    </ActButton>
  )
}

/** Facts in two columns: name and value. */
export const Facts = ({ of }: { of: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="ci-facts">
    {of
      .filter(([, value]) => value !== null && value !== undefined && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)

export const none = <T,>(): Listed<T[]> => ({
  items: [],
  page: 1,
  next: null,
  previous: null,
  total: 0,
  pages: 0,
})

const STEPS = ['bytes', 'KB', 'MB', 'GB'] as const

export function Size({ bytes }: { bytes: number }) {
  const step = Math.min(STEPS.length - 1, bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** step
  return (
    <span class="ci-size">{bytes === 1 ? t.oneByte : `${step === 0 ? amount : amount.toFixed(1)} ${STEPS[step]}`}</span>
  )
}

const FAILURES: Record<string, string> = {
  script_failure: t.theScriptExitedWithError,
  api_failure: t.anApiRequestFailed,
  stuck_or_timeout_failure: t.noRunnerPickedUpJob,
  job_execution_timeout: t.theJobExceededTimeout,
  runner_system_failure: t.runnerSystemFailure,
  runner_unsupported: t.theRunnerIsOutdated,
  runner_configuration_error: t.theRunnerIsMisconfigured,
  runner_external_dependency_failure: t.anExternalDependencyOfRunnerFailed,
  runner_interrupted: t.theRunnerWasInterrupted,
  image_pull_failure: t.theImageCouldNotBePulled,
  missing_dependency_failure: t.artifactsOfPreviousJobAreMissing,
  stale_schedule: t.theDelayedJobCouldNot,
  archived_failure: t.theJobIsArchived,
  unmet_prerequisites: t.prerequisitesAreNotMet,
  scheduler_failure: t.theSchedulerFailed,
  data_integrity_failure: t.dataIntegrityFailure,
  environment_creation_failure: t.theEnvironmentCouldNotBeCreated,
  unknown_failure: t.unknownFailure,
}

/** The failure reason of a job as text. */
export const failureText = (reason: string): string => FAILURES[reason] ?? reason.replaceAll('_', ' ')
