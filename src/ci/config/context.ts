/** The context of a configuration: facts about the pipeline, and functions to ask for more. */
import type { LimitedCaller } from '../../lib/async/limiter.ts'
import { newMapping, type Mapping } from './tree.ts'
import type { Variable } from './variables.ts'

/**
 * The tree that contains a file. Local includes and globs of the file use the same tree. Null for a file from a URL.
 */
export interface Tree {
  readonly project: string
  readonly sha: string
}

export type Include =
  | { readonly type: 'local'; readonly path: string }
  | { readonly type: 'project'; readonly project: string; readonly ref: string | null; readonly path: string }
  | { readonly type: 'remote'; readonly url: string; readonly integrity: string | null }
  | { readonly type: 'template'; readonly name: string }
  | { readonly type: 'component'; readonly address: string }
  | { readonly type: 'artifact'; readonly path: string; readonly job: string }

export type IncludeFailure =
  | 'no_project'
  | 'no_ref'
  | 'no_file'
  | 'timeout'
  | 'unreachable'
  | 'bad_address'
  | 'integrity'
  | 'not_allowed'
  /** The file is on a server, and no server is configured. */
  | 'no_server'
  /** The status of an HTTP answer. */
  | number

/** Facts about a component that it may use. */
export interface Component {
  readonly name: string
  readonly sha: string
  /** The tag of the component. Null for a branch or a commit. */
  readonly version: string | null
  /** The reference of the including file, after the `@`. */
  readonly reference: string
}

export type IncludeAnswer =
  | { readonly text: string; readonly tree: Tree | null; readonly component?: Component }
  | { readonly failure: IncludeFailure }

export interface Context {
  /** The caller that waits for the result. */
  readonly caller?: LimitedCaller | undefined
  /** The path of the configuration in its repository: `.gitlab-ci.yml`. */
  readonly path: string
  readonly tree: Tree
  readonly ref: string
  readonly tag: boolean
  /** The source of the pipeline: `push`, `merge_request_event` … */
  readonly source: string
  readonly default_branch: string | null
  /** Variables about the pipeline for rules. The variables of the file override these. */
  readonly predefined: readonly Variable[]
  /**
   * Variables of the instance, groups, project, trigger and schedule. Later ones override earlier ones, and all
   * override the file.
   */
  readonly variables: readonly Variable[]
  /** For `spec: inputs` of the first file. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /**
   * Changed paths of the push or the merge request, or since the merge base with `compareTo`. Null if no comparison is
   * defined.
   */
  changedPaths(compareTo: string | null): Promise<readonly string[] | null>
  /** All paths of a tree, or of another project that a rule names. Null if the user may not read that project. */
  paths(tree: Tree | { readonly project: string; readonly ref: string | null }): Promise<readonly string[] | null>
  readInclude(include: Include, from: Tree | null): Promise<IncludeAnswer>
  readonly limits?: { readonly jobs?: number; readonly needs?: number; readonly includes?: number }
}

export interface Included {
  readonly type: Include['type']
  readonly location: string
  /** The project and commit of the including file. */
  readonly context_project: string | null
  readonly context_sha: string | null
}

/** Converts external values to values of the configuration. */
export const asMapping = (values: Readonly<Record<string, unknown>>): Mapping =>
  Object.assign(newMapping(), JSON.parse(JSON.stringify(values)))
