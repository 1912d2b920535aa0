/**
 * The payload of a job in the runner protocol. Types are as strict as those of the reference runner; null means absent.
 */
import { z } from 'zod'

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '')
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
const count = z
  .int()
  .nonnegative()
  .nullish()
  .transform((value) => value ?? 0)
const listOf = <T extends z.ZodType>(type: T) =>
  z
    .array(type)
    .nullish()
    .transform((value) => value ?? [])
const texts = listOf(z.string())

const variable = z.object({ key: z.string(), value: text, public: flag, file: flag, masked: flag, raw: flag })

const image = z.object({
  name: text,
  entrypoint: texts,
  pull_policy: z
    .union([z.string().transform((policy) => [policy]), z.array(z.string())])
    .nullish()
    .transform((value) => value ?? []),
  executor_opts: z.object({ docker: z.object({ platform: text, user: text }).nullish() }).nullish(),
})

const service = image.extend({ alias: text, command: texts, variables: listOf(variable) })

const step = z.object({ name: z.string(), script: texts, timeout: count, when: text, allow_failure: flag })

const artifact = z.object({
  name: text,
  untracked: flag,
  paths: texts,
  exclude: texts,
  when: text,
  expire_in: text,
  artifact_type: text,
  artifact_format: text,
})

const cache = z.object({
  key: text,
  untracked: flag,
  paths: texts,
  policy: text,
  when: text,
  fallback_keys: texts,
  /** Some servers do not send this field. */
  unprotect: flag,
})

const dependency = z.object({
  id: z.int(),
  name: text,
  token: text,
  artifacts_file: z
    .object({ filename: text, size: count })
    .nullish()
    .transform((value) => value ?? { filename: '', size: 0 }),
})

const jobInfo = z.object({ name: text, stage: text, project_id: count, project_name: text })

export const jobSchema = z.object({
  id: z.int().positive(),
  token: z.string().min(1),
  allow_git_fetch: flag,
  job_info: jobInfo.nullish().transform((value) => value ?? { name: '', stage: '', project_id: 0, project_name: '' }),
  git_info: z.object({
    repo_url: z.string(),
    ref: text,
    sha: z.string().regex(/^[0-9a-f]{8,64}$/),
    ref_type: text,
    refspecs: texts,
    depth: count,
    protected: flag,
  }),
  runner_info: z
    .object({ timeout: count })
    .nullish()
    .transform((value) => value ?? { timeout: 0 }),
  variables: listOf(variable),
  steps: listOf(step),
  image: image.nullish().transform((value) => value ?? null),
  services: listOf(service),
  artifacts: listOf(artifact),
  cache: listOf(cache),
  credentials: listOf(z.object({ type: text, url: text, username: text, password: text })),
  dependencies: listOf(dependency),
  features: z
    .object({ trace_sections: flag, failure_reasons: texts, token_mask_prefixes: texts })
    .nullish()
    .transform((value) => value ?? { trace_sections: false, failure_reasons: [], token_mask_prefixes: [] }),
  hooks: listOf(z.object({ name: z.string(), script: texts })),
  secrets: z
    .record(z.string(), z.unknown())
    .nullish()
    .transform((value) => value ?? {}),
  run: z.string().optional(),
})

export type Job = z.output<typeof jobSchema>
/** The input type, in which fields with defaults are optional. */
export type JobInput = z.input<typeof jobSchema>
export type JobVariable = Job['variables'][number]
export type Image = z.output<typeof image>
export type Service = Job['services'][number]
export type Artifact = Job['artifacts'][number]
export type Cache = Job['cache'][number]
export type Dependency = Job['dependencies'][number]

export type FailureReason =
  | 'script_failure'
  | 'runner_system_failure'
  | 'job_execution_timeout'
  | 'image_pull_failure'
  | 'runner_configuration_error'
  | 'runner_interrupted'
  | 'unknown_failure'

export interface JobResult {
  readonly state: 'success' | 'failed'
  readonly failureReason?: FailureReason
  readonly exitCode?: number
  /** Nothing of the script ran, and a retry may succeed. The server returns the job to its queue. */
  readonly isGivenBack?: true
}

/** Ends a job. The log ends with the message. */
export class JobFailed extends Error {
  override name = 'JobFailed'
  readonly reason: FailureReason
  readonly exitCode: number | undefined
  /** The server is temporarily unavailable. */
  readonly isTemporary: boolean
  constructor(
    reason: FailureReason,
    message: string,
    { exitCode, cause, isTemporary = false }: { exitCode?: number; cause?: unknown; isTemporary?: boolean } = {},
  ) {
    super(message, { cause })
    this.reason = reason
    this.exitCode = exitCode
    this.isTemporary = isTemporary
  }
}
