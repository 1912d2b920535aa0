/** Reads the configuration of a pipeline at its commit and compiles it. */
import type { Context } from '../../../ci/config/context.ts'
import type { Report } from '../../../ci/config/report.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import type { App } from '../../../context.ts'
import { changedPaths } from '../../../git/history/changed-paths.ts'
import { mergeBase } from '../../../git/history/history.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { listTree } from '../../../git/objects/trees.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { compileConfiguration } from './compiling.ts'
import { IncludeReader, fileAt } from './includes.ts'
import { DEFAULT_CONFIG_PATH, ruleVariables, serverOf, type PipelineFacts } from './predefined.ts'

const MOST_CHANGED = 10_000
const MOST_JOBS = 500

export interface ConfigurationRequest {
  readonly subject: RepositorySubject
  readonly facts: PipelineFacts
  readonly commit: Commit | null
  /** Variables of the instance, groups, project, trigger and schedule, in this order. */
  readonly settings: readonly Variable[]
  readonly inputs?: Readonly<Record<string, unknown>> | undefined
  /** More variables that rules may use. */
  readonly mergeRequestVariables?: readonly Variable[]
  /** The merge request of the pipeline, with its base commit. */
  readonly mergeRequest?: { readonly base_sha: string | null } | undefined
  readonly reader?: IncludeReader
}

/** Null if the project has no configuration at that commit. */
export async function readConfiguration(
  subject: Pick<RepositorySubject, 'project' | 'dir'>,
  sha: string,
): Promise<string | null> {
  const path = subject.project.ci_config_path || DEFAULT_CONFIG_PATH
  if (/^https?:\/\//i.test(path)) return JSON.stringify({ include: [{ remote: path }] })
  const [, file, project, ref] = /^([^@]+)@([^@:]+)(?::(.+))?$/.exec(path) ?? []
  if (project) return JSON.stringify({ include: [{ project, file, ...(ref && { ref }) }] })
  return fileAt(subject.dir, sha, path)
}

export async function compileFor(app: App, text: string, request: ConfigurationRequest): Promise<Report> {
  return compileConfiguration(app, text, await contextFor(app, request), { plan: true, details: false })
}

export async function contextFor(app: App, request: ConfigurationRequest): Promise<Context> {
  const { subject, facts, commit, settings } = request
  const { dir, project, namespace, viewer } = subject
  const reader = request.reader ?? new IncludeReader(app, viewer, subject)
  const limits = await loadLimits(app.db)
  return {
    path: project.ci_config_path || DEFAULT_CONFIG_PATH,
    tree: { project: pathWithNamespace(project, namespace), sha: facts.sha },
    ref: facts.ref,
    tag: facts.tag,
    source: facts.source,
    default_branch: project.default_branch,
    predefined: [
      ...ruleVariables(await serverOf(app), subject, facts, commit),
      ...(request.mergeRequestVariables ?? []),
    ],
    variables: settings,
    ...(request.inputs && { inputs: request.inputs }),
    changedPaths: (compareTo) => changedFor(dir, request, compareTo),
    async paths(tree) {
      const found = await reader.project(tree.project)
      const sha = 'sha' in tree ? tree.sha : found && (await resolveCommit(found.dir, tree.ref ?? 'HEAD'))
      const entries = found && sha ? await listTree(found.dir, sha, '', { recursive: true }) : null
      return entries ? entries.filter(({ type }) => type === 'blob').map(({ path }) => path) : null
    },
    readInclude: reader.read,
    limits: { jobs: limits.ci_pipeline_size || MOST_JOBS, needs: limits.ci_needs_size_limit },
  }
}

/** Null if there is nothing to compare: for a new branch, a tag or a schedule. */
async function changedFor(
  dir: string,
  { facts, mergeRequest }: ConfigurationRequest,
  compareTo: string | null,
): Promise<string[] | null> {
  if (compareTo !== null) {
    const other = await resolveCommit(dir, compareTo)
    const base = other && (await mergeBase(dir, [other, facts.sha]))
    return base ? changedPaths(dir, base, facts.sha, MOST_CHANGED) : null
  }
  const from = mergeRequest ? mergeRequest.base_sha : facts.source === 'push' && !facts.tag ? facts.before_sha : null
  if (from === null || from === NO_OBJECT) return null
  if ((await resolveCommit(dir, from)) === null) return null
  return changedPaths(dir, from, facts.sha, MOST_CHANGED)
}
