/** Shared parts of pipeline and job pages. */
import type { ComponentChildren } from 'preact'
import type { Listed, Records } from '../api.ts'
import { below, type Project } from '../layout/project.tsx'
import { levelOf } from '../levels.ts'
import { pathOf, locationAddress } from '../refs.ts'
import { ActButton } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { State, lookOf } from './State.tsx'
import { Duration, Time } from './Time.tsx'
import { Row, Rows, Tabs, type Tab } from './lists.tsx'

export type Job = Records['Job']
export type ListedPipeline = Records['ListedPipeline']

export const DEVELOPER = 30
export const MAINTAINER = 40

/** Whether the status may still change. */
export const isUnfinished = (status: string): boolean =>
  ['created', 'waiting_for_resource', 'preparing', 'pending', 'running', 'canceling', 'scheduled'].includes(status)

export const mayRun = (project: Project): boolean => levelOf(project) >= DEVELOPER && !project.archived
export const mayAdminister = (project: Project): boolean => levelOf(project) >= MAINTAINER

const PLACES = [
  ['pipelines', 'Pipelines'],
  ['jobs', 'Jobs'],
  ['environments', 'Environments'],
  ['pipeline_schedules', 'Schedules'],
  ['ci/editor', 'Editor'],
] as const

export function CiTabs({ project, at }: { project: Project; at: (typeof PLACES)[number][0] | 'settings/ci_cd' }) {
  const tabs = PLACES.map(([rest, text]) => ({ text, href: below(project, rest), isCurrent: rest === at }))
  const settings = { text: 'Settings', href: below(project, 'settings/ci_cd'), isCurrent: at === 'settings/ci_cd' }
  return <SubTabs label="CI/CD" tabs={mayAdminister(project) ? [...tabs, settings] : tabs} />
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
    <Rows label="Pipelines">
      {pipelines.map((one) => (
        <Row
          key={one.id}
          lead={<State of={one.status} isShort />}
          title={<a href={pathOf(one.web_url)}>{one.name ?? `Pipeline #${one.id}`}</a>}
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
    <Rows label="Jobs">
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
                  , <a href={pathOf(job.pipeline.web_url)}>pipeline #{job.pipeline.id}</a>{' '}
                  <RefLink project={project} name={job.ref} isTag={job.tag} />{' '}
                  {job.commit && <ShaLink project={project} sha={job.commit.id} />}
                </>
              )}{' '}
              {job.failure_reason && failureText(job.failure_reason)} {job.allow_failure && 'allowed to fail'}{' '}
              {job.finished_at && <Time at={job.finished_at} />}
            </>
          }
          aside={
            <>
              {job.duration !== null && <Duration seconds={job.duration} />}
              {mayRun(project) && <JobButtons job={job} />}
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
export function JobButtons({ job }: { job: Pick<Job, 'id' | 'status' | 'name'> }) {
  const fields = { job: job.id }
  const id = `job-${job.id}`
  if (job.status === 'manual' || job.status === 'scheduled')
    return (
      <ActButton action="play" fields={fields} id={id} label={`Run ${job.name}`}>
        {' '}
        Run{' '}
      </ActButton>
    )
  if (isUnfinished(job.status))
    return job.status === 'canceling' ? null : (
      <ActButton action="cancel" fields={fields} id={id} label={`Cancel ${job.name}`}>
        Cancel
      </ActButton>
    )
  if (job.status === 'skipped') return null
  return (
    <ActButton action="retry" fields={fields} id={id} label={`Retry ${job.name}`}>
      Retry
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
    <span class="ci-size">{bytes === 1 ? '1 byte' : `${step === 0 ? amount : amount.toFixed(1)} ${STEPS[step]}`}</span>
  )
}

const FAILURES: Record<string, string> = {
  script_failure: 'the script exited with an error',
  api_failure: 'an API request failed',
  stuck_or_timeout_failure: 'no runner picked up the job in time',
  job_execution_timeout: 'the job exceeded the timeout',
  runner_system_failure: 'runner system failure',
  runner_unsupported: 'the runner is outdated',
  runner_configuration_error: 'the runner is misconfigured',
  runner_external_dependency_failure: 'an external dependency of the runner failed',
  runner_interrupted: 'the runner was interrupted',
  image_pull_failure: 'the image could not be pulled',
  missing_dependency_failure: 'artifacts of a previous job are missing',
  stale_schedule: 'the delayed job could not be started in time',
  archived_failure: 'the job is archived',
  unmet_prerequisites: 'prerequisites are not met',
  scheduler_failure: 'the scheduler failed',
  data_integrity_failure: 'data integrity failure',
  environment_creation_failure: 'the environment could not be created',
  unknown_failure: 'unknown failure',
}

/** The failure reason of a job as text. */
export const failureText = (reason: string): string => FAILURES[reason] ?? reason.replaceAll('_', ' ')
