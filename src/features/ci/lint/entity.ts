import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Included } from '../../../ci/config/context.ts'
import type { PlannedJob } from '../../../ci/config/plan.ts'
import type { JobOutline, Report } from '../../../ci/config/report.ts'

const PolicyEntity = entity({ refs: z.array(z.string()) }).nullable()

export const LintedJobEntity = entity({
  name: z.string(),
  stage: z.string(),
  before_script: z.array(z.string()),
  script: z.array(z.string()),
  after_script: z.array(z.string()),
  tag_list: z.array(z.string()),
  only: PolicyEntity,
  except: PolicyEntity,
  environment: z.string().nullable(),
  when: z.string(),
  allow_failure: z.boolean(),
  needs: z.array(entity({ name: z.string(), artifacts: z.boolean() })).nullable(),
}).meta({ id: 'LintedJob' })

export const LintEntity = entity({
  valid: z.boolean(),
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  merged_yaml: z.string().nullable(),
  includes: z.array(
    entity({
      type: z.string(),
      location: z.string(),
      blob: z.string().nullable(),
      raw: z.string().nullable(),
      extra: z.record(z.string(), z.string()),
      context_project: z.string().nullable(),
      context_sha: z.string().nullable(),
    }),
  ),
  jobs: z.array(LintedJobEntity).optional(),
}).meta({ id: 'Lint' })

export const InstanceLintEntity = entity({
  status: z.enum(['valid', 'invalid']),
  errors: z.array(z.string()),
  warnings: z.array(z.string()),
  includes: LintEntity.shape.includes,
  merged_yaml: z.string().nullable().optional(),
  jobs: z.array(LintedJobEntity).optional(),
}).meta({ id: 'InstanceLint' })

export const NOTHING_TO_CHECK = 'Please provide content of .gitlab-ci.yml'

type Lint = z.infer<typeof LintEntity>

export const presentFault = (message: string): Lint => ({
  valid: false,
  errors: [message],
  warnings: [],
  merged_yaml: null,
  includes: [],
})

interface LintOptions {
  /** The URL of the project's pages. */
  readonly url: string
  readonly withJobs: boolean
}

export function presentLint(report: Report, { url, withJobs }: LintOptions): Lint {
  const jobs = report.plan ? report.plan.jobs.map(presentPlanned) : report.jobs.map(presentJob)
  return {
    valid: report.errors.length === 0,
    errors: report.errors.map(({ message }) => message),
    warnings: [...report.warnings],
    merged_yaml: report.merged,
    includes: report.includes.map((one) => presentInclude(one, url)),
    ...(withJobs && { jobs }),
  }
}

/** The words that current clients expect. */
const TYPES: Record<Included['type'], string> = {
  local: 'local',
  project: 'file',
  remote: 'remote',
  template: 'template',
  component: 'component',
  artifact: 'artifact',
}

function presentInclude(
  { type, location, context_project, context_sha }: Included,
  url: string,
): Lint['includes'][number] {
  const path = location.replace(/^\//, '')
  const isLocal = type === 'local' && context_project !== null && context_sha !== null
  const at = (page: string) => `${url}/${context_project}/-/${page}/${context_sha}/${path}`
  return {
    type: TYPES[type],
    location,
    blob: isLocal ? at('blob') : null,
    raw: isLocal ? at('raw') : type === 'remote' ? location : null,
    extra: {},
    context_project,
    context_sha,
  }
}

const presentCommon = (job: JobOutline | PlannedJob) => ({
  name: job.name,
  stage: job.stage,
  before_script: [...job.before_script],
  script: [...job.script],
  after_script: [...job.after_script],
  tag_list: [...job.tags],
  environment: job.environment?.name ?? null,
  when: job.when,
  allow_failure: job.allow_failure === true,
  needs: job.needs
    ? job.needs.flatMap((need) => (need.kind === 'job' ? { name: need.job, artifacts: need.artifacts } : []))
    : null,
})

const presentPolicy = (policy: JobOutline['only']) => policy && { refs: [...(policy.refs ?? [])] }

const presentJob = (job: JobOutline): z.infer<typeof LintedJobEntity> => ({
  ...presentCommon(job),
  only: presentPolicy(job.only),
  except: presentPolicy(job.except),
})

/** `only` and `except` are null, because the simulated pipeline has already evaluated them. */
const presentPlanned = (job: PlannedJob): z.infer<typeof LintedJobEntity> => ({
  ...presentCommon(job),
  only: null,
  except: null,
})
