/** Variables about a project, a commit and a pipeline, for rules and for every job. */
import type { Variable } from '../../../ci/config/variables.ts'
import type { App } from '../../../context.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { localTime } from '../../../lib/time/local-time.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { VERSION } from '../../../version.ts'
import { settingsAtHand } from '../../instance/settings/queries.ts'
import { pathWithNamespace, webUrlOf, type Namespace, type Project } from '../../projects/projects/queries.ts'
import type { Pipeline } from './model.ts'

export const DEFAULT_CONFIG_PATH = '.gitlab-ci.yml'

/** The optional fields do not exist yet when rules are evaluated. */
export type PipelineFacts = Pick<Pipeline, 'ref' | 'tag' | 'sha' | 'before_sha' | 'source' | 'protected'> &
  Partial<Pick<Pipeline, 'id' | 'iid' | 'name' | 'created_at'>>

/** A stored project, or the facts that a working copy knows. */
export interface DescribedProject {
  readonly project: Partial<
    Pick<Project, 'id' | 'name' | 'description' | 'visibility' | 'default_branch' | 'ci_config_path'>
  > &
    Pick<Project, 'path'>
  readonly namespace: Partial<Pick<Namespace, 'id'>> & Pick<Namespace, 'full_path'>
}

export type DescribedCommit = Pick<Commit, 'message' | 'title' | 'author' | 'committer'>

export const slugOfRef = (ref: string): string =>
  ref
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')

type Values = Readonly<Record<string, string | number | boolean | null | undefined>>

/** Skips null values. */
export const variablesFrom = (values: Values): Variable[] =>
  Object.entries(values).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: String(value), raw: true }],
  )

/** Facts about the server for jobs. */
export interface Server {
  readonly url: string
  /** The release that the server reports at `GET /version`. */
  readonly version: string
  /** The address of git over SSH, if enabled. */
  readonly ssh?: { readonly host: string; readonly port: string } | null
}

export async function serverOf(app: App): Promise<Server> {
  const { sshUrl, sshPort } = app.config
  const { reported_version } = await settingsAtHand(app)
  const { hostname: host, port } = new URL(sshUrl || `ssh://${new URL(app.url).hostname}:${sshPort ?? 22}`)
  const hasSsh = sshUrl !== '' && (sshUrl !== null || sshPort !== null)
  return { url: app.url, version: reported_version, ssh: hasSsh ? { host, port: port || '22' } : null }
}

export function serverVariables({ url, version, ssh = null }: Server): Variable[] {
  const { protocol, hostname, port, host } = new URL(url)
  const usual = protocol === 'https:' ? '443' : '80'
  const [major, minor, patch] = version.split('.')
  return variablesFrom({
    CI: true,
    GITLAB_CI: true,
    CI_SERVER_NAME: 'Mortise',
    CI_SERVER_VERSION: version,
    CI_SERVER_VERSION_MAJOR: major,
    CI_SERVER_VERSION_MINOR: minor,
    CI_SERVER_VERSION_PATCH: patch,
    CI_SERVER_REVISION: `mortise-${VERSION}`,
    CI_SERVER_URL: url,
    CI_SERVER_HOST: hostname,
    CI_SERVER_PORT: port || usual,
    CI_SERVER_PROTOCOL: protocol.slice(0, -1),
    CI_SERVER_FQDN: host,
    CI_SERVER_SHELL_SSH_HOST: ssh?.host ?? hostname,
    CI_SERVER_SHELL_SSH_PORT: ssh?.port,
    CI_API_V4_URL: `${url}/api/v4`,
    GITLAB_FEATURES: '',
  })
}

