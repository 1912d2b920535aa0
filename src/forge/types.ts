/// <reference lib="esnext.disposable" />
/**
 * All public types of the package. This file is published as it is and imports nothing, so that a project which
 * compiles against mortise needs none of its libraries.
 */

/** Starts a real forge on a free port, with its own temporary store. Closing it deletes everything. */
export declare function startForge(options?: ForgeOptions): Promise<Forge>

export interface ForgeOptions {
  /** Settings by their environment names without the prefix, e.g. `{ RATE_LIMIT: '10' }`. */
  settings?: Record<string, string>
  /** `postgres://…`: a server on which a new database is created; SQLite by default. */
  databaseUrl?: string | undefined
  /** Where log lines go, e.g. `process.stdout`. */
  logTo?: { write(line: string): void } | undefined
  /** Milliseconds that closing waits for running requests. */
  patience?: number | undefined
}

export interface Forge extends AsyncDisposable {
  /** The URL of the forge, without a trailing slash. */
  readonly url: string
  readonly clock: ForgeClock
  /** A client without any credential. */
  readonly visitor: Client
  /** The first administrator, `root`. */
  readonly administrator: Person

  /** Creates a user, who can call the API at once. */
  user(request?: UserInput): Promise<Person>
  /** Creates a group of `owner`; returns the API record. */
  group(request?: GroupInput, owner?: Person): Promise<Group>
  /** Creates a project of `owner`, in their own namespace unless `namespace_id` is given; returns the API record. */
  project(request?: ProjectInput, owner?: Person): Promise<Project>
  /** Creates a label of a project or a group; returns the API record. */
  label(scope: Project | Group, request?: LabelInput, as?: Person): Promise<Label>
  /** Creates a milestone of a project or a group; returns the API record. */
  milestone(scope: Project | Group, request?: MilestoneInput, as?: Person): Promise<Milestone>
  /** Creates an issue of a project; returns the API record. */
  issue(project: { readonly id: number }, request?: IssueInput, as?: Person): Promise<Issue>
  /** Creates a note on an issue; returns the API record. */
  note(issue: { readonly project_id: number; readonly iid: number }, request?: NoteInput, as?: Person): Promise<Note>
  /** Creates a snippet of a project, or with null a personal one; returns the API record. */
  snippet(project: { readonly id: number } | null, request?: SnippetInput, as?: Person): Promise<Snippet>
  /** Creates a branch with a commit of files, and a merge request for it; returns the API record. */
  mergeRequest(project: { readonly id: number }, request?: MergeRequestInput, as?: Person): Promise<MergeRequest>
  /** Commits files to a project; null deletes a file. */
  seed(project: { readonly id: number }, files: Files, request?: SeedInput): Promise<Commit>
  /** Runs git with a user's credentials for this forge. Returns the output, or throws an error with the reason. */
  git(args: readonly string[], request?: GitInput): Promise<string>
  /**
   * Runs CI jobs of this forge in the shell, as the user of this process, until the runner is stopped or the forge
   * closed.
   */
  runner(request?: RunnerInput): Promise<ForgeRunner>
  /** A URL that collects deliveries of webhooks and integrations, until it or the forge is closed. */
  receiver(): Promise<Receiver>
  /** All mails so far, oldest first, after all due background work has finished. */
  mail(): Promise<ForgeMail[]>
  /** A client that sends these headers. */
  as(headers: Record<string, string>): Client

  /** Names of the events so far, oldest first. */
  events(): Promise<string[]>
  /** The same events with their payloads. */
  eventLog(): Promise<ForgeEvent[]>
  /** All HTTP requests that the forge got, oldest first; the last 10,000. */
  requests(): ForgeRequest[]
  /** The number of queries that `work` sends to the store; background work pauses in the meantime. */
  queries(work: () => Promise<unknown>): Promise<number>
  /** Waits until all due background work has finished. */
  settle(): Promise<void>

  /**
   * Resets the forge to its state at the start, at the same URL, faster than starting another. No request may be
   * running.
   */
  reset(): Promise<void>
  /** Lets running requests finish and deletes everything; `await using` calls it. */
  close(): Promise<void>
}

