/** Converts a job's configuration to the format for runners. Pure: both the server and local runs use it. */
import type { JobOptions } from '../jobs/options.ts'

type Options = Partial<JobOptions>

const AFTER_SCRIPT_SECONDS = 300
export const FAILURE_REASONS = [
  'unknown_failure',
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'image_pull_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
]

export function definitionOf(options: Options, timeout: number | null) {
  return {
    steps: stepsOf(timeout, options),
    image: options.image ? imageOf(options.image) : null,
    services: (options.services ?? []).map((service) => ({
      ...imageOf(service),
      alias: service.alias,
      command: service.command,
      variables: service.variables.map(({ key, value, expand }) => ({
        key,
        value,
        public: true,
        file: false,
        masked: false,
        raw: !expand,
      })),
    })),
    artifacts: artifactsOf(options),
    hooks: options.hooks ? [{ name: 'pre_get_sources_script', script: options.hooks.pre_get_sources_script }] : [],
    ...(options.run && { run: JSON.stringify(options.run) }),
  }
}

function stepsOf(seconds: number | null, { before_script = [], script = [], after_script = [], release }: Options) {
  const timeout = seconds ?? 0
  const step = (name: string, lines: readonly string[], more = {}) => ({
    name,
    script: lines,
    timeout,
    when: 'on_success',
    allow_failure: false,
    ...more,
  })
  return [
    step('script', [...before_script, ...script]),
    ...(release ? [step('release', [releaseCommand(release)])] : []),
    ...(after_script.length > 0
      ? [step('after_script', after_script, { when: 'always', allow_failure: true, timeout: AFTER_SCRIPT_SECONDS })]
      : []),
  ]
}

/** The shell still expands variables in the quoted text. */
const quoted = (text: string) => `"${text.replaceAll(/[\\"`]/g, '\\$&')}"`

function releaseCommand(release: NonNullable<JobOptions['release']>): string {
  const { tag_name, description, tag_message, name, ref, milestones, released_at, links } = release
  const flags: readonly (readonly [string, string | null])[] = [
    ['--name', name],
    ['--description', description],
    ['--tag-name', tag_name],
    ['--tag-message', tag_message],
    ['--ref', ref ?? '$CI_COMMIT_SHA'],
    ['--released-at', released_at],
    ...milestones.map((milestone) => ['--milestone', milestone] as const),
    ...links.map(
      ({ name, url, filepath, link_type }) =>
        [
          '--assets-link',
          JSON.stringify({ name, url, ...(filepath && { filepath }), ...(link_type && { link_type }) }),
        ] as const,
    ),
  ]
  return [
    'release-cli create',
    ...flags.flatMap(([flag, value]) => (value === null ? [] : [`${flag} ${quoted(value)}`])),
  ].join(' ')
}

const imageOf = ({ name, entrypoint, pull_policy, executor_opts }: NonNullable<JobOptions['image']>) => ({
  name,
  entrypoint,
  ports: [],
  pull_policy,
  executor_opts: executor_opts ?? {},
})

/** The default file name of each report type, and how the runner packs it. */
const REPORTS: Readonly<Record<string, readonly [filename: string, format: 'gzip' | 'raw' | 'zip']>> = {
  junit: ['junit.xml', 'gzip'],
  dotenv: ['.env', 'gzip'],
  cobertura: ['cobertura-coverage.xml', 'gzip'],
  jacoco: ['jacoco-coverage.xml', 'gzip'],
  metrics: ['metrics.txt', 'gzip'],
  cyclonedx: ['gl-sbom.cdx.json', 'gzip'],
  annotations: ['gl-annotations.json', 'gzip'],
  codequality: ['gl-code-quality-report.json', 'raw'],
  accessibility: ['gl-accessibility.json', 'raw'],
  terraform: ['tfplan.json', 'raw'],
  sast: ['gl-sast-report.json', 'raw'],
  secret_detection: ['gl-secret-detection-report.json', 'raw'],
  lsif: ['lsif.json', 'zip'],
}

const reportFormat = (type: string): 'gzip' | 'raw' | 'zip' => REPORTS[type]?.[1] ?? 'raw'

function artifactsOf({ artifacts }: Options) {
  if (!artifacts) return null
  const { name, untracked, paths, exclude, when, expire_in, reports } = artifacts
  const archive =
    paths.length > 0 || untracked
      ? [{ name, untracked, paths, exclude, when, expire_in, artifact_type: 'archive', artifact_format: 'zip' }]
      : []
  return [
    ...archive,
    ...Object.entries(reports).map(([type, files]) => ({
      name: REPORTS[type]?.[0] ?? `gl-${type.replaceAll('_', '-')}-report.json`,
      untracked: false,
      paths: files,
      exclude: [],
      when: 'always',
      expire_in,
      artifact_type: type,
      artifact_format: reportFormat(type),
    })),
  ]
}