export function projectVariables(app: Pick<App, 'url'>, subject: DescribedProject): Variable[] {
  const { project, namespace } = subject
  const path = pathWithNamespace(project, namespace)
  return variablesFrom({
    CI_PROJECT_ID: project.id,
    CI_PROJECT_NAME: project.path,
    CI_PROJECT_TITLE: project.name,
    CI_PROJECT_DESCRIPTION: project.description ?? '',
    CI_PROJECT_PATH: path,
    CI_PROJECT_PATH_SLUG: slugOfRef(path),
    CI_PROJECT_NAMESPACE: namespace.full_path,
    CI_PROJECT_NAMESPACE_ID: namespace.id,
    CI_PROJECT_NAMESPACE_SLUG: slugOfRef(namespace.full_path),
    CI_PROJECT_ROOT_NAMESPACE: namespace.full_path.split('/')[0],
    CI_PROJECT_URL: webUrlOf(app, subject),
    CI_PROJECT_VISIBILITY: project.visibility,
    CI_PROJECT_CLASSIFICATION_LABEL: '',
    CI_DEFAULT_BRANCH: project.default_branch,
    CI_CONFIG_PATH: project.ci_config_path || DEFAULT_CONFIG_PATH,
  })
}

const LONGEST_MESSAGE = 50_000

export function pipelineVariables(
  app: Pick<App, 'url'>,
  subject: DescribedProject,
  pipeline: PipelineFacts,
  commit: DescribedCommit | null,
): Variable[] {
  const { ref, tag, sha, before_sha, source } = pipeline
  const isMergeRequest = source === 'merge_request_event'
  const shown = isMergeRequest ? null : ref
  return variablesFrom({
    CI_PIPELINE_ID: pipeline.id,
    CI_PIPELINE_IID: pipeline.iid,
    CI_PIPELINE_URL: pipeline.id === undefined ? null : pageBelow(webUrlOf(app, subject), `pipelines/${pipeline.id}`),
    CI_PIPELINE_NAME: pipeline.name,
    CI_PIPELINE_CREATED_AT: pipeline.created_at,
    CI_PIPELINE_SOURCE: source,
    CI_PIPELINE_TRIGGERED: source === 'trigger' ? true : null,
    CI_COMMIT_SHA: sha,
    CI_COMMIT_SHORT_SHA: sha.slice(0, 8),
    CI_COMMIT_BEFORE_SHA: before_sha,
    CI_COMMIT_REF_NAME: shown,
    CI_COMMIT_REF_SLUG: shown && slugOfRef(shown),
    CI_COMMIT_REF_PROTECTED: pipeline.protected,
    CI_COMMIT_BRANCH: tag ? null : shown,
    CI_COMMIT_TAG: tag ? ref : null,
    ...(commit && {
      CI_COMMIT_MESSAGE: commit.message.slice(0, LONGEST_MESSAGE),
      CI_COMMIT_TITLE: commit.title,
      CI_COMMIT_DESCRIPTION: descriptionOf(commit),
      CI_COMMIT_AUTHOR: `${commit.author.name} <${commit.author.email}>`,
      CI_COMMIT_TIMESTAMP: localTime(commit.committer),
    }),
    // The names in releases before 9.0.
    CI_BUILD_REF: sha,
    CI_BUILD_BEFORE_SHA: before_sha,
    CI_BUILD_REF_NAME: shown,
    CI_BUILD_REF_SLUG: shown && slugOfRef(shown),
    CI_BUILD_TAG: tag ? ref : null,
    CI_BUILD_TRIGGERED: source === 'trigger' ? true : null,
  })
}

const descriptionOf = ({ message, title }: DescribedCommit) =>
  message
    .slice(message.indexOf(title) + title.length)
    .replace(/^\s+/, '')
    .slice(0, LONGEST_MESSAGE)

/** Variables that rules may use: none that need a stored job or pipeline. */
export const ruleVariables = (
  server: Server,
  subject: DescribedProject,
  pipeline: PipelineFacts,
  commit: DescribedCommit | null,
): Variable[] => [
  ...serverVariables(server),
  ...projectVariables(server, subject),
  ...pipelineVariables(server, subject, pipeline, commit),
]
