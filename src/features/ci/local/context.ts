/** The compile context of a working copy: as if the copy were pushed now, with all uncommitted changes. */
import { DEFAULTS } from '../../instance/settings/model.ts'
import { userInfo } from 'node:os'
import type { Context } from '../../../ci/config/context.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import { NO_OBJECT } from '../../../git/refs/update.ts'
import type { PipelineSource } from '../pipelines/model.ts'
import {
  ruleVariables,
  slugOfRef,
  variablesFrom,
  type DescribedProject,
  type PipelineFacts,
} from '../pipelines/predefined.ts'
import { isHere, readIncludeHere, type IncludeSources } from './includes.ts'
import { baseWith, changedSince, filesOf, type WorkingCopy } from './working-copy.ts'

export interface LocalRunOptions extends Omit<IncludeSources, 'artifact'> {
  /** Path from the root of the working copy. */
  readonly file: string
  readonly event: PipelineSource
  /** The target branch of the simulated merge request. */
  readonly target: string
  /** They override the variables of the file. */
  readonly variables: readonly Variable[]
  readonly inputs: Readonly<Record<string, unknown>>
}

/** A working copy without a server uses URLs of this machine. */
const urlOf = ({ origin }: WorkingCopy) => origin?.url ?? 'http://localhost'

function describedIn({ project, default_branch }: WorkingCopy, file: string): DescribedProject {
  const at = project.lastIndexOf('/')
  const path = project.slice(at + 1)
  return {
    project: { path, name: path, visibility: 'private', default_branch, ci_config_path: file },
    namespace: { full_path: project.slice(0, at) },
  }
}

export function factsOf(
  { ref, tag, sha, before_sha, default_branch }: WorkingCopy,
  event: PipelineSource,
): PipelineFacts {
  // By default, a server protects the default branch.
  return { ref, tag, sha, before_sha, source: event, protected: !tag && ref === default_branch }
}

export async function predefinedFor(input: LocalRunOptions): Promise<Variable[]> {
  const { copy, event, file } = input
  const about = ruleVariables(
    { url: urlOf(copy), version: DEFAULTS.reported_version },
    describedIn(copy, file),
    factsOf(copy, event),
    copy.commit,
  )
  return [...about, ...(event === 'merge_request_event' ? await ofMergeRequest(input) : [])]
}

async function ofMergeRequest({ copy, target }: LocalRunOptions): Promise<Variable[]> {
  const { ref, sha, project } = copy
  return variablesFrom({
    CI_COMMIT_REF_NAME: ref,
    CI_COMMIT_REF_SLUG: slugOfRef(ref),
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_MERGE_REQUEST_PROJECT_PATH: project,
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: project,
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: ref,
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: sha,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: target,
    CI_MERGE_REQUEST_DIFF_BASE_SHA: await baseWith(copy, target),
  })
}

export const ofUser = ({ user }: WorkingCopy): Variable[] =>
  variablesFrom({ GITLAB_USER_LOGIN: userInfo().username, GITLAB_USER_NAME: user.name, GITLAB_USER_EMAIL: user.email })

export async function contextOf(input: LocalRunOptions, artifact?: IncludeSources['artifact']): Promise<Context> {
  const { copy, file, event, server } = input
  return {
    path: file,
    tree: { project: copy.project, sha: copy.sha },
    ref: copy.ref,
    tag: copy.tag,
    source: event,
    default_branch: copy.default_branch,
    predefined: await predefinedFor(input),
    variables: input.variables,
    inputs: input.inputs,
    changedPaths: (compareTo) => changedFor(input, compareTo),
    async paths(tree) {
      if ('sha' in tree ? isHere(copy, tree) : tree.project === copy.project && tree.ref === null) return filesOf(copy)
      return server ? server.paths(tree.project, 'sha' in tree ? tree.sha : tree.ref) : null
    },
    readInclude: (include, from) => readIncludeHere(include, from, { ...input, artifact }),
  }
}

/** Null if a server would compare nothing: for a branch that the server does not know yet, a tag or a schedule. */
async function changedFor(
  { copy, event, target }: LocalRunOptions,
  compareTo: string | null,
): Promise<string[] | null> {
  const other = compareTo ?? (event === 'merge_request_event' ? target : null)
  if (other !== null) {
    const base = await baseWith(copy, other)
    return base === null ? null : changedSince(copy, base)
  }
  if (event !== 'push' || copy.tag || copy.before_sha === NO_OBJECT) return null
  return changedSince(copy, copy.before_sha)
}
