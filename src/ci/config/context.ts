/** What a configuration is read for, and what it may ask meanwhile. */
import type { LimitedCaller } from '../../lib/limiter.ts'
import { newMapping, type Mapping } from './tree.ts'
import type { Variable } from './variables.ts'

/** In which tree a file stands: its own local includes and globs are looked up there. Null for what came by a URL. */
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
  /** It stands on a server, and there is none to ask. */
  | 'no_server'
  /** The status of an HTTP answer. */
  | number

/** What a component may be told of itself. */
export interface Component {
  readonly name: string
  readonly sha: string
  /** The tag that it is of; null for a branch or a commit. */
  readonly version: string | null
  /** As whoever includes it names it, after the `@`. */
  readonly reference: string
}

export type IncludeAnswer =
  | { readonly text: string; readonly tree: Tree | null; readonly component?: Component }
  | { readonly failure: IncludeFailure }

export interface Context {
  /** Who waits for it. */
  readonly caller?: LimitedCaller | undefined
  /** Of the configuration in its repository: `.gitlab-ci.yml`. */
  readonly path: string
  readonly tree: Tree
  readonly ref: string
  readonly tag: boolean
  /** Why the pipeline is made: `push`, `merge_request_event` … */
  readonly source: string
  readonly default_branch: string | null
  /** What rules may ask about the pipeline; the variables of the file beat these. */
  readonly predefined: readonly Variable[]
  /** Of the instance, groups, project, trigger and schedule, the later beat the earlier; all beat the file. */
  readonly variables: readonly Variable[]
  /** For `spec: inputs` of the first file. */
  readonly inputs?: Readonly<Record<string, unknown>>
  /** Of the push or the merge request, or since the merge base with `compareTo`; null where no comparison is defined. */
  changedPaths(compareTo: string | null): Promise<readonly string[] | null>
  /** All files of a tree; of another project's where a rule names one, null if that may not be seen. */
  paths(tree: Tree | { readonly project: string; readonly ref: string | null }): Promise<readonly string[] | null>
  readInclude(include: Include, from: Tree | null): Promise<IncludeAnswer>
  readonly limits?: { readonly jobs?: number; readonly needs?: number; readonly includes?: number }
}

export interface Included {
  readonly type: Include['type']
  readonly location: string
  /** The project and commit of the file that includes it. */
  readonly context_project: string | null
  readonly context_sha: string | null
}

/** Values from outside as the configuration's own. */
export const asMapping = (values: Readonly<Record<string, unknown>>): Mapping =>
  Object.assign(newMapping(), JSON.parse(JSON.stringify(values)))