/** Follows the system's time, plus the time it was advanced; `hold` stops it. */
export interface ForgeClock {
  now(): Date
  advance(ms: number): void
  hold(): Disposable
}

type Query = Record<string, unknown>
type Input = Record<string, unknown> | FormData
type RequestHeaders = Record<string, string>

/** An API client. Paths are relative to `/api/v4`; input goes into the query of a GET, else into a JSON body. */
export interface Client {
  readonly url: string
  readonly headers: RequestHeaders
  get(path: string, input?: Query, headers?: RequestHeaders): Promise<Reply>
  head(path: string): Promise<Reply>
  post(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  put(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  delete(path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
  request(method: string, path: string, input?: Input, headers?: RequestHeaders): Promise<Reply>
}

/** A user of the forge, calling with their private token. */
export interface Person extends Client {
  readonly id: number
  readonly username: string
  readonly email: string
  readonly token: string
}

// oxlint-disable-next-line no-explicit-any -- a test reads an answer as it expects it
type Json = any

export interface Reply {
  readonly status: number
  /** Parsed if it is JSON, else text. */
  readonly body: Json
  readonly headers: Headers
}

export interface ForgeEvent {
  readonly name: string
  readonly payload: Json
  readonly created_at: string
}

export interface ForgeRequest {
  readonly method: string
  /** With the query, as requested. */
  readonly path: string
  /** Null until it is answered. */
  readonly status: number | null
}

export interface RunnerInput {
  /** Concurrent jobs; 1 by default. */
  concurrent?: number
  /** Jobs without tags run in any case. */
  tags?: readonly string[]
}

export interface ForgeRunner extends AsyncDisposable {
  readonly id: number
  /** Returns running jobs to the queue at once. */
  stop(): Promise<void>
}

/** A request that a receiver got. */
export interface Delivery {
  /** From the body (`object_kind`, `event_name`), else from the header: `issue`, `push`, `pipeline`, `user_create` … */
  readonly kind: string
  /** The header `X-Gitlab-Event`, e.g. `Issue Hook`. */
  readonly event: string | null
  readonly method: string
  /** With the query. */
  readonly path: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed if it is JSON, else text. */
  readonly body: Json
}

export interface ReceiverAnswer {
  /** 200 by default. */
  status?: number
  headers?: Record<string, string>
  text?: string
  /** Milliseconds until the answer. */
  delay?: number
  /** Accepts the delivery and never answers. */
  hang?: boolean
  /** The number of deliveries it applies to; later ones are answered with 200 again. */
  times?: number
}

export interface Receiver extends AsyncDisposable {
  /** For the `url` of a hook; paths and queries may be appended. */
  readonly url: string
  /** All deliveries so far, oldest first; the last 10,000. */
  readonly deliveries: readonly Delivery[]
  /**
   * The oldest delivery that was not returned yet, of this kind (`issue`, also `confidential_issue` or `Issue Hook`) or
   * of any. Waits for it, up to 5 seconds by default; then it throws an error that lists what came instead.
   */
  next(kind?: string, request?: { timeout?: number }): Promise<Delivery>
  /** Sets the answer to deliveries from now on: `{ status: 500 }`, `{ hang: true }`, `{ delay: 2000 }`. */
  answer(request: ReceiverAnswer): void
  /** Forgets all deliveries and the answer that was set. */
  clear(): void
  close(): Promise<void>
}

export interface ForgeMail {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Null if there is only text. */
  readonly html: string | null
  /** Headers other than sender, recipient and subject, by names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** By path. */
export type Files = Readonly<Record<string, string | Uint8Array | null>>

export interface SeedInput {
  /** The project's default branch, or `master`. A new branch starts at the default branch. */
  branch?: string
  message?: string
  /** The committer; the administrator by default. */
  as?: Person
}

export interface GitInput {
  /** The user whose credentials are used; the administrator by default. */
  as?: Person
  /** The working directory; by default a folder of the forge, the same for every call. */
  cwd?: string
}

export type Visibility = 'private' | 'internal' | 'public'
export type FeatureLevel = 'disabled' | 'private' | 'enabled'

export interface UserInput {
  username?: string
  email?: string
  name?: string
  password?: string | null
  admin?: boolean | null
  external?: boolean | null
  blocked?: boolean
  can_create_group?: boolean | null
  projects_limit?: number | null
  reset_password?: boolean | null
  skip_confirmation?: boolean | null
  bio?: string | null
  location?: string | null
  organization?: string | null
  messenger?: string | null
  professional_network?: string | null
  microblog?: string | null
  website_url?: string | null
  job_title?: string | null
  pronouns?: string | null
  public_email?: string | null
  note?: string | null
  shared_runners_minutes_limit?: number | null
  provider?: string | null
  extern_uid?: string | null
}

export interface GroupInput {
  name?: string
  path?: string
  parent_id?: number | null
  description?: string
  visibility?: Visibility
  lfs_enabled?: boolean
  request_access_enabled?: boolean
  share_with_group_lock?: boolean
  membership_lock?: boolean
  shared_runners_minutes_limit?: number
}

export interface Group {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly description: string
  readonly visibility: Visibility
  readonly avatar_url: string | null
  readonly web_url: string
  readonly request_access_enabled: boolean
  readonly full_name: string
  readonly full_path: string
  readonly parent_id: number | null
  readonly created_at: string
  readonly share_with_group_lock: boolean
  readonly membership_lock: boolean
}

/** Attributes of a project in both input and output. */
interface ProjectAttributes {
  name: string
  path: string
  description: string | null
  visibility: Visibility
  default_branch: string | null
  topics: string[]
  tag_list: string[]
  issues_enabled: boolean
  merge_requests_enabled: boolean
  jobs_enabled: boolean
  wiki_enabled: boolean
  snippets_enabled: boolean
  container_registry_enabled: boolean
  repository_access_level: FeatureLevel
  issues_access_level: FeatureLevel
  merge_requests_access_level: FeatureLevel
  builds_access_level: FeatureLevel
  wiki_access_level: FeatureLevel
  snippets_access_level: FeatureLevel
  forking_access_level: FeatureLevel
  container_registry_access_level: FeatureLevel
  resolve_outdated_diff_discussions: boolean
  shared_runners_enabled: boolean
  public_jobs: boolean
  only_allow_merge_if_pipeline_succeeds: boolean
  only_allow_merge_if_all_discussions_are_resolved: boolean
  printing_merge_requests_link_enabled: boolean
  printing_merge_request_link_enabled: boolean
  lfs_enabled: boolean
  request_access_enabled: boolean
  remove_source_branch_after_merge: boolean
  merge_method: 'merge' | 'rebase_merge' | 'ff'
  squash_option: 'never' | 'always' | 'default_on' | 'default_off'
  approvals_before_merge: number
  ci_config_path: string | null
  repository_storage: string
  import_url: string | null
}

export interface ProjectInput extends Partial<ProjectAttributes> {
  namespace_id?: number
  initialize_with_readme?: boolean
}

export interface Project extends Readonly<ProjectAttributes> {
  readonly id: number
  readonly name_with_namespace: string
  readonly path_with_namespace: string
  /** Empty if the forge serves no SSH. */
  readonly ssh_url_to_repo: string
  readonly http_url_to_repo: string
  readonly web_url: string
  readonly readme_url: string | null
  readonly avatar_url: string | null
  readonly star_count: number
  readonly forks_count: number
  readonly created_at: string
  readonly updated_at: string
  readonly last_activity_at: string
  readonly archived: boolean
  readonly empty_repo: boolean
  readonly creator_id: number | null
  readonly namespace: {
    readonly id: number
    readonly name: string
    readonly path: string
    readonly kind: 'user' | 'group'
    readonly full_path: string
  }
  readonly mirror: boolean
  readonly import_status: 'none' | 'scheduled' | 'started' | 'finished' | 'failed'
  /** Visible to users who administer the project. */
  readonly runners_token?: string | undefined
}

export interface IssueInput {
  title?: string
  description?: string | null
  confidential?: boolean
  /** Titles; unknown labels are created. */
  labels?: readonly string[]
  milestone_id?: number
  assignee_ids?: readonly number[]
  due_date?: string
  weight?: number
}

export interface Issue {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed'
  readonly labels: readonly unknown[]
  readonly confidential: boolean
  readonly web_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly [field: string]: unknown
}

export interface MergeRequestInput {
  /** The changed files of the branch; a new file by default. */
  files?: Files
  title?: string
  description?: string | null
  /** A new branch by default; files are committed to an existing one. */
  source_branch?: string
  /** The default branch if absent. */
  target_branch?: string
  /** For a fork: the project it is merged into. */
  target_project_id?: number
  labels?: readonly string[]
  milestone_id?: number
  assignee_ids?: readonly number[]
  reviewer_ids?: readonly number[]
  squash?: boolean
  remove_source_branch?: boolean
}

export interface MergeRequest {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed' | 'merged'
  readonly source_branch: string
  readonly target_branch: string
  readonly sha: string | null
  readonly draft: boolean
  readonly merge_status: 'unchecked' | 'can_be_merged' | 'cannot_be_merged'
  readonly web_url: string
  readonly created_at: string
  readonly updated_at: string
  readonly [field: string]: unknown
}

export interface LabelInput {
  name?: string
  /** `#RRGGBB`, `#RGB` or a CSS colour name. */
  color?: string
  description?: string | null
  /** For a project label. */
  priority?: number
}

export interface Label {
  readonly id: number
  readonly name: string
  readonly color: string
  readonly text_color: string
  readonly description: string | null
  readonly description_html: string | null
  readonly open_issues_count?: number | undefined
  readonly closed_issues_count?: number | undefined
  readonly open_merge_requests_count?: number | undefined
  readonly subscribed: boolean
  /** In a project. */
  readonly priority?: number | null | undefined
  readonly is_project_label?: boolean | undefined
}

export interface MilestoneInput {
  title?: string
  description?: string | null
  /** `YYYY-MM-DD`, like the next one. */
  start_date?: string | null
  due_date?: string | null
}

export interface Milestone {
  readonly id: number
  readonly iid: number
  /** One of the two is set: the owner. */
  readonly project_id?: number | undefined
  readonly group_id?: number | undefined
  readonly title: string
  readonly description: string | null
  readonly state: 'active' | 'closed'
  readonly created_at: string
  readonly updated_at: string
  readonly start_date: string | null
  readonly due_date: string | null
  readonly expired: boolean
  readonly web_url: string
}

export interface NoteInput {
  body?: string
  internal?: boolean
  /** Only owners of the project may set it. */
  created_at?: string
}

export interface Note {
  readonly id: number
  readonly type: 'DiscussionNote' | 'DiffNote' | null
  readonly body: string
  readonly author: { readonly id: number; readonly username: string; readonly name: string } | null
  readonly created_at: string
  readonly updated_at: string
  readonly system: boolean
  readonly noteable_id: number | null
  readonly noteable_type: string
  readonly noteable_iid: number | null
  readonly project_id: number
  readonly internal: boolean
}

export interface SnippetInput {
  title?: string
  description?: string | null
  /** Private by default. */
  visibility?: 'private' | 'internal' | 'public'
  /** One file, or several by `files`. */
  file_name?: string
  content?: string
  files?: readonly { file_path: string; content: string }[]
}

export interface Snippet {
  readonly id: number
  readonly title: string
  readonly description: string | null
  readonly visibility: 'private' | 'internal' | 'public'
  readonly author: { readonly id: number; readonly username: string; readonly name: string }
  readonly created_at: string
  readonly updated_at: string
  /** Null for a personal snippet. */
  readonly project_id: number | null
  readonly web_url: string
  readonly raw_url: string
  /** The first file. */
  readonly file_name: string
  readonly files: readonly { readonly path: string; readonly raw_url: string }[]
}

export interface Commit {
  readonly id: string
  readonly short_id: string
  readonly title: string
  readonly message: string
  readonly created_at: string
  readonly parent_ids: readonly string[]
  readonly author_name: string
  readonly author_email: string
  readonly authored_date: string
  readonly committer_name: string
  readonly committer_email: string
  readonly committed_date: string
  readonly web_url: string
  readonly project_id: number
}
